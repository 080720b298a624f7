"""`verify`: whether the file holds exactly what its rules and explicit facts entail.

verify.py          the verb, and what it answers
work.py            what is there, what should be there, and the differences found so far
expected.py        computes what should be there: explicit facts, and what each hypernode derives
compare_tables.py  compares the tables of the file with that
compare_views.py   compares the views that people see with that
together.py        compares many small tables by few statements
second_opinion.py  a second, independent way from rules to facts
best_values.py     the same for rules with MIN or MAX in their heads
rule_body.py       the body of a rule as a query, for second_opinion.py
"""
