"""A change of few facts, carried out by look-ups in copies (lookups/), and written to the file.

Rule: if the program stays as it is, and a change inserts and deletes only a few facts that are
given, then copies are asked what it does to the tables of all hypernodes, and DuckDB writes that.
Where they cannot tell, because a rule is not looked up, a copy has not been earned, or the change
turns out to be a large one, nothing has happened, and the change is carried out as any other.

The transaction of SQLite surrounds that of DuckDB: copies never show what is not in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.beside_rules import moved_beside, note_waiting
from zodiac_sql.change.changed_extensions import ChangedExtensions
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.difference import Difference
from zodiac_sql.change.directly import Written, in_rules
from zodiac_sql.change.noted import Fed, noted, prepare_feed, rows_of_table, write_fed
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.request import Request
from zodiac_sql.change.staged_rows import (
    deletion,
    is_each_once,
    parameters_of,
    shape,
    staged_facts,
    staged_query,
    without_none,
)
from zodiac_sql.change.stats import HypernodeStats
from zodiac_sql.change.workspace import Workspace
from zodiac_sql.database import dictionary
from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.store import Store
from zodiac_sql.database.together import Together
from zodiac_sql.errors import ZodiacError
from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.language.schema import Predicate, Schema, Staged
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.lookups.cascade import Cascade
from zodiac_sql.lookups.copies import Copies, Moves, NotCopied
from zodiac_sql.lookups.outcome import Given, Moved, TableEdit, Visited
from zodiac_sql.lookups.values import Fact, decoded, encoded
from zodiac_sql.lookups.worth import Declined, LookupLimits, NotEarnedError, limits_of
from zodiac_sql.maintain.registry import LOOKUPS
from zodiac_sql.names import CHANGE_FACTS, RANK, is_constraint, whole
from zodiac_sql.program.state import State
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query
from zodiac_sql.storage.edit_tables import key_of, require_rows
from zodiac_sql.storage.edits import Edit
from zodiac_sql.storage.journal import TableRows, may_note
from zodiac_sql.storage.owners import EXPLICIT
from zodiac_sql.storage.publish import publishing
from zodiac_sql.storage.save_catalog import save
from zodiac_sql.storage.sources import hand_on

Kind = frozenset[tuple[str, bool, bool]]
"""The predicates of which a change deletes facts, and of which it inserts some."""

MOST_GIVEN = 1_000
"""A change that is given more facts than this is no small one."""

MOST_MADE = 16
"""For so many hypernodes are copies made in one change; the next one goes on. (The second change of
a chain of 200 hypernodes took 5.8 s, for all copies at once.)"""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What was written, what became of explicit facts, and what hypernodes had to do."""

    written: Written
    explicit: Mapping[str, Edit]
    evaluated: Mapping[str, HypernodeStats]


def kind_of(before: Baseline, prepared: Prepared, request: Request) -> Kind | None:
    """The kind of an update of facts alone, if it may be looked up; else None.

    That is for changes of some predicate that is in rules, and not for those whose rows are
    counted. The kind has only what rules have to do with: others are not copied.
    """
    if before.settings.strategy not in LOOKUPS or before.store.watch.counts:
        return None
    deletes, inserts = without_none(request.deletes), without_none(request.inserts)
    names = deletes.keys() | inserts.keys()
    staged = (one for some in (deletes, inserts) for each in some.values() for one in each)
    if any((one.rows or 0) > MOST_GIVEN for one in staged):
        return None
    names &= in_rules(prepared)
    return frozenset((name, name in deletes, name in inserts) for name in names)


def look_up(
    collected: Collected, prepared: Prepared, kind: Kind, limits: LookupLimits | None = None
) -> LookedUp | None:
    """Carry a change out by look-ups. None: that cannot be, and nothing has happened."""
    before = collected.before
    copies, store, state = prepared.copies, before.store, before.state
    at_once = before.settings.strategy == "lookups"
    if at_once:
        copies.worth.earn_all()
    if not kind or not copies.is_to_be_tried(state, kind):
        return None
    done, made = None, 0
    copies.worth.begin(kind)
    limits = limits or copies.limits(kind)
    try:
        copies.require_possible(state, prepared.graph, (name for name, *_ in kind))
        given = _given(store, prepared.schema, collected.request)
        others = given.keys() - {name for name, *_ in kind}
        beside = moved_beside(store, state, given, others, prepared.cache)
        while done is None:
            try:
                done = _carry_out(collected, prepared, given, beside, limits)
            except NotCopied as missing:
                if made >= MOST_MADE and not at_once:
                    raise NotEarnedError(missing.predicates) from None
                made += _make(copies, store, state, prepared.graph, missing)
    except Declined as error:
        copies.worth.failed(kind, error)
        return None
    copies.worth.succeeded(kind, len(done.evaluated))
    return done


def _make(copies: Copies, store: Store, state: State, graph: Hypergraph, missing: NotCopied) -> int:
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
        except Declined:
            break
        made += 1
    return made


def _prepare(
    copies: Copies, store: Store, state: State, graph: Hypergraph, hypernode: Hypernode
) -> None:
    """Make the copies that a hypernode needs, if they are not there. Raises Declined."""
    try:
        copies.statements(state, graph, hypernode)
    except NotCopied as missing:
        copies.make(store, state, missing)


def _given(store: Store, schema: Schema, request: Request) -> dict[str, Given]:
    """The facts that an update deletes and inserts, as SQLite has them. Raises Declined."""
    inserts, deletes = without_none(request.inserts), without_none(request.deletes)
    found = {}
    for name in {**deletes, **inserts}:
        known = schema[name]
        gone, come = (_rows(store, known, some.get(name, [])) for some in (deletes, inserts))
        found[name] = Given([row for row in gone if row not in come], [*come])
    return found


def _rows(store: Store, known: Predicate, staged: Sequence[Staged]) -> dict[Fact, None]:
    """Staged facts, each once, with the types of the predicate."""
    if not staged:
        return {}
    rows: list[Fact] | None = [row for one in staged for row in one.given or ()]
    plain = all(one.given is not None and is_each_once(known, [one]) for one in staged)
    if not plain:
        rows = store.rows(staged_query(known, staged), parameters_of(staged))
    rows = encoded(known.columns, rows or ())
    if rows is None or len(rows) > MOST_GIVEN:
        raise Declined("there are too many facts, or one of them cannot be copied")
    return dict.fromkeys(rows)


def _carry_out(
    collected: Collected,
    prepared: Prepared,
    given: Mapping[str, Given],
    beside: Mapping[str, Moved],
    limits: LookupLimits,
) -> LookedUp:
    copies, before, report = prepared.copies, collected.before, collected.report
    state, positions = before.state, collected.request.positions
    with copies.changing(state, limits.steps) as shows:
        cascade = Cascade(state, prepared.graph, copies, limits.moved)
        with report.timed("reason"):
            whole_ = cascade.begin({n: facts for n, facts in given.items() if n not in beside})
            if not whole_ and any(name in prepared.graph.derivers for name in given):
                raise Declined("what is not explicit may be derived, which is to be told")
            cascade.go_on()
            moved = {**cascade.outcome(), **beside}
        _require_tables(state, moved)
        with report.timed("publish"):
            new = replace(state, positions={**state.positions, **positions})
            written, explicit = _write(before.store, state, new, prepared.cache, moved, beside)
        shows(written.state)
    evaluated = {name: _stats(cascade, name, moved) for name in cascade.visited}
    return LookedUp(written, explicit, evaluated)


def _require_tables(state: State, moved: Mapping[str, Moved]) -> None:
    """Raise Declined if a table must be made first, or if a constraint is concerned."""
    for name, facts in moved.items():
        if facts.edits and is_constraint(name):
            raise Declined("a constraint is concerned")
        known = state.schema[name]
        if any(key_of(known, owner) not in state.rows for owner in facts.edits):
            raise Declined("a table must be made first")


# --- writing --------------------------------------------------------------------------------------


def _write(
    store: Store,
    old: State,
    new: State,
    cache: StatementCache,
    moved: Mapping[str, Moved],
    beside: Mapping[str, Moved],
) -> tuple[Written, dict[str, Edit]]:
    """Write what has moved to the file, in one transaction, unless there is nothing to write.

    `new` is the state after it but for its facts. What has moved `beside` the rules is a part of
    what has `moved`.
    """
    edits = {(name, o): edit for name, facts in moved.items() for o, edit in facts.edits.items()}
    if not (edits or dictionary.waits(store) or new.positions != old.positions):
        return Written(old.again(), {}, {}), {}
    writing = _Writing(store, cache, old.schema)
    differences = {name: writing.difference(name, facts) for name, facts in moved.items()}
    differences = {n: d for n, d in differences.items() if d.inserted_count or d.deleted_count}
    passes = new.positions != old.positions or any(
        len(edit.added) != len(edit.removed) for (_, o), edit in edits.items() if o == EXPLICIT
    )
    rows = dict(old.rows)
    for (name, owner), edit in edits.items():
        rows[key_of(old.schema[name], owner)] += len(edit.added) - len(edit.removed)
    new = replace(new, rows=rows)
    state, fed = None, _fed(old, moved)
    if passes and may_note(store):
        state = noted(store, old, new, _changes(old, edits), fed)
        if state is not None:
            note_waiting(store, old, beside)
    if state is None:
        found = prepare_feed(store, old.feed, fed) if fed else None
        with publishing(store, old, new, may_pass=passes) as (writes, counts):
            dictionary.publish(writes)
            for (name, owner), edit in edits.items():
                writing.write(writes, name, key_of(old.schema[name], owner), edit)
            feed = write_fed(writes, old, fed, cache, None if counts else found)
            state = replace(new, feed=feed, generation=old.generation + counts)
            save(writes, old, state)
            writes.run()
    store.journal.asked = False
    dictionary.published(store)
    hand_on(old, state, moved)
    explicit = {n: writing.explicit(n, e) for (n, o), e in edits.items() if o == EXPLICIT}
    return Written(state, differences, writing.facts), explicit


def _changes(state: State, edits: Mapping[tuple[str, int], TableEdit]) -> Iterator[TableRows]:
    """The edits of tables, with values as the file has them."""
    for (name, owner), edit in edits.items():
        known = state.schema[name]
        gone, come = (decoded(known.columns, rows) for rows in (edit.removed, edit.added))
        yield rows_of_table(key_of(known, owner), known, gone, come, edit.ranked)


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

    def write(self, writes: Together, name: str, key: tuple[str, str], edit: TableEdit) -> None:
        """Let rows go out of a table, and come in."""
        known = self.schema[name]
        if edit.removed:
            check = partial(require_rows, self.store, key, len(edit.removed))
            writes.add(*self._statement(known, key, edit.removed, gone=True), check)
        if edit.added:
            if edit.ranked:
                known = replace(known, columns=(*known.columns, Column(RANK, Type.INT)))
            writes.add(*self._statement(known, key, edit.added, gone=False))

    def _statement(
        self, known: Predicate, key: tuple[str, str], rows: Sequence[Fact], gone: bool
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


def _text(known: Predicate, key: tuple[str, str], staged: Staged, gone: bool) -> str:
    schema, name = key
    table = exp.table_(name, db=schema, quoted=True)
    if gone:
        return render(deletion(table, known, staged))
    columns = columns_of(Relation(known.columns, ()))
    names = [exp.to_identifier(column.name, quoted=True) for column in columns]
    return render(exp.insert(staged_query(known, [staged]), table, columns=names))


# --- what is told ---------------------------------------------------------------------------------


def _stats(cascade: Cascade, name: str, moved: Mapping[str, Moved]) -> HypernodeStats:
    """What a hypernode had to do."""
    hypernode, visited = cascade.graph.by_name[name], cascade.visited[name]
    edits = [moved[p].edits.get(hypernode.id) for p in hypernode.derives if p in moved]
    counts = [edit.moved for edit in edits if edit]
    row = next(row for row in cascade.state.hypernodes if row.id == hypernode.id)
    counted = {name: getattr(visited, name) for name in Visited.__slots__}  # asdict takes longer
    return HypernodeStats(
        strategy="lookups",
        why="few facts, and copies of what its rules read",
        method="lookups",
        modules=[str(module) for module in row.modules],
        trees=[],
        **counted,
        deletions=0, insertions=0, marked=0,
        inserted=sum(gained for gained, _ in counts), deleted=sum(lost for _, lost in counts),
    )  # fmt: skip


# --- changes that are carried out otherwise -------------------------------------------------------


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
        read, few = in_rules(prepared), limits_of(seconds).moved if kind else 0
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
