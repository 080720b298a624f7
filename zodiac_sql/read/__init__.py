"""Asking: nothing here changes the file.

query.py     goals and SQL -> Answer, an Arrow table
is_sql.py    tells SQL from goals
time_profile.py  where the time goes, by rules and hypernodes
describe.py  the tables of rules, predicates and hypernodes; the content of a drawing
drawing/     the graph of hypernodes as a picture
verify/      whether the file holds what its rules and facts entail
"""
