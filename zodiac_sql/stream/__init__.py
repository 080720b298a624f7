"""Streams of updates: each is applied to a knowledge base as one change, in order.

updates.py       what an update is, and how a line of JSON becomes one
channel.py       a bounded queue between threads; `UpdateQueue`
sources.py       where updates come from, and which of them have arrived
coalesce.py      the net effect of several updates
loop.py          applies updates, one by one or several together, and yields the changes
run.py           `KnowledgeBase.stream`: opens a source and runs the loop
asynchronous.py  the same for an asynchronous source
"""
