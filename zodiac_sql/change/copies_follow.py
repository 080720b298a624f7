"""Copies for look-ups show what was changed in another way, and learn what they would save."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from zodiac_sql.change.changed_extensions import ChangedExtensions
from zodiac_sql.change.difference import Difference
from zodiac_sql.change.execution import in_rules
from zodiac_sql.change.kinds import Kind
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.workspace import Workspace
from zodiac_sql.database.store import Store
from zodiac_sql.errors import ZodiacError
from zodiac_sql.language.syntax import Column
from zodiac_sql.lookups.copies import Moves
from zodiac_sql.lookups.values import Fact, encoded
from zodiac_sql.lookups.worth import limits_of, taken
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation, part_query


def follow(
    prepared: Prepared,
    kind: Kind | None,
    after: State,
    work: Workspace,
    differences: Mapping[str, Difference],
    seconds: float,
    streamed: bool,
) -> None:
    """Let copies show what another way has changed, in so many seconds, and learn what look-ups
    would have saved.
    """
    copies, graph = prepared.copies, prepared.graph
    state, extensions = work.basis.state, work.extensions
    touched = {
        name: sum(part.rows for e in edits.values() for part in (e.removed, e.added) if part)
        for name, edits in extensions.touched.items()
    }
    try:
        read, few = in_rules(prepared), limits_of(taken(seconds) if kind else 0).moved
        moves_of = partial(_moves_of, extensions, graph.recursive)
        copies.follow(state, after, touched, moves_of, read, few)
        moved = {n: d.inserted_count + d.deleted_count for n, d in differences.items()}
        copies.note_moved(moved, few)
    except ZodiacError:  # the change is in the file, so it must not fail any more
        copies.close()
    worked = [graph.by_name[name] for name in work.outcomes.evaluated]
    forms = (copies.forms(after, graph, hypernode) for hypernode in worked)
    if kind and sum(touched.values()) <= few and all(forms):
        copies.worth.earn(kind, len(worked), seconds, streamed)


def _moves_of(extensions: ChangedExtensions, recursive: Collection[int], name: str) -> Moves | None:
    """The rows that went out of the tables of a predicate, and those that came in."""
    found: dict[int, tuple[list[Fact], list[Fact]]] = {}
    store, columns = extensions.store, extensions.old.schema[name].columns
    for owner, edit in extensions.touched[name].items():
        if not isinstance(owner, int) or edit.rewritten or edit.now or edit.united:
            return None
        if edit.added and owner in recursive and not edit.added.ranked:
            return None
        removed = _rows_of(store, columns, edit.removed, ranked=False)
        ranked = edit.added is not None and edit.added.ranked
        added = _rows_of(store, columns, edit.added, ranked)
        if removed is None or added is None:
            return None
        found[owner] = removed, added
    return found


def _rows_of(
    store: Store, columns: tuple[Column, ...], part: Part | None, ranked: bool
) -> list[Fact] | None:
    """The rows of a table of a change. Ranks, if they are asked for, stand last."""
    if part is None:
        return []
    relation = Relation(columns, (part,), ranked=ranked)
    return encoded(columns, store.rows(part_query(part, relation)))
