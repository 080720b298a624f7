"""A program: what is known of it between two changes, and how a new one is checked and built.

`state.py`       all that is known of a knowledge base, without its facts
`rule_edits.py`  which rules a change adds, drops and replaces
`arrivals.py`    rules that arrive: which of them are new, and what they are called
`check.py`       what makes a program wrong: names, arities, safety, stratification
`expand.py`      the rules made of those with variables for predicates
`build.py`       a changed program with its schema, types and hypernodes
"""
