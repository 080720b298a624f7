"""A program with something of everything."""

from __future__ import annotations

RULES = """
@prefix ex: <http://example.org/> .
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), edge(Y, Z).
far(X, Y) :- path(X, Y), not edge(X, Y).
degree(X, N) :- AGGREGATE(edge(X, Y)) ON X WITH COUNT(Y) AS N.
ex:big(X) :- degree(X, N), N > 1.
named(X, L) :- edge(X, _), BIND(concat(upper(X), "!") AS L).
alarm() :- far(a, d).
"""
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c")]
