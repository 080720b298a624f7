"""Rules as queries: one plan for a rule and a delta, one SELECT for a plan.

`plan.py`            which atom reads which version of its predicate, and in what order
`relations.py`       where facts are stored: in tables, of which extensions are unions
`class_pairs.py`     pairs of nodes of the same class, read from a table of classes
`context.py`         what rendering needs to know besides the plan
`select.py`          a plan as one SELECT
`body.py`            the body of a rule as its FROM and WHERE
`joins.py`           FROM and WHERE, put together item by item
`values.py`          the values of variables and expressions
`functions.py`       the functions of the language
`aggregates.py`      aggregates and their groups
`for_duckdb.py`      marks around what another engine leaves to DuckDB
`duplicates.py`      whether a SELECT may return the same row twice
`emptiness.py`       whether a body can have no solution at all
`set_difference.py`  the facts that are, or are not, in given tables
`scans.py`           atoms as queries of their own
`product.py`         a join as a product of bit matrices
`reducer.py`         a join along a tree whose nodes are reduced first
"""
