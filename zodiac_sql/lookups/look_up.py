"""A change of few facts, followed through the hypernodes by look-ups in copies.

Rule: copies are asked what a change does to the tables of all hypernodes. Where they cannot tell,
because a rule is not looked up, a copy has not been earned, or the change turns out to be a large
one, it is declined, and nothing has happened but that copies were made.

The transaction of SQLite surrounds that of DuckDB: copies never show what is not in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from zodiac_sql.cost.operator import Declined
from zodiac_sql.database.store import Store
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.lookups.cascade import Cascade
from zodiac_sql.lookups.copies import Copies, NotCopiedError
from zodiac_sql.lookups.outcome import Given, Moved, Visited
from zodiac_sql.lookups.worth import LookupLimits, NotEarnedError, NotLookedUpError
from zodiac_sql.names import is_constraint
from zodiac_sql.program.state import State
from zodiac_sql.storage.edit_tables import key_of

MOST_MADE = 16
"""For so many hypernodes are copies made in one change; the next one goes on. (The second change of
a chain of 200 hypernodes took 5.8 s, for all copies at once.)"""

Write = Callable[[Mapping[str, Moved]], State | None]
"""Brings to the file what has moved. Returns the state after it, or None if it writes nothing."""


@dataclass(frozen=True, slots=True)
class SmallChange:
    """A change that is to be looked up: its kind, its facts, and how far it may go."""

    kind: Hashable
    facts: Mapping[str, Given]
    limits: LookupLimits
    at_once: bool
    """Whether all copies are made now, however many there are."""
    publishes: bool
    """Whether it is carried out. A preview has saved nothing: the change may never come."""


def look_up(
    copies: Copies, store: Store, state: State, graph: Hypergraph, asked: SmallChange, write: Write
) -> Mapping[str, Visited] | Declined:
    """Follow a change, and write what it moves. Returns what the hypernodes with work had to do.

    If nothing is written, the copies show the same as before.
    """
    copies.worth.begin(asked.kind)
    made = 0
    try:
        while True:
            try:
                visited = _followed(copies, state, graph, asked, write)
            except NotCopiedError as missing:
                if made >= MOST_MADE and not asked.at_once:
                    raise NotEarnedError(missing.predicates) from None
                made += _make(copies, store, state, graph, missing)
            else:
                if asked.publishes:
                    copies.worth.succeeded(asked.kind, len(visited))
                return visited
    except NotLookedUpError as error:
        not_earned = error.predicates if isinstance(error, NotEarnedError) else ()
        copies.worth.failed(asked.kind, not_earned)
        return Declined(str(error))


def _followed(
    copies: Copies, state: State, graph: Hypergraph, asked: SmallChange, write: Write
) -> Mapping[str, Visited]:
    """One try. Raises NotLookedUpError and NotCopiedError."""
    with copies.changing(state, asked.limits.steps) as shows:
        cascade = Cascade(state, graph, copies, asked.limits.moved)
        if not cascade.begin(asked.facts) and any(name in graph.derivers for name in asked.facts):
            raise NotLookedUpError("what is not explicit may be derived, which is to be told")
        cascade.go_on()
        moved = cascade.outcome()
        _require_tables(state, moved)
        after = write(moved)
        if after is not None:
            shows(after)
    return cascade.visited


def _require_tables(state: State, moved: Mapping[str, Moved]) -> None:
    """Raise NotLookedUpError if a table must be made first, or if a constraint is concerned."""
    for name, facts in moved.items():
        if facts.edits and is_constraint(name):
            raise NotLookedUpError("a constraint is concerned")
        known = state.schema[name]
        if any(key_of(known, owner) not in state.rows for owner in facts.edits):
            raise NotLookedUpError("a table must be made first")


def _make(
    copies: Copies, store: Store, state: State, graph: Hypergraph, missing: NotCopiedError
) -> int:
    """Make copies for a hypernode, and for those after it as long as only one reads the one before:
    the change begins anew each time that something is missing. Returns for how many.
    """
    copies.make(store, state, missing)
    made, here = 1, missing.hypernode
    while here is not None and made < MOST_MADE:
        readers = {h.id: h for name in here.derives for h in graph.readers.get(name, ())}
        readers.pop(here.id, None)
        if len(readers) != 1:
            break
        (here,) = readers.values()
        try:
            _prepare(copies, store, state, graph, here)
        except NotLookedUpError:
            break
        made += 1
    return made


def _prepare(
    copies: Copies, store: Store, state: State, graph: Hypergraph, hypernode: Hypernode
) -> None:
    """Make the copies that a hypernode needs, if they are not there. Raises NotLookedUpError."""
    try:
        copies.statements(state, graph, hypernode)
    except NotCopiedError as missing:
        copies.make(store, state, missing)
