"""The one door to DuckDB: nothing outside this room opens a database file.

store.py                  an open database: statements, answers and transactions
connection.py             a connection to DuckDB: runs statements, rolls back, explains errors
optimizers.py             which of DuckDB's optimizers are off
streamed_answer.py        the answer that is still streamed
transactions.py           the transaction that is open, and whether a change may be in the file
database_file.py          the file that is open
log.py                    the log beside a file, and how a file that lost it is told
waiting.py                the small changes that wait in the journal
open_store.py             opens a file: makes, checks, updates and locks it
check_file.py             checks that a file is as we make it, before anything is read by name
migrate.py                brings the catalog of a file up to date, by migrations/*.sql
former_views.py           views of older files, rewritten for the tables that they read now
new_files.py              makes a new file in another place, and moves it to its place as a whole
settings.py               the settings that connections are opened with
instance.py               a file that DuckDB has open in this process, and whether it is damaged
other_connections.py      separate connections: for verify, for SQL that users write, and for files
guard.py                  one thread, one call at a time
answers.py                answers to users, which may have a largest size
limits.py                 the limits that users set, and how rules grow
watch.py                  interrupts a statement when time is up
signals.py                Ctrl-C while a statement runs
forks.py                  what a forked process inherits and must not touch
duckdb_errors.py          what DuckDB's errors mean for the user
permitted.py              what SQL that a user writes may call
registered_functions.py   Python functions that SQL can call
statements.py             small trees that many statements are made of
render.py                 a tree as SQL text
templates.py              texts that differ only in names
explain.py                how DuckDB would run a query
statement_cache.py        plans and texts of statements that later changes use again
runner.py                 a store with such a cache
rule_work.py              what statements took that apply rules
temporary_tables.py       names of temporary tables, and how large they can be
dictionary.py             the symbols: text -> number
known_symbols.py          those that a store knows without asking: published, or new
remembered.py             those that are published and kept in memory
column_types.py           the types of DuckDB's columns for the types of the language
"""
