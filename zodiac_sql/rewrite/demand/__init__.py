"""Demand: rules that derive only what a question asks for (magic sets).

`passing.py`   what a body knows of the atoms that it asks for
`closures.py`  transitive closures, turned to the end that is known
`rewrite.py`   the rules that it makes of rules and goals
"""
