"""Facts that no rule reads, in a change that is looked up: what it does to them.

They are in no copy, because they may be many. So DuckDB is asked which of them are there, by one
statement for each predicate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from zodiac_sql.change.net_facts import net_inserts
from zodiac_sql.change.staged_rows import parameters_of, shape, staged_facts
from zodiac_sql.cost.operator import Declined
from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store, rows_apart
from zodiac_sql.language.schema import Predicate
from zodiac_sql.lookups.outcome import Given, Moved, TableEdit
from zodiac_sql.lookups.values import Fact, decoded, encoded
from zodiac_sql.program.state import State
from zodiac_sql.storage.edit_tables import key_of
from zodiac_sql.storage.owners import EXPLICIT


def moved_beside(
    store: Store,
    state: State,
    given: Mapping[str, Given],
    names: Collection[str],
    cache: StatementCache,
) -> dict[str, Moved] | Declined:
    """What becomes of the facts of predicates that no rule reads."""
    found = {}
    for name in names:
        known, facts = state.schema[name], given[name]
        if state.rows.get(key_of(known, EXPLICIT), 0) <= len(facts.deleted):
            return Declined("a table must be made first, or may be empty then")
        absent = _absent(store, known, [*facts.deleted, *facts.inserted], cache)
        removed = [fact for fact in facts.deleted if fact not in absent]
        added = [fact for fact in facts.inserted if fact in absent]
        found[name] = Moved(removed, added, {EXPLICIT: TableEdit(removed, added, ranked=False)})
    return found


def _absent(
    store: Store, known: Predicate, facts: Sequence[Fact], cache: StatementCache
) -> set[Fact]:
    """Which facts are not there, after the changes that wait in the journal, too."""
    rows = dict(zip(facts, decoded(known.columns, facts), strict=True))
    waiting = {fact: store.journal.facts.get(_place(known, row)) for fact, row in rows.items()}
    absent = {fact for fact, there in waiting.items() if there is False}
    asked = [row for fact, row in rows.items() if waiting[fact] is None]
    if asked:
        staged = staged_facts(known, asked, store.temporary.fresh("beside"))
        text = cache.of(known.name).get(
            ("beside", shape(known, [staged])),
            lambda: render(net_inserts(known, [staged], there=True)),
        )
        found = rows_apart(store, text, parameters_of([staged]))
        absent.update(encoded(known.columns, found) or ())
    return absent


def _place(known: Predicate, row: Fact) -> tuple[object, ...]:
    """What `Waiting.facts` calls a fact."""
    return (*key_of(known, EXPLICIT), *row)


def note_waiting(store: Store, state: State, moved: Mapping[str, Moved]) -> None:
    """Remember facts whose change waits in the journal."""
    for name, facts in moved.items():
        known = state.schema[name]
        for rows, there in ((facts.left, False), (facts.entered, True)):
            for row in decoded(known.columns, rows):
                store.journal.facts[_place(known, row)] = there
