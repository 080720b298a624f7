"""Writing what look-ups have moved, in one transaction: to its tables, or to the journal.

The facts are in memory. A table of them is made when somebody asks for it (changed_facts.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.change.difference import Difference
from zodiac_sql.change.execution import Execution
from zodiac_sql.change.noted import Fed, noted, prepare_feed, rows_of_table, write_fed
from zodiac_sql.change.operators.beside_rules import note_waiting
from zodiac_sql.change.operators.directly import Written
from zodiac_sql.change.staged_rows import deletion, parameters_of, shape, staged_facts, staged_query
from zodiac_sql.database import dictionary
from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Together
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.lookups.outcome import Moved, TableEdit
from zodiac_sql.lookups.values import Fact, decoded
from zodiac_sql.names import CHANGE_FACTS, EXPLICIT_SCHEMA, RANK, whole
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation, columns_of
from zodiac_sql.storage.edit_tables import key_of, require_rows
from zodiac_sql.storage.edits import Edit
from zodiac_sql.storage.journal import Key, TableRows, may_note
from zodiac_sql.storage.publish import is_published, publishing
from zodiac_sql.storage.save_catalog import save
from zodiac_sql.storage.sources import hand_on


def write_moved(
    execution: Execution, moved: Mapping[str, Moved], beside: Mapping[str, Moved]
) -> tuple[Written, dict[str, Edit]]:
    """Write what has moved, unless there is nothing to write, or it is a preview. Returns what was
    written, or would be, and what became of explicit facts.

    What has moved `beside` the rules is a part of what has `moved`.
    """
    store, old, positions = execution.before.store, execution.before.state, execution.positions
    edits = _edits(old, moved)
    if not (edits or dictionary.waits(store) or positions != old.positions):
        return Written(old.again(), {}, {}), {}
    writing = _Writing(store, execution.prepared.cache, old.schema)
    differences = {name: writing.difference(name, facts) for name, facts in moved.items()}
    differences = {n: d for n, d in differences.items() if d.inserted_count or d.deleted_count}
    explicit = {
        known.name: writing.explicit(known.name, edit)
        for (schema, _), (known, edit) in edits.items()
        if schema == EXPLICIT_SCHEMA
    }
    rows = dict(old.rows)
    for key, (_, edit) in edits.items():
        rows[key] += len(edit.added) - len(edit.removed)
    state = replace(old, positions=positions, rows=rows)
    if execution.publishes:
        state = _publish(writing, old, state, edits, _fed(old, moved), beside)
        hand_on(old, state, moved)
    return Written(state, differences, writing.facts), explicit


_Edits = Mapping[Key, tuple[Predicate, TableEdit]]
"""The edits of tables, each with the predicate of its table."""


def _edits(state: State, moved: Mapping[str, Moved]) -> _Edits:
    return {
        key_of(state.schema[name], owner): (state.schema[name], edit)
        for name, facts in moved.items()
        for owner, edit in facts.edits.items()
    }


def _publish(
    writing: _Writing, old: State, new: State, edits: _Edits, fed: Fed, beside: Mapping[str, Moved]
) -> State:
    """Bring it to the file. Returns the state after it."""
    store = writing.store
    passes = new.positions != old.positions or any(
        schema == EXPLICIT_SCHEMA and new.rows[schema, name] != old.rows[schema, name]
        for schema, name in edits
    )
    state = None
    if passes and may_note(store):
        state = noted(store, old, new, _changes(edits), fed)
        if state is not None:
            note_waiting(store, old, beside)
    if state is None:
        found = prepare_feed(store, old.feed, fed) if fed else None
        with publishing(store, old, new, may_pass=passes) as (writes, counts):
            dictionary.publish(writes)
            for key, (known, edit) in edits.items():
                writing.write(writes, known, key, edit)
            feed = write_fed(writes, old, fed, writing.cache, None if counts else found)
            state = replace(new, feed=feed, generation=old.generation + counts)
            save(writes, old, state)
            writes.run()
    store.journal.asked = False
    is_published(store, state)
    return state


def _changes(edits: _Edits) -> Iterator[TableRows]:
    """The edits of tables, with values as the file has them."""
    for key, (known, edit) in edits.items():
        gone, come = (decoded(known.columns, rows) for rows in (edit.removed, edit.added))
        yield rows_of_table(key, known, gone, come, edit.ranked)


def _fed(state: State, moved: Mapping[str, Moved]) -> Fed:
    """What the change feed gets, of the predicates that are in it, each with whether it entered."""
    return [
        (state.schema[name], decoded(state.schema[name].columns, rows), inserted)
        for name, facts in (moved.items() if state.feed.since else ())
        for rows, inserted in ((facts.left, False), (facts.entered, True))
        if rows and state.feed.has(name)
    ]


@dataclass(frozen=True, slots=True)
class _Writing:
    """Writes facts that are in memory, and remembers those that a Change reads."""

    store: Store
    cache: StatementCache
    schema: Mapping[str, Predicate]
    facts: dict[str, Staged] = field(default_factory=dict)
    """By the names of the temporary tables that they get if they are asked for."""

    def write(self, writes: Together, known: Predicate, key: Key, edit: TableEdit) -> None:
        """Let rows go out of a table, and come in."""
        if edit.removed:
            check = partial(require_rows, self.store, key, len(edit.removed))
            writes.add(*self._statement(known, key, edit.removed, gone=True), check)
        if edit.added:
            if edit.ranked:
                known = replace(known, columns=(*known.columns, Column(RANK, Type.INT)))
            writes.add(*self._statement(known, key, edit.added, gone=False))

    def _statement(
        self, known: Predicate, key: Key, rows: Sequence[Fact], gone: bool
    ) -> tuple[str, dict[str, object] | None]:
        staged = self._staged(known, rows)
        text = self.cache.of(known.name).get(
            ("looked up", gone, key, shape(known, [staged])),
            partial(_text, known, key, staged, gone),
        )
        return text, parameters_of([staged])

    def _staged(self, known: Predicate, rows: Sequence[Fact]) -> Staged:
        return staged_facts(
            known, decoded(known.columns, rows), self.store.temporary.fresh("moved")
        )

    def difference(self, name: str, facts: Moved) -> Difference:
        """How an extension has changed."""
        end = whole(self.schema[name].sql_name)
        left = self._relation(name, f"{CHANGE_FACTS}left_{end}", facts.left)
        entered = self._relation(name, f"{CHANGE_FACTS}entered_{end}", facts.entered)
        return Difference(len(facts.entered), len(facts.left), entered, left)

    def _relation(self, name: str, table: str, rows: Sequence[Fact]) -> Relation:
        part = self._part(name, table, rows)
        return Relation(self.schema[name].columns, (part,) if part else ())

    def _part(self, name: str, table: str, rows: Sequence[Fact]) -> Part | None:
        if not rows:
            return None
        known = self.schema[name]
        self.facts[table] = self._staged(known, rows)
        return Part("temp", table, len(rows))

    def explicit(self, name: str, edit: TableEdit) -> Edit:
        """What became of the explicit facts of a predicate."""
        end = whole(self.schema[name].sql_name)
        deleted = self._part(name, f"{CHANGE_FACTS}edb_minus_{end}", edit.removed)
        inserted = self._part(name, f"{CHANGE_FACTS}edb_plus_{end}", edit.added)
        return Edit(inserted, deleted, deleted, inserted)


def _text(known: Predicate, key: Key, staged: Staged, gone: bool) -> str:
    schema, name = key
    table = exp.table_(name, db=schema, quoted=True)
    if gone:
        return render(deletion(table, known, staged))
    columns = columns_of(Relation(known.columns, ()))
    names = [exp.to_identifier(column.name, quoted=True) for column in columns]
    return render(exp.insert(staged_query(known, [staged]), table, columns=names))
