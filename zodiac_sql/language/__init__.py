"""The language: what a text of rules says, and what is wrong with it. No database is known here.

`syntax.py`         what rules, atoms, terms and types are; `symbols.py`, how symbols are written
`grammar.lark`      the grammar
`parse.py`          a text becomes a program
`clauses.py`        where the clauses of a text end that cannot be parsed as a whole
`reader.py`         the parse tree becomes rules and facts
`literals.py`       what constants mean
`syntax_errors.py`  what is wrong with a text that cannot be parsed
`functions.py`      the functions that rules can call, and their signatures
`substitution.py`   constants in place of variables
`binding.py`        which variables a body binds and in what order: whether a rule is safe
`types.py`          the types of columns and variables, inferred through rules
`schema.py`         what is known of a predicate
`columns_read.py`   which columns of a predicate rules name
`equivalence.py`    whether two rules are the same but for names and order
"""
