"""Publishing: one short transaction that makes a computed change permanent, or does nothing.

Everything was computed in temporary tables before. What is written here is the sum of a change:
new symbols, edits of the tables of explicit facts and hypernodes, catalog rows and views.

Rule: a change counts, except a small one of facts alone, made while no other store has the database
open, that moves the position of a stream or the number of rows of a table of explicit facts.
Reason: the count tells other stores that the file is no longer as they know it
(database/company.py), and it tells after a failure whether the change is in the file. Where there
are no others, and something else tells as well, it would be a statement too many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.log import prepare_log
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Together
from zodiac_sql.graph.restructuring import Restructuring
from zodiac_sql.language.schema import Predicate
from zodiac_sql.names import (
    DERIVED_SCHEMA,
    between,
    classes,
    derived,
    is_external,
    is_node,
    set_aside,
)
from zodiac_sql.program.feed import Keeping
from zodiac_sql.program.state import State
from zodiac_sql.sql.class_pairs import Between, pairs_query
from zodiac_sql.storage.catalog import drop_aside
from zodiac_sql.storage.edit_tables import edit_rows, key_of, write_table
from zodiac_sql.storage.edits import Edit, Edits
from zodiac_sql.storage.feed import MovedFacts, keep, write_entries
from zodiac_sql.storage.owners import EXPLICIT, Discarded
from zodiac_sql.storage.pass_tables import pass_tables
from zodiac_sql.storage.remove_tables import (
    Remover,
    Rows,
    drop_inner_tables,
    drop_predicates,
)
from zodiac_sql.storage.save_catalog import claim, save
from zodiac_sql.storage.sources import hand_on
from zodiac_sql.storage.views import refresh_views


@dataclass(frozen=True, slots=True)
class Publication:
    """A computed change, with all that is to be written of it."""

    old: State
    new: State
    restructuring: Restructuring
    edits: Edits
    """What becomes of the tables of predicates."""
    inside: Mapping[tuple[str, int], Edit]
    """What becomes of tables of modules and trees, by their names inside a hypernode."""
    inner: Mapping[str, Predicate]
    """The columns of these tables, by the same names."""
    put_aside: Collection[str]
    """Tables of idb that the change takes away, but from which its facts are still read: they stay
    under another name until the next change."""
    cache: StatementCache
    moved: Sequence[MovedFacts] = ()
    """What has entered and left the extensions that are in the change feed."""
    keeping: Keeping | None = None
    """What is to be in the feed after the change, if that changes."""


MOST_UNNOTICED = 10_000
"""A change that moves more rows than this counts, because who opens the file waits for a change
that does not."""


def publish(store: Store, publication: Publication) -> State:
    """Write a change. Returns the new state with the row counts of its tables."""
    old, new = publication.old, publication.new
    if not _has_any(store, publication):
        hand_on(old, new, ())
        return new
    rows = dict(old.rows)
    if publication.moved or publication.keeping:
        store.journal.settle()  # it may have entries of tables that go, or are to be counted
    with publishing(store, old, new, _may_pass(publication)) as (writes, counts):
        # Before the tables are written, because entries are read from what is to be taken away.
        written = write_entries(writes, old.feed, publication.moved, publication.cache)
        _write(writes, publication, rows)
        save(writes, old, new)
        writes.run()
        feed = written()
        if publication.keeping:
            feed = keep(store, feed, publication.keeping)
        aside = tuple(set_aside(name) for name in publication.put_aside)
        state = replace(new, rows=rows, aside=aside, feed=feed, generation=old.generation + counts)
        hand_on(old, state, {name for name, _ in (*publication.edits, *publication.inside)})
        if old.former or not new.is_same_program(old):
            refresh_views(store, old, state, {*old.schema, *new.schema})
        elif len(rows) != len(old.rows):
            refresh_views(store, old, state, {name for name, _ in publication.edits})
    is_published(store, state)
    return state


def is_published(store: Store, state: State) -> None:
    """Note that a change is in the file, with its symbols."""
    dictionary.published(store)
    store.connection.instance.published.note(state.generation, state)


@contextmanager
def publishing(
    store: Store, old: State, new: State, may_pass: bool
) -> Iterator[tuple[Together, bool]]:
    """The transaction of a change. It yields what is to be written, and whether the change counts.

    `may_pass` tells whether it need not, if no other store has the database open.
    """
    presence, published = store.presence, store.connection.instance.published
    store.journal.comes()  # before the lock is taken, which settling may need
    prepare_log(store)
    with (
        presence.unnoticed(may_pass) if presence else nullcontext(False) as unnoticed,
        store.transaction(),
    ):
        writes = Together(store)
        if not unnoticed:
            claim(writes, old, new)
            if not (published.is_at(old.generation) or (presence and presence.knows())):
                writes.run()  # what others have changed may let other statements fail
        yield writes, not unnoticed
        store.transactions.unsure = True
        if unnoticed:
            published.forget()
        else:
            published.begins()


def _has_any(store: Store, publication: Publication) -> bool:
    """Whether there is anything to write."""
    old, new = publication.old, publication.new
    return bool(
        any(publication.edits.values())
        or publication.inside
        or not new.is_same_program(old)
        or publication.restructuring.before is not publication.restructuring.after
        or old.aside
        or old.former
        or dictionary.waits(store)
        or (new.prefixes, new.positions) != (old.prefixes, old.positions)
        or (new.sets, new.windows) != (old.sets, old.windows)
        or new.functions != old.functions
        or publication.keeping is not None
    )


def _may_pass(publication: Publication) -> bool:
    """Whether a change need not count if nobody else can miss it."""
    structure, edits = publication.restructuring, publication.edits
    moved = [part for e in edits.values() for part in (e.removed, *e.incoming) if part]
    return (
        structure.before is structure.after
        and publication.keeping is None
        and publication.old.windows == publication.new.windows
        and publication.old.next_hypernode == publication.new.next_hypernode
        and sum(part.rows for part in moved) <= MOST_UNNOTICED
        and (
            publication.old.positions != publication.new.positions
            or any(_grows(edit) for (_, owner), edit in edits.items() if owner == EXPLICIT)
        )
    )


def _grows(edit: Edit) -> bool:
    """Whether the number of a table's rows changes, up or down."""
    return sum(part.rows for part in edit.incoming) != (edit.removed.rows if edit.removed else 0)


def _write(writes: Together, publication: Publication, rows: Rows) -> None:
    """Write symbols and tables, and change the numbers of their rows."""
    old, new = publication.old, publication.new
    structure = publication.restructuring
    recursive = structure.after.recursive
    views = old.once("views", lambda: {derived(h, old.schema[p].sql_name) for h, p in _parted(old)})
    dictionary.publish(writes)
    remover = Remover(writes, rows, publication.put_aside, set(views))
    if old.aside:
        writes.run()
        drop_aside(writes.store, old)
    if not new.is_same_program(old):
        drop_predicates(remover, old, new)
        if structure.before is not structure.after:
            pass_tables(remover, old, new, structure, publication.edits)
        drop_inner_tables(remover, old, new)
    _carry_out_inside(remover, publication, recursive)
    _carry_out_edits(remover, publication, recursive)


def _carry_out_inside(
    remover: Remover, publication: Publication, recursive: Collection[int]
) -> None:
    """Apply their edits to the tables of modules and trees."""
    for (name, owner), edit in publication.inside.items():
        ranked = owner in recursive if is_node(name) else is_external(name)
        cache = publication.cache.of(owner)
        _carry_out(
            remover,
            predicate=publication.inner[name],
            owner=owner,
            edit=edit,
            recursive=ranked,
            cache=cache,
        )


def _carry_out_edits(
    remover: Remover, publication: Publication, recursive: Collection[int]
) -> None:
    """Apply their edits to the tables of predicates.

    Discarded tables, and those of predicates that no longer exist, were removed as a whole before.
    A table of derived facts is made when it gets its first row: of the thousands of rules that an
    ontology is, few derive anything.
    """
    for (name, owner), edit in publication.edits.items():
        known = publication.new.schema.get(name)
        if known is None or isinstance(owner, Discarded):
            continue
        if edit.now:
            _show_pairs(remover, known, owner, edit, publication.inner)
        elif owner == EXPLICIT or edit.incoming or key_of(known, owner) in remover.rows:
            cache = publication.cache.of(name)
            _carry_out(
                remover,
                predicate=known,
                owner=owner,
                edit=edit,
                recursive=owner in recursive,
                cache=cache,
            )


def _carry_out(
    remover: Remover,
    predicate: Predicate,
    owner: int,
    edit: Edit,
    recursive: bool,
    cache: StatementCache,
) -> None:
    """Apply an edit to a table."""
    key = key_of(predicate, owner)
    if edit.rewritten or key not in remover.rows:
        write_table(remover, predicate, key, edit.incoming, recursive, cache)
    else:
        edit_rows(
            remover.writes, predicate=predicate, key=key, edit=edit, rows=remover.rows, cache=cache
        )


def _show_pairs(
    remover: Remover, predicate: Predicate, owner: int, edit: Edit, inner: Mapping[str, Predicate]
) -> None:
    """Create a view of the facts that a table of classes stands for, if there is none yet."""
    schema, name = key = key_of(predicate, owner)
    if edit.rewritten or key not in remover.rows:
        if key in remover.rows:
            remover.remove(key)
        assert edit.now is not None
        assert edit.now.read.pairs is not None
        _, table = key_of(inner[classes(predicate.name)], owner)
        there = exp.table_(table, db=DERIVED_SCHEMA, quoted=True)
        pairs = edit.now.read.pairs
        if pairs.between:
            _, table = key_of(inner[between(predicate.name)], owner)
            pairs = replace(pairs, between=Between(DERIVED_SCHEMA, table))
        query = pairs_query(pairs, there, [c.name for c in predicate.columns])
        view_name = exp.table_(name, db=schema, quoted=True)
        remover.run(exp.Create(this=view_name, kind="VIEW", expression=query))
        remover.views.add(name)
    assert edit.now is not None
    remover.rows[key] = edit.now.rows


def _parted(state: State) -> Iterator[tuple[int, str]]:
    """The hypernodes and predicates whose tables are views of pairs."""
    for row in state.hypernodes:
        yield from ((row.id, module.predicate) for module in row.modules if module.parted)
