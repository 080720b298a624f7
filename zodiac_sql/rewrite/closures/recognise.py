"""Modules: rules with a shape that algorithms of their own evaluate faster (paper 2).

A module is a file here whose function `recognise` is listed in MODULES.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Rule, Type
from zodiac_sql.rewrite.closures import symmetric_transitive, transitive
from zodiac_sql.rewrite.closures.module import Module

MODULES: tuple[Callable[[str, Sequence[Rule]], Module | None], ...] = (
    symmetric_transitive.recognise,
    transitive.recognise,
)
"""The recognisers of all modules: a predicate goes to the first that knows its rules."""


def modules_of(hypernode: Hypernode, schema: Schema) -> tuple[Module, ...]:
    """The modules at work in a hypernode, at most one for each predicate."""
    if not hypernode.recursive or hypernode.bests:
        return ()
    found = (_module(p, hypernode.rules) for p in hypernode.derives if has_nodes(schema, p))
    return tuple(module for module in found if module)


def _module(predicate: str, rules: Sequence[Rule]) -> Module | None:
    return next((m for recognise in MODULES if (m := recognise(predicate, rules))), None)


def has_nodes(schema: Schema, predicate: str) -> bool:
    """Whether a predicate relates two values of one type, in which equal values are identical."""
    types = [column.meant for column in schema[predicate].columns]
    return len(types) == 2 and types[0] == types[1] and types[0] not in (None, Type.FLOAT)
