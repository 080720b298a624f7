"""The one door to DuckDB: nothing outside this room opens a database file.

store.py                  an open database: statements, answers and transactions
open_store.py             opening a file: made if it is new, checked, brought up to date, locked up
check_file.py             what a file must be like before anything in it is read by name
migrate.py                bringing the catalog of a file up to date, by migrations/*.sql
new_files.py              making a new file aside, and putting it in its place as a whole
settings.py               the settings that connections are opened with
instance.py               a file as DuckDB has it open in this process, damaged or not
other_connections.py      connections for reading aside, for SQL that users write, and for files
guard.py                  one thread, one call at a time
forks.py                  what a forked process inherits and must not touch
duckdb_errors.py          what DuckDB's errors mean for the user
permitted.py              what SQL that a user writes may call
registered_functions.py   Python functions that SQL can call
statements.py             small trees that many statements are made of
render.py                 a tree as SQL text
explain.py                how DuckDB would run a query
statement_cache.py        plans and texts of statements that later changes use again
temporary_rows.py         how large the temporary tables can be
dictionary.py             the symbols: text -> number
column_types.py           the types of DuckDB's columns for the types of the language
"""
