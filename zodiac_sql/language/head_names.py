"""The names that rules give columns: those of b are `name` and `id` by `b(Name, Id) :- ...`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from zodiac_sql.language.schema import Predicate, default_columns, local_name
from zodiac_sql.language.syntax import Rule, Term, Variable
from zodiac_sql.names import RESERVED, is_constraint

_SAYS_NOTHING = re.compile(r"[^\W\d_][0-9]*|_.*")
"""X and Y2 stand in heads for any column; `_x` says itself that it is of no interest."""


def head_names(rules: Iterable[Rule]) -> dict[str, tuple[str, ...]]:
    """The names of the columns of those predicates of which rules name a column.

    A column is named as all variables that stand for it in heads say, in lower case; one of which
    they say different things, or nothing, has its usual name. Predicates named by IRIs are triples'
    predicates and classes: their columns are always s and o.
    """
    said: dict[str, list[set[str]]] = defaultdict(list)
    for head in (rule.head for rule in rules):
        if is_constraint(head.predicate) or local_name(head.predicate) != head.predicate:
            continue
        columns = said[head.predicate]
        columns.extend(set() for _ in range(len(head.terms) - len(columns)))
        for names, term in zip(columns, head.terms, strict=False):
            names.update(_said(term))
    found = {predicate: _names(columns) for predicate, columns in said.items()}
    return {name: names for name, names in found.items() if names != default_columns(len(names))}


def named_by_heads(
    schema: Mapping[str, Predicate],
    came: Iterable[Rule],
    derived: Collection[str],
    explicit: Collection[str],
) -> dict[str, Predicate]:
    """A schema in which predicates that get their first rules have the names that these give.

    So the names stay, whatever rules come and go later: people's SQL reads them. `derived` had
    rules before; `explicit` have facts, whose names stand, as do those of declarations.
    """
    result = dict(schema)
    for name, names in head_names(r for r in came if r.head.predicate not in derived).items():
        known = result[name]
        if known.declared or any(known.settled) or name in explicit:
            continue
        columns = tuple(replace(c, name=n) for c, n in zip(known.columns, names, strict=True))
        result[name] = replace(known, columns=columns)
    return result


def _said(term: Term) -> Iterable[str]:
    if isinstance(term, Variable) and term.name.isidentifier():
        name = term.name.lower()
        if name not in RESERVED and not _SAYS_NOTHING.fullmatch(name):
            yield name


def _names(columns: Sequence[Collection[str]]) -> tuple[str, ...]:
    """One name for each column, different from all others."""
    usual = default_columns(len(columns))
    agreed = [next(iter(names)) if len(names) == 1 else "" for names in columns]
    return tuple(
        name if name and agreed.count(name) == 1 else other
        for name, other in zip(agreed, usual, strict=True)
    )
