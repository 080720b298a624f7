"""Demand: rules that derive only what a question asks for (magic sets).

`passing.py`   what a body knows of the atoms that it asks for
`rewrite.py`   the rules that it makes of rules and goals
"""
