"""Reads files of several formats, and stages their facts.

load_file.py      which reader a file gets, by its suffix
source.py         a file and its plain bytes, unpacked if it is packed
recoded.py        text in another encoding -> UTF-8
lines.py          a text file as a column of lines, and where a line stands
bounds.py         refuses files that are nested too deeply, would be rounded, or grow by entities
result.py         the result of reading a file

tables.py         CSV, TSV, JSON and Parquet -> facts of one predicate
read_csv.py       CSV and TSV -> texts
table_lines.py    CSV without the lines before its table, and comments
missing_options.py  which options a file of CSV may need
read_json.py      JSON and JSON lines -> values, or texts
nested_json.py    lists in JSON -> rows; parts of objects -> columns
pruned.py         which columns are read, if the rules tell
no_rows.py        a table without rows
load_parquet.py   Parquet -> facts
table_file.py     a table read from a file, and where its rows stand
infer_types.py    a type for each column
cells.py          a text in a cell -> a value
mixed_cells.py    why a column of values has become one of texts

rdf.py            RDF -> facts of many predicates
ntriples.py       N-Triples and N-Quads -> triples
syntaxes.py       Turtle, TriG, RDF/XML and JSON-LD -> N-Quads
properties.py     the properties and classes of a file, and their types
literals.py       which RDF literals become values of a type
blanks.py         blank nodes
urns.py           plain names as IRIs, and back
"""
