"""A server of an open knowledge base: others of this machine ask and change it.

place.py          the file beside the database that tells where its server is
server.py         starts and ends: sockets, the thread, the file beside the database
resources.py      the readers that answer, and the one that changes
app.py            what is asked by which address, and who may ask
requests.py       what is in a request
answers.py        what is in an answer: JSON, CSV, Arrow
running.py        work in threads, which ends when its client goes away
following.py      changes as they come
sparql_results.py answers by the SPARQL protocol
looking.py        what the page shows beside what others ask, too
page_files.py     the files of the page (page/), which run in a browser
metrics.py        figures for Prometheus
commands.py       commands of `zodiac` for a file that this process has open
"""
