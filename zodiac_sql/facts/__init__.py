"""Rows in and out: staged as facts of a predicate on the way in, exported on the way out.

stage.py          rows that a program hands over -> staged facts
rows.py           tuples, data frames and streams -> Arrow
arrow_types.py    Arrow's types -> those that DuckDB reads without loss
row_options.py    what a user can say of columns, lists and empty cells
tuple_options.py  tuples as these options say
chosen_rows.py    Arrow as these options say
nested_arrow.py   lists in Arrow -> rows; parts of objects -> columns
nested_names.py   names that reach into objects
spark_frames.py   a Spark data frame -> Arrow batches
columns.py        what each column of the rows becomes in the predicate
check_cells.py    refuses empty cells, and values that would change
export.py         predicates -> Parquet, CSV or N-Triples
load/             files -> staged facts
"""
