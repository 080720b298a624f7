"""Asking: nothing here changes the file.

query.py     goals and SQL -> Answer, an Arrow table
describe.py  the tables of rules, predicates and hypernodes; what a drawing is of
drawing/     the graph of hypernodes as a picture
verify/      whether the file is as it should be
"""
