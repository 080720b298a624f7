"""`verify`: whether the file holds exactly what its rules and explicit facts entail.

verify.py          the verb, and what it answers
work.py            what is there, what should be there, and the differences found so far
expected.py        what should be there: explicit facts, and what each hypernode derives
compare_tables.py  the tables of the file against it
compare_views.py   the views that people see against it
together.py        many small tables compared by few statements
second_opinion.py  a second way from rules to facts
rule_body.py       the body of a rule on that way
"""
