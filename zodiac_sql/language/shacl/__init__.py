"""SHACL 1.2 Rules (a working draft of W3C), in their text form: read as rules of our language.

`parse.py`        a text -> rules and facts
`patterns.py`     triples -> atoms
`expressions.py`  filters and assignments -> comparisons and values

A rule is translated to a text of our language, and that is parsed: a file keeps rules as texts.
"""
