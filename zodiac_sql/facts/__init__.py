"""Rows in and out: staged as facts of a predicate on the way in, exported on the way out.

stage.py          rows that a program hands over -> staged facts
rows.py           tuples, data frames and streams -> Arrow
arrow_types.py    Arrow's types -> those that DuckDB reads without loss
spark_frames.py   a Spark data frame -> Arrow batches
columns.py        what each column of the rows becomes in the predicate
check_cells.py    refuses empty cells, and values that would change
export.py         predicates -> Parquet, CSV or N-Triples
load/             files -> staged facts
"""
