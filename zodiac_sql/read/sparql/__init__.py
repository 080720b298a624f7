"""SPARQL queries over the predicates that are classes and properties.

answer.py       a query's text -> an Answer
parse.py        a query's text -> rdflib's algebra
grammar.py      a query's text -> rdflib's parse tree, in which tree.py finds things
check.py        what is wrong in a parse tree; prepare.py mends what rdflib would make of it
context.py      what all parts of a query share: predicates, ids of constants, names
patterns.py     graph patterns, and what SELECT makes of their solutions
triples.py      triple patterns: which tables have facts that match
paths.py        property paths
expressions.py  filters, BIND and the like; functions.py and aggregates.py have what they call
values.py       what is known of an expression's value, and how values compare
solutions.py    queries with a column for each variable
terms.py        constants
macros.py       SQL macros for terms whose types are only known from their texts

rdflib parses, and each node of its algebra becomes a query whose rows are the solutions, a bag in
which NULL is unbound. The answer is that of a SPARQL engine over what export writes as N-Triples;
names and symbols that are no IRIs are strings there, and predicates with such names are urn:zodiac:
IRIs.
"""
