"""Streams of updates: one after the other into a knowledge base, each as one change.

updates.py       what an update is, and how a line of JSON becomes one
channel.py       a bounded queue between threads; `UpdateQueue`
sources.py       where updates come from, and which of them have arrived
coalesce.py      the net of several updates
loop.py          update by update, or several at once: tell, apply, give the change
run.py           `KnowledgeBase.stream`: from a source into the loop
asynchronous.py  the same for an asynchronous source
"""
