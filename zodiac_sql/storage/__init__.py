"""How a program and its tables are kept in the file, and how a change is published.

catalog.py         the state of a knowledge base, read from the catalog
check_catalog.py   what does not fit together in an edited catalog
row_counts.py      the number of rows of every table
save_catalog.py    writing to the catalog what differs between two states
sources.py         which tables make up each extension
owners.py          who owns a table: the explicit facts, a hypernode, or nobody
extensions.py      counting, comparing and showing extensions
edits.py           what a change does to a table, and to an extension
clock.py           what now() is in a state
publish.py         the transaction that makes a change permanent
edit_tables.py     rows out of a table, and rows in
pass_tables.py     tables that pass from one hypernode to another
remove_tables.py   tables that go: dropped, or set aside
views.py           the views that any DuckDB client sees
"""
