"""How many facts a recursion derives at most: as many as its columns' values can be put together.

A rule takes each value from an atom of its body: from one of the recursion's own columns, or from
another one. So no column has more values than the columns outside from which they come. (The null
flow of 200 sources along 60,000 points: 12 million at most, and 6 million.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod

from sqlglot import exp

from zodiac_sql.cost.statistics import values_query
from zodiac_sql.database.store import Store
from zodiac_sql.language.syntax import Rule, Variable
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import columns_of, relation_query

Place = tuple[str, int]
"""A predicate, and the place of one of its columns; or a constant, and -1."""

Origins = frozenset[Place] | None
"""Where values come from. None: nobody knows, as some are computed."""


def origins_in(
    rules: Sequence[Rule], first: Mapping[Place, Origins], outside: Callable[[Place], Origins]
) -> dict[Place, Origins]:
    """Where the values of columns that rules derive come from, of which it is known where they come
    from at `first`.
    """
    found = dict(first)
    changed = True
    while changed:
        changed = False
        for rule in rules:
            for place in range(len(rule.head.terms)):
                key = rule.head.predicate, place
                come, known = _come_from(rule, place, found, outside), found[key]
                both = None if come is None or known is None else come | known
                if both != known:
                    found[key], changed = both, True
    return found


def _come_from(
    rule: Rule, place: int, known: Mapping[Place, Origins], outside: Callable[[Place], Origins]
) -> Origins:
    """Where a rule takes the values of a column from."""
    term = rule.head.terms[place]
    if not isinstance(term, Variable):
        return frozenset({(str(term), -1)})
    places = [
        (atom.predicate, there)
        for atom in rule.positive_atoms()
        for there, other in enumerate(atom.terms)
        if other == term
    ]
    if (rule.head.predicate, place) in places:
        return frozenset()  # it passes them on
    if not places:
        return None
    source = next((one for one in places if one not in known), places[0])
    return known[source] if source in known else outside(source)


def most_facts(
    store: Store, predicate: str, rules: Sequence[Rule], context: Context
) -> float | None:
    """The most facts that rules derive of a predicate, about; None if a value may be a new one."""
    own = [(predicate, place) for place in range(len(rules[0].head.terms))]
    found = origins_in(rules, {one: frozenset({one}) for one in own}, lambda one: frozenset({one}))
    columns = [column for one in own if (column := found[one]) is not None]
    if len(columns) < len(own):
        return None
    counts = _counts(store, frozenset().union(*columns), context)
    return prod(max(sum(map(counts.__getitem__, column)), 1) for column in columns)


def _counts(store: Store, places: Iterable[Place], context: Context) -> dict[Place, int]:
    """How many different values some columns have, about."""
    counts, asked = dict[Place, int](), dict[Place, tuple[exp.Query, exp.Expr]]()
    for name, place in places:
        counts[name, place] = int(place < 0)
        relation = context.relation(name, Version.ALL) if place >= 0 else None
        if relation and relation.parts:
            column = columns_of(relation, "s")[place]
            asked[name, place] = relation_query(relation), column
    found = store.rows(values_query(asked.values()))[0] if asked else ()
    return counts | dict(zip(asked, found, strict=True))
