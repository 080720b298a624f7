"""The one door to DuckDB: nothing outside this room opens a database file.

store.py                  an open database: statements, answers and transactions
open_store.py             opens a file: makes, checks, updates and locks it
check_file.py             checks that a file is as we make it, before anything is read by name
migrate.py                brings the catalog of a file up to date, by migrations/*.sql
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
temporary_rows.py         how large the temporary tables can be
dictionary.py             the symbols: text -> number
remembered.py             those that are kept in memory
column_types.py           the types of DuckDB's columns for the types of the language
"""
