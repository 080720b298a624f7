"""One atomic change of facts and rules: stage, check, reason, compare, publish.

An `Update` collects what is to change; `apply` carries it out. Until the publishing transaction
commits, everything lives in temporary tables, so a failure or a kill leaves the file as it was.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from zodiac_sql.change.change import Change, Streamed
from zodiac_sql.change.difference import Difference, differences_of
from zodiac_sql.change.materialise import Progress, materialise
from zodiac_sql.change.net_facts import absent_facts, deleted_next, net_changes, only_derived
from zodiac_sql.change.report import ChangedFacts, hypernode_change, modules_at_work, tables_read
from zodiac_sql.change.workspace import Materialisation, Net
from zodiac_sql.database import dictionary
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.statement_cache import Kept
from zodiac_sql.database.statements import drop, drop_view
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, Problem, ProgramError, QueryError
from zodiac_sql.evaluate.cost.choose_trees import Decomposing
from zodiac_sql.facts.stage import stage_rows, staged_explicit
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.graph.restructuring import unchanged
from zodiac_sql.language.binding import symbols_in
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.parse import parse_what_can_be
from zodiac_sql.language.schema import Predicate, Staged, local_name, resolve
from zodiac_sql.language.syntax import Atom, Constant, Rule
from zodiac_sql.maintain.choose import MARKING
from zodiac_sql.maintain.marking import Marks
from zodiac_sql.names import KEPT, RANKED, VIEWS, whole
from zodiac_sql.program.build import (
    Names,
    Planned,
    SqlNames,
    declare,
    plan_program,
    stored,
    with_staged,
    without_unused,
)
from zodiac_sql.program.check import in_order
from zodiac_sql.program.rule_edits import RuleEdits, rule_text
from zodiac_sql.program.state import State, StoredRule, hypergraph_of
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.catalog import others_names
from zodiac_sql.storage.publish import publish

if TYPE_CHECKING:
    from zodiac_sql.facts.load.load_file import Loaded


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program worked out once, for all changes of facts until rules or columns change.

    `rules` and `schema` are those of the state that has it; None before there is one.
    """

    rules: tuple[StoredRule, ...] | None
    schema: Mapping[str, Predicate]
    functions: Functions
    planned: Planned
    kept: Kept = field(default_factory=Kept)

    def fits(self, update: Update) -> bool:
        """Whether an update changes nothing of what was worked out."""
        return (
            self.rules is update.state.rules
            and self.functions == update.functions
            and self.schema == update.state.schema == update._schema
            and not (update._rules or update._problems)
        )

    def settled(self, state: State) -> Prepared:
        """When the rules have come and gone, and nothing but facts changes after that."""
        graph = self.planned.graph
        planned = replace(self.planned, restructuring=unchanged(graph), remarks=())
        return replace(self, rules=state.rules, schema=state.schema, planned=planned)

    @property
    def graph(self) -> Hypergraph:
        return self.planned.graph


@dataclass(slots=True)
class Update:
    """What is to change, collected verb by verb; nothing is visible before it is applied.

    Facts are read, encoded and type-checked as they are given. Rules are parsed as they are given,
    and checked when all is known.
    """

    store: Store
    state: State
    functions: Functions
    strategy: str = "auto"
    modular: bool = True
    hypertree: Decomposing = "auto"
    prepared: Prepared | None = None
    streamed: Streamed | None = None
    """Which updates of a stream this one applies."""
    marks: Marks | None = None
    """What the update before has found out about this one, and then this one about the next."""
    loaded: list[Loaded] = field(default_factory=list)
    ended: bool = False
    """Whether the block of the update has been left: then nothing can be told it any more."""
    _schema: dict[str, Predicate] = field(default_factory=dict)
    _prefixes: dict[str, str] = field(default_factory=dict)
    _problems: list[Problem] = field(default_factory=list)
    _rules: RuleEdits = field(init=False)
    _inserts: dict[str, list[Staged]] = field(default_factory=lambda: defaultdict(list))
    _deletes: dict[str, list[Staged]] = field(default_factory=lambda: defaultdict(list))
    _remarks: list[str] = field(default_factory=list)
    _positions: dict[str, int] = field(default_factory=dict)
    _seen: dict[str, Part] = field(default_factory=dict)
    _ahead: dict[str, tuple[object, Staged]] = field(default_factory=dict)
    _sql_names: SqlNames = field(init=False)
    _others: frozenset[str] = frozenset()
    """Names, in lower case, of tables and views in main that are not ours."""
    _by_sql_name: dict[str, str] | None = None
    _graph: Hypergraph | None = None
    _change: Change | None = None
    _started: float = field(default_factory=time.perf_counter)
    _seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._schema = dict(self.state.schema)
        self._sql_names = SqlNames(self._taken_names)
        self._prefixes = dict(self.state.prefixes)
        self._rules = RuleEdits({rule.name for rule in self.state.rules}, self.graph_before)

    @property
    def change(self) -> Change:
        """What the update did. Raises QueryError as long as it has not been applied."""
        if self._change is None:
            raise QueryError("an update's change is known when its with block has ended")
        return self._change

    @property
    def _guard(self) -> Guard:
        if self.ended:
            raise QueryError("this update has ended: its verbs are for inside its with block")
        return self.store.guard

    # Verbs

    @exclusive
    def add_rules(self, rules: str | Path, *, replace: bool = False, strict: bool = False) -> None:
        """Add rules, facts, declarations and prefixes from a text or a file.

        A string is a path if it ends in .rules or .dl. A rule that is there already, up to the names
        of variables and the order of the body, is passed over, and told in the change's notes; with
        `strict` it is an error. With `replace`, a rule takes the place of the one of the same name.
        What is wrong with the text is told when the update is applied, all at once; a file that
        cannot be read, at once (ProgramError).
        """
        text, name = rule_text(rules)
        program, problems = parse_what_can_be(text, name, self._prefixes)
        self._problems += problems
        self._prefixes.update(program.prefixes)
        self._rules.add(program, replace, strict)
        self._by_sql_name = None
        for declaration in program.declarations:
            self._schema, problems = declare(self._schema, declaration, self._names())
            self._problems += problems

    @exclusive
    def drop_rules(self, *rules: str | Path, strict: bool = False) -> None:
        """Remove rules: by name, as text, or all of a file.

        A string that is no rule's name is a path if it ends in .rules or .dl, and text if it has an
        arrow. A rule given as text need not be written as it was added: labels, names of variables
        and the order of the body do not matter. One that is not there is passed over, and told in
        the change's notes; with `strict` it is an error (QueryError). Raises ProgramError for a text
        that cannot be read.
        """
        for given in rules:
            self._rules.drop(given, self._prefixes, strict)

    @exclusive
    def insert(self, predicate: str, rows: object) -> None:
        """Insert explicit facts: tuples, or a table in columns. Raises DataError."""
        self._insert(predicate, rows)

    def _insert(self, predicate: str, rows: object) -> None:
        name = self._meant(predicate)
        with self._timed("stage"):
            staged = stage_rows(self.store, name, rows, self._schema.get(name))
        if staged is not None:
            self._settle(staged)
            self._inserts[name].append(staged)

    @exclusive
    def delete(self, predicate: str, rows: object) -> None:
        """Delete explicit facts; those that are not there are passed over. Raises DataError.

        The change's notes tell how many are not explicit, but derived: those stay.
        """
        name = self._meant(predicate)
        known = self._schema.get(name)
        if known is None or known.open:
            return
        if (part := self._looked_at(name, rows)) is not None:
            nothing = (None,) * known.arity
            there = Staged(name, known.columns, nothing, part.table, False, part.rows)
            self._deletes[name].append(there)
            self._seen[name] = part
            return
        with self._timed("stage"):
            staged = stage_rows(self.store, name, rows, known, gone=True)
        if staged is not None:
            self._deletes[name].append(staged)

    @exclusive
    def replace(self, predicate: str, rows: object) -> None:
        """Let these rows be the explicit facts of a predicate: what else there is goes.

        Only the difference changes anything. Raises DataError.
        """
        self._insert(predicate, rows)
        name = self._meant(predicate)
        known = self.state.schema.get(name)
        if known is not None and self.state.rows.get(("edb", known.sql_name)):
            with self._timed("stage"):
                self._deletes[name].append(staged_explicit(self.store, known))

    @exclusive
    def record(self, stream: str, position: int) -> None:
        """Note in the file, with this change, how far a stream of updates has come.

        `KnowledgeBase.position` tells it again, also after a kill.
        """
        self._positions[stream] = position

    @exclusive
    def note(self, text: str) -> None:
        """Add a remark to the change's notes."""
        self._remarks.append(text)

    @exclusive
    def look_ahead(self, deletes: Mapping[str, object]) -> None:
        """Say which facts, by predicate, the update after this one will delete.

        A strategy with marking works some of that out on the way (paper 4); only for facts that no
        rule derives, as it may not be known of others that they will be gone. To be called after all
        other verbs; rows that cannot be facts are passed over, for the next update to tell.
        """
        if self.strategy not in MARKING or self._rules:
            return
        derived = {p for h in self.graph_before().hypernodes for p in h.derives}
        for predicate, rows in deletes.items():
            name = self._meant(predicate)
            known = self._schema.get(name)
            if known is None or known.open or name in derived:
                continue
            with self._timed("stage"), suppress(DataError):
                staged = stage_rows(self.store, name, rows, known, gone=True)
                if staged is not None:
                    self._ahead[name] = rows, staged

    @exclusive
    def load(
        self, path: str | Path, predicate: str | None = None, *, skip_bad: bool = False
    ) -> None:
        """Insert the facts of a file: RDF, CSV, TSV, Parquet or JSON lines.

        `predicate` names those of a table, by default after the file. Raises DataError with file
        and line; with `skip_bad` bad lines are left out and reported in the change's notes.
        """
        with self._timed("stage"):
            loaded = self._load(path, predicate, skip_bad)
            self._prefixes = {**dict(loaded.prefixes), **self._prefixes}
            for staged in loaded.staged:
                self._settle(staged)
                self._inserts[staged.predicate].append(staged)
        self.loaded.append(loaded)

    @exclusive
    def unload(
        self, path: str | Path, predicate: str | None = None, *, skip_bad: bool = False
    ) -> None:
        """Delete the explicit facts that stand in a file, which is read as `load` reads it.

        Those that are not there are passed over, and counted in the change's notes: they settle
        nothing, and leave neither predicates nor symbols behind.
        """
        with self._timed("stage"), dictionary.nothing_new(self.store):
            loaded = self._load(path, predicate, skip_bad)
            absent = 0
            for staged in loaded.staged:
                known = self.state.schema.get(staged.predicate)
                if known and not self.state.rows.get(("edb", known.sql_name)):
                    known = None
                if known:
                    self._deletes[staged.predicate].append(staged)
                absent += absent_facts(self.store, known, staged)
        if absent:
            facts = "1 fact is" if absent == 1 else f"{absent} facts are"
            note = f"{path}: {facts} not among the explicit facts, and passed over"
            loaded = replace(loaded, notes=(*loaded.notes, note))
        self.loaded.append(loaded)

    # How

    def _looked_at(self, predicate: str, rows: object) -> Part | None:
        """The facts to be deleted, if the update before has looked at these rows already."""
        if self.marks is None or self.marks.generation != self.state.generation:
            return None
        given, part = self.marks.ahead.get(predicate, (None, None))
        return part if given is rows else None

    def graph_before(self) -> Hypergraph:
        """The HRDG before the update; parsed from the catalog if no change before it has."""
        if self._graph is None:
            known = self.prepared is not None and self.prepared.rules is self.state.rules
            self._graph = self.prepared.graph if known and self.prepared else None
            self._graph = self._graph or hypergraph_of(self.state)
        return self._graph

    def _load(self, path: str | Path, predicate: str | None, skip_bad: bool) -> Loaded:
        """Stage the facts of a file."""
        from zodiac_sql.facts.load.load_file import (
            load_file,  # imported late: most changes read no file
        )

        name = self._meant(predicate) if predicate else None
        return load_file(self.store, path, self._schema, predicate=name, skip_bad=skip_bad)

    def _settle(self, staged: Staged) -> None:
        self._schema[staged.predicate] = with_staged(
            self._schema,
            staged.predicate,
            staged.columns,
            staged.datatypes,
            staged.named,
            self._names(),
        )
        if self._by_sql_name is not None:
            self._by_sql_name[self._schema[staged.predicate].sql_name] = staged.predicate

    def _meant(self, predicate: str) -> str:
        """The predicate that a person means."""
        if self._by_sql_name is None:
            self._by_sql_name = {known.sql_name: name for name, known in self._schema.items()}
        return resolve(predicate, self._schema, self._prefixes, self._by_sql_name)

    def _names(self) -> Names:
        return lambda name: self._sql_names.name(name, self._prefixes)

    def _taken_names(self) -> set[str]:
        """The SQL names that no new predicate can have, in lower case."""
        self._others = others_names(self.store, self.state.schema)
        return {p.sql_name.lower() for p in self.state.schema.values()} | self._others

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            self._seconds[phase] = self._seconds.get(phase, 0.0) + spent

    @exclusive
    def apply(self, is_current: Callable[[State], bool], progress: Progress | None) -> State:
        """Carry the update out. Returns the new state; `change` tells what happened.

        `is_current` tells later whether a state is still the one of the knowledge base.
        """
        work, net, ids = self._computed(progress)
        with self._timed("compare"):
            differences = differences_of(work, wait=True)
        assert self.prepared is not None
        with self._timed("publish"):
            after = self._state_after(work, net, ids)
            state = publish(
                self.store, self.state, after, work.edits, work.planned.restructuring,
                {name for d in differences.values() for name in d.discarded}, self.prepared.kept,
                work.inside, work.tables,
            )  # fmt: skip
        differences = {name: difference.published() for name, difference in differences.items()}
        structure = work.planned.restructuring
        self.marks = self._marks_after(work, state)
        keep = tables_read(differences) | (self.marks.tables() if self.marks else set())
        clean(self.store, keep, others=structure.before is not structure.after)
        self.prepared = self.prepared.settled(state)
        self._change = self._described(work, differences, state, is_current)
        return state

    @exclusive
    def preview(self, is_current: Callable[[State], bool], progress: Progress | None) -> State:
        """Work everything out, and leave it at that. `change` tells what would have happened."""
        prepared = self.prepared
        work, net, ids = self._computed(progress)
        with self._timed("compare"):
            differences = {
                name: difference.apart(self.store, self._schema_of(work, name).sql_name)
                for name, difference in differences_of(work, wait=False).items()
            }
        after = self._state_after(work, net, ids)
        self._change = self._described(work, differences, after, is_current)
        if self.prepared is None or self.prepared.rules is not self.state.rules:
            self.prepared = prepared
        return self.state

    def _schema_of(self, work: Materialisation, predicate: str) -> Predicate:
        return work.planned.schema.get(predicate) or self.state.schema[predicate]

    def _computed(
        self, progress: Progress | None
    ) -> tuple[Materialisation, Net, Mapping[str, int]]:
        """Everything about the change, in temporary tables."""
        ids: Mapping[str, int] | None = self.state.ids
        with self._timed("check"):
            if self.prepared is None or not self.prepared.fits(self):
                planned = self._plan()
                self.prepared = Prepared(None, {}, self.functions, planned, self._lasting(planned))
                ids = None
            else:
                planned = self.prepared.planned
        with self._timed("stage"):
            self._stage_facts(planned)
            kept = self.prepared.kept
            net = net_changes(
                self.store, self.state, planned.schema, self._inserts, self._deletes, self._seen,
                kept,
            )  # fmt: skip
            self._remarks += [*self._rules.remarks, *planned.remarks]
            self._remarks += only_derived(self.store, self.state, planned, self._deletes)
            if ids is None:
                before = planned.restructuring.before.rules()
                ids = _known_ids(self.store, self.state, [*planned.rules, *before])
        with self._timed("reason"):
            work = materialise(
                self.store, self.state, planned, net, self.functions, ids, self.prepared.kept,
                self.strategy, self.modular, self.hypertree, progress,
                lambda work: self._mark(work, net),
            )  # fmt: skip
        return work, net, ids

    def _mark(self, work: Materialisation, net: Net) -> None:
        """Tell the work what is marked: for this update, if it came as it was seen, and the next."""
        same_rules = work.planned.restructuring.before is work.planned.restructuring.after
        if self.marks and same_rules and self._came_as_seen(self.marks, net):
            work.marks = self.marks
        turn = self.state.generation % 2  # the next update reads its table while it makes another
        for name, (_, staged) in self._ahead.items():
            known = work.planned.schema[name]
            part = deleted_next(
                self.store, known, work.new.relation(name), net.inserts.get(name), staged,
                f"{KEPT}ahead{turn}_{whole(known.sql_name)}", work.kept,
            )  # fmt: skip
            if part:
                work.next[name] = part

    def _came_as_seen(self, marks: Marks, net: Net) -> bool:
        """Whether this update deletes all that the one before has marked."""
        if marks.generation != self.state.generation:
            return False
        return all(
            name in net.deletes and net.deletes[name].rows == part.rows
            for name, (_, part) in marks.ahead.items()
        )

    def _marks_after(self, work: Materialisation, state: State) -> Marks | None:
        if not work.next:
            return None
        ahead = {name: (self._ahead[name][0], part) for name, part in work.next.items()}
        return Marks(state.generation, ahead, work.marked, work.unmarked)

    def _lasting(self, planned: Planned) -> Kept:
        """What was worked out before and holds for a program with other rules, too."""
        if self.prepared is None or self.prepared.rules is not self.state.rules:
            return Kept()  # another connection has changed the program
        if self.prepared.functions != self.functions:
            return Kept()
        there, hypernodes = self.prepared.schema, planned.restructuring.unchanged()

        def lasts(owner: int | str) -> bool:
            if isinstance(owner, str):
                return _same_table(there.get(owner), planned.schema.get(owner))
            if owner not in hypernodes:
                return False
            hypernode = planned.graph[owner]
            names = hypernode.reads.union(hypernode.derives)
            return all(_same_table(there.get(n), planned.schema.get(n)) for n in names)

        return self.prepared.kept.carried(lasts)

    def _plan(self) -> Planned:
        try:
            planned = plan_program(
                self.state,
                self.graph_before(),
                self._rules.arrivals,
                self._rules.dropped,
                self._schema,
                self._explicit(),
                self.functions,
                self._names(),
            )
        except ProgramError as error:
            raise ProgramError(in_order([*self._problems, *error.problems])) from None
        if self._problems:
            raise ProgramError(in_order(self._problems))
        return planned

    def _explicit(self) -> set[str]:
        """The predicates that have explicit facts, or are given some, be it to delete them."""
        rows = self.state.rows
        there = {n for n, p in self.state.schema.items() if rows.get(("edb", p.sql_name))}
        return there.union(self._inserts, self._deletes)

    def _stage_facts(self, planned: Planned) -> None:
        """Stage the facts that stand in rule texts."""
        rows: dict[str, list[tuple[object, ...]]] = defaultdict(list)
        for fact in self._rules.facts():
            rows[fact.predicate].append(_values(fact))
        for predicate, values in rows.items():
            staged = stage_rows(self.store, predicate, values, planned.schema[predicate])
            assert staged is not None
            self._inserts[predicate].append(staged)

    def _state_after(self, work: Materialisation, net: Net, ids: Mapping[str, int]) -> State:
        planned = work.planned
        explicit = {
            name
            for name, predicate in planned.schema.items()
            if name in net.inserts
            or self.state.rows.get(("edb", predicate.sql_name), 0)
            > (net.deletes[name].rows if name in net.deletes else 0)
        }
        schema = without_unused(planned.schema, planned.rules, explicit)
        rules, hypernodes = stored(self.state, planned, work.ranked, work.modules, work.trees)
        numbers = [h.id for h in planned.graph.hypernodes]
        return replace(
            self.state,
            rules=self.state.rules if rules == self.state.rules else rules,
            hypernodes=hypernodes,
            positive=planned.graph.positive,
            negative=planned.graph.negative,
            schema=self.state.schema if schema == self.state.schema else schema,
            prefixes=self._prefixes,
            functions=planned.functions,
            ids=ids,
            positions={**self.state.positions, **self._positions},
            next_hypernode=max([self.state.next_hypernode, *(n + 1 for n in numbers)]),
        )

    def _notes(self, work: Materialisation) -> tuple[str, ...]:
        """Remarks of the loader, and names in rules that may be meant for other predicates."""
        notes = [note for loaded in self.loaded for note in loaded.notes]
        notes += self._remarks
        schema = work.planned.schema
        shown = {predicate.sql_name.lower(): predicate for predicate in schema.values()}
        derived = {name for h in work.planned.graph.hypernodes for name in h.derives}
        for name in schema.keys() - self.state.schema.keys() - derived:
            other = shown.get(name.lower())
            if other is not None and other.name != name and not work.new.relation(name).rows:
                notes.append(
                    f"{name} in the rules is a predicate without facts; SQL's {other.sql_name} is "
                    f"<{other.name}>. If that is meant, write it so, or with a prefix."
                )
        notes += self._homonyms(schema)
        return tuple(dict.fromkeys(notes))

    def _homonyms(self, schema: Mapping[str, Predicate]) -> Iterator[str]:
        """What is to be said of new predicates that are called as tables of somebody else are."""
        for name, sql_name in self._sql_names.given.items():
            local = local_name(name)
            if name in schema and local.lower() in self._others:
                yield (
                    f"the predicate {name} is not {local}, a table or view that was in the file "
                    f"before: SQL knows the predicate as {sql_name}. For rules to read the rows of "
                    f'that table, insert them: kb.insert("{name}", kb.sql("SELECT * FROM {local}")).'
                )

    def _described(
        self,
        work: Materialisation,
        differences: Mapping[str, Difference],
        state: State,
        is_current: Callable[[State], bool],
    ) -> Change:
        hypernodes = hypernode_change(work.planned.restructuring, work.evaluated)
        facts = ChangedFacts(
            self.store, self.state.schema, state, dict(differences), is_current, work.all_marked()
        )
        stats: dict[str, Mapping[str, object]] = {
            "seconds": dict(self._seconds), "hypernodes": work.evaluated
        }  # fmt: skip
        if self.strategy in MARKING:
            stats["marks"] = {
                "explicit": sum(part.rows for part in work.next.values()),
                "implicit": sum(part.rows for part in work.marked.values()),
            }
        updates = range(0)
        if self.streamed:
            lag = time.perf_counter() - self.streamed.arrived
            stats["stream"] = {"lag": lag, "waiting": self.streamed.waiting}
            updates = range(self.streamed.first, self.streamed.last + 1)
        return Change(
            {n: d.inserted_count for n, d in differences.items() if d.inserted_count},
            hypernodes,
            stats,
            time.perf_counter() - self._started,
            self._notes(work),
            updates,
            facts.deleted,
            facts.table,
            (work.planned.restructuring.before, work.planned.graph),
            (modules_at_work(self.state), modules_at_work(state)),
        )


def _same_table(before: Predicate | None, after: Predicate | None) -> bool:
    """Whether SQL sees the same in a predicate."""
    return bool(
        before and after and (before.sql_name, before.columns) == (after.sql_name, after.columns)
    )


_SMALL = 10_000


def clean(store: Store, keep: Collection[str] | None = None, others: bool = True) -> None:
    """Drop temporary tables: all of them, or after a success those of some size not to be kept.

    Small tables then stay: the next change will replace them. If all were, nobody needs to look. But
    after a change of rules it may need `others`, under the names of other hypernodes.
    """
    if keep is not None and store.largest <= _SMALL and not others:
        return
    rows = store.rows(
        "SELECT table_name, estimated_size FROM duckdb_tables() WHERE temporary UNION ALL"
        " SELECT view_name, NULL FROM duckdb_views() WHERE temporary AND (starts_with(view_name, $1)"
        " OR starts_with(view_name, $2))",
        [RANKED, VIEWS],
    )
    store.largest = 0
    for name, size in rows:
        if name == dictionary.NEW:
            continue
        if size is None:
            store.run(drop_view(name))
        elif keep is not None and (name in keep or (size <= _SMALL and not others)):
            store.largest = max(store.largest, size)  # what is large goes with the next change
        else:
            store.run(drop(name))


def _values(fact: Atom) -> tuple[object, ...]:
    return tuple(term.value for term in fact.terms if isinstance(term, Constant))


def _known_ids(store: Store, state: State, rules: Iterable[Rule]) -> dict[str, int]:
    """Dictionary ids of all symbols that rules mention; new ones are added to the dictionary."""
    missing = symbols_in(rules).difference(state.ids)
    return {**state.ids, **dictionary.ids_of(store, missing)}
