"""Changes of few facts by look-ups: copies of extensions with indexes, beside the file.

DuckDB plans each statement anew, which takes a millisecond, however few facts there are to join. So
a session that makes many small changes copies the extensions that these reach into SQLite, where a
prepared statement looks up a fact in microseconds. There a change goes through the hypernodes, and
DuckDB only writes what came of it. The copies are no truth: they are made from the file, dropped
when in doubt, and gone with the session.
"""
