"""Publishing: one short transaction that makes a computed change permanent, or does nothing.

Everything was computed in temporary tables before. What is written here is the sum of a change:
new symbols, edits of the tables of explicit facts and hypernodes, catalog rows and views.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from zodiac_sql import catalog, dictionary
from zodiac_sql.apply import Kept
from zodiac_sql.catalog import State
from zodiac_sql.errors import StoreError
from zodiac_sql.extension import EXPLICIT, Sources, inner_tables, place, sources_of, view
from zodiac_sql.maintain.contract import Edit
from zodiac_sql.names import RANK, classes, derived, is_external, is_node, moving, set_aside
from zodiac_sql.pairs import pairs_query
from zodiac_sql.relations import Part, Relation, columns_of, relation_query, table
from zodiac_sql.restructuring import Restructuring
from zodiac_sql.schema import Predicate
from zodiac_sql.store import Store
from zodiac_sql.trees import rename, shown

Edits = Mapping[tuple[str, int], Edit]
"""What becomes of tables, by predicate and owner: a hypernode, or EXPLICIT."""

Rows = dict[tuple[str, str], int]


def publish(
    store: Store,
    old: State,
    new: State,
    edits: Edits,
    restructuring: Restructuring,
    discarded: Collection[str],
    kept: Kept,
    inside: Edits,
    tables: Mapping[str, Predicate],
) -> State:
    """Write a change. Returns `new` with the row counts of its tables.

    Tables of idb in `discarded` stay under another name (set_aside) until the next change.
    `inside` are edits of tables of modules and trees, which `tables` describes.
    """
    rows = dict(old.rows)
    recursive = {row.id for row in new.hypernodes if row.recursive}
    views = {derived(h, old.schema[p].sql_name) for h, p in _parted(old)}
    with store.transaction():
        catalog.claim(store, old, new)
        dictionary.publish(store)
        catalog.drop_aside(store, old)
        remover = _Remover(store, rows, discarded, views)
        _drop_predicates(remover, old, new)
        if restructuring.before is not restructuring.after:
            _pass_tables(remover, old, new, restructuring, edits)
        _drop_inner_tables(remover, old, new)
        for (name, owner), edit in inside.items():
            ranked = owner in recursive if is_node(name) else is_external(name)
            _carry_out(remover, tables[name], owner, edit, ranked, kept.of(owner))
        for (name, owner), edit in edits.items():
            if name in new.schema and owner >= 0:  # else its table goes as a whole
                known = new.schema[name]
                if edit.now:
                    _show_pairs(remover, known, owner, edit, tables[classes(name)])
                else:
                    _carry_out(remover, known, owner, edit, owner in recursive, kept.of(name))
        aside = tuple(set_aside(name) for name in discarded)
        state = replace(new, rows=rows, aside=aside, generation=old.generation + 1)
        catalog.save(store, old, state)
        same = new.schema == old.schema and new.hypernodes == old.hypernodes
        if not same or rows.keys() != old.rows.keys():
            _refresh_views(store, old, state)
    dictionary.forget_new(store)
    return state


def _carry_out(
    remover: _Remover, predicate: Predicate, owner: int, edit: Edit, recursive: bool, kept: Kept
) -> None:
    """Bring a table to what an edit says."""
    key = _key(predicate, owner)
    if edit.rewritten or key not in remover.rows:
        _write(remover, predicate, key, edit.incoming, recursive)
    else:
        _edit(remover.store, predicate, key, edit, remover.rows, kept)


def _show_pairs(
    remover: _Remover, predicate: Predicate, owner: int, edit: Edit, classes_: Predicate
) -> None:
    """Let a view show the facts that a table of classes makes up, where there is none yet."""
    schema, name = key = _key(predicate, owner)
    if edit.rewritten or key not in remover.rows:
        if key in remover.rows:
            remover.remove(key)
        assert edit.now is not None
        assert edit.now.pairs is not None
        there = exp.table_(_key(classes_, owner)[1], db="idb", quoted=True)
        query = pairs_query(edit.now.pairs, there, [c.name for c in predicate.columns])
        view_name = exp.table_(name, db=schema, quoted=True)
        remover.store.run(exp.Create(this=view_name, kind="VIEW", expression=query))
        remover.views.add(name)
    assert edit.now is not None
    remover.rows[key] = edit.now.rows


def _parted(state: State) -> Iterator[tuple[int, str]]:
    """The hypernodes and predicates whose tables are views of pairs."""
    for row in state.hypernodes:
        yield from ((row.id, module.predicate) for module in row.modules if module.parted)


def _drop_inner_tables(remover: _Remover, old: State, new: State) -> None:
    """Drop the tables of modules and trees that are not at work any more."""
    there, here = (
        {key for keys in inner_tables(state).values() for key in keys} for state in (old, new)
    )
    for key in there - here:
        if key in remover.rows:
            remover.remove(key)


def _key(predicate: Predicate, owner: int) -> tuple[str, str]:
    """Schema and name of a table."""
    if owner == EXPLICIT:
        return "edb", predicate.sql_name
    return place(predicate, owner)


def _edit(
    store: Store, predicate: Predicate, key: tuple[str, str], edit: Edit, rows: Rows, kept: Kept
) -> None:
    """Take rows out of a table and put rows in."""
    if edit.removed:
        removed = edit.removed
        text = kept.get(
            ("delete", key, removed.table), lambda: _deletion(store, predicate, key, removed)
        )
        if store.count(text) != removed.rows:
            raise StoreError(
                f"{key[0]}.{key[1]} in {store.path} is not as this connection knows it: it was "
                "changed without zodiac_sql. Nothing was changed by this update. Open the file "
                "anew, and see what `verify` says."
            )
        rows[key] -= removed.rows
    for added in edit.incoming:
        text = kept.get(
            ("insert", key, added.table, added.ranked, added.minus, added.ranks),
            partial(_insertion, store, predicate, key, added),
        )
        store.run(text)
        rows[key] += added.rows


def _deletion(store: Store, predicate: Predicate, key: tuple[str, str], part: Part) -> str:
    relation = Relation(predicate.columns, (part,))
    same = [
        a.eq(b) for a, b in zip(columns_of(relation, "t"), columns_of(relation, "m"), strict=True)
    ]
    target = exp.table_(key[1], db=key[0], quoted=True, alias="t")
    gone = exp.alias_(table(part), "m", table=True)
    where = exp.Where(this=exp.and_(*same))
    return store.render(exp.Delete(this=target, using=[gone], where=where))


def _insertion(store: Store, predicate: Predicate, key: tuple[str, str], part: Part) -> str:
    relation = Relation(predicate.columns, (part,), ranked=part.ranked)
    names = [column.name for column in relation.stored] + ([RANK] if part.ranked else [])
    target = exp.table_(key[1], db=key[0], quoted=True)
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    return store.render(exp.insert(relation_query(relation), target, columns=columns))


# --- whole tables ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Remover:
    """Takes tables away without looking into them: drops them, or sets them aside."""

    store: Store
    rows: Rows
    discarded: Collection[str]
    views: set[str]

    def remove(self, key: tuple[str, str]) -> None:
        schema, name = key
        if schema == "idb" and name in self.views:
            self.store.run(exp.Drop(tables=[_stored(name)], kind="VIEW"))
            self.views.remove(name)
        elif schema == "idb" and name in self.discarded:
            self.store.run(rename(_stored(name), set_aside(name)))
        else:
            _drop(self.store, schema, name)
        del self.rows[key]


def _stored(name: str) -> exp.Table:
    return exp.table_(name, db="idb", quoted=True)


def _drop(store: Store, schema: str, name: str) -> None:
    store.run(exp.Drop(tables=[exp.table_(name, db=schema, quoted=True)], kind="TABLE"))


def _drop_predicates(remover: _Remover, old: State, new: State) -> None:
    """Drop the tables of explicit facts of predicates that are no more, or have another arity."""
    names = {
        predicate.sql_name
        for name, predicate in new.schema.items()
        if name not in old.schema or old.schema[name].arity == predicate.arity
    }
    for schema, name in list(remover.rows):
        if schema == "edb" and name not in names:
            remover.remove((schema, name))


@dataclass(frozen=True, slots=True)
class _Move:
    """A table that passes from one hypernode to another."""

    source: str
    target: str
    was_recursive: bool
    is_recursive: bool


def _pass_tables(
    remover: _Remover,
    old: State,
    new: State,
    restructuring: Restructuring,
    edits: Edits,
) -> None:
    """Give the tables of old hypernodes to those that take them over; the others go."""
    store, rows = remover.store, remover.rows
    moves = [move for move in _moves(restructuring, new, edits) if ("idb", move.source) in rows]
    staying = {("idb", move.source) for move in moves}
    unchanged = restructuring.unchanged()
    for number, keys in inner_tables(old).items():
        if number in unchanged:
            staying |= keys
    for key in list(rows):
        if key[0] != "edb" and key not in staying:
            remover.remove(key)
    renamed = [move for move in moves if move.source != move.target]
    for number, move in enumerate(renamed):  # in two steps, for a target can be another's source
        store.run(rename(_stored(move.source), moving(number)))
    counts = [rows.pop(("idb", move.source)) for move in renamed]
    for number, move in enumerate(renamed):
        store.run(rename(_stored(moving(number)), move.target))
        rows["idb", move.target] = counts[number]
    for move in moves:
        _settle_ranks(store, move)


def _moves(restructuring: Restructuring, new: State, edits: Edits) -> Iterator[_Move]:
    """The tables that stay, but for those that are written anew."""
    old = {h.id: h for h in restructuring.before.hypernodes}
    for hypernode in restructuring.after.hypernodes:
        heritage = restructuring.heritages.get(hypernode.id)
        if hypernode.id not in restructuring.sources or (heritage and not heritage.origins):
            continue
        base = old[heritage.base if heritage else hypernode.id]
        for predicate in hypernode.derives:
            edit = edits.get((predicate, hypernode.id))
            passes = heritage is None or base.id in heritage.tables[predicate]
            if passes and not (edit and edit.rewritten):
                end = new.schema[predicate].sql_name
                yield _Move(
                    derived(base.id, end), derived(hypernode.id, end), base.recursive,
                    hypernode.recursive,
                )  # fmt: skip


def _settle_ranks(store: Store, move: _Move) -> None:
    """Only tables of recursive hypernodes have ranks; a new one begins with 0 everywhere."""
    if move.was_recursive == move.is_recursive:
        return
    action: exp.Expr = exp.Drop(tables=[exp.column(RANK, quoted=True)], kind="COLUMN")
    if move.is_recursive:
        zero = exp.DefaultColumnConstraint(this=exp.Literal.number(0))
        action = exp.ColumnDef(
            this=exp.to_identifier(RANK, quoted=True),
            kind=exp.DataType.build("BIGINT"),
            constraints=[exp.ColumnConstraint(kind=zero)],
        )
    store.run(exp.Alter(this=_stored(move.target), kind="TABLE", actions=[action]))


def _write(
    remover: _Remover,
    predicate: Predicate,
    key: tuple[str, str],
    parts: tuple[Part, ...],
    recursive: bool,
) -> None:
    """Put a table in place of the one that was there, if any."""
    if key in remover.rows:
        remover.remove(key)
    if predicate.open:
        return
    query = relation_query(Relation(predicate.columns, parts, ranked=recursive))
    if recursive and not parts:
        assert isinstance(query, exp.Select)
        query = query.select(exp.cast(exp.null(), "BIGINT").as_(RANK, quoted=True))
    target = exp.table_(key[1], db=key[0], quoted=True)
    remover.store.run(exp.Create(this=target, kind="TABLE", expression=query))
    remover.rows[key] = sum(part.rows for part in parts)


def _refresh_views(store: Store, old: State, new: State) -> None:
    """Create, replace and drop views where tables or columns have changed."""
    before, after = sources_of(old), sources_of(new)
    for name, predicate in old.schema.items():
        if name not in new.schema:
            target = shown(store.database, predicate.sql_name)
            store.run(exp.Drop(tables=[target], kind="VIEW"))
    for name, predicate in new.schema.items():
        same = name in old.schema and old.schema[name].columns == predicate.columns
        if not same or _have_changed(before, after, name):
            parts = tuple(part for parts in after.owners(name).values() for part in parts)
            relation = Relation(predicate.columns, parts)
            store.run(view(predicate, relation, name in old.schema, store.database))


def _have_changed(before: Sources, after: Sources, predicate: str) -> bool:
    """Whether a predicate has other tables than before. Of most, nothing at all has changed."""
    if before.explicit.get(predicate) == after.explicit.get(predicate) and (
        before.derived.get(predicate) == after.derived.get(predicate)
    ):
        return False
    return _tables(before, predicate) != _tables(after, predicate)


def _tables(sources: Sources, predicate: str) -> set[tuple[object, ...]]:
    """The tables of a predicate, whatever their sizes, and what of them a view depends on."""
    owners = sources.owners(predicate)
    return {(p.schema, p.table, p.pairs, p.covers) for parts in owners.values() for p in parts}
