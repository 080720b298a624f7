"""One atomic change of facts and rules: stage, check, reason, compare, publish.

An `Update` collects what is to change; `apply` carries it out. Until the publishing transaction
commits, everything lives in temporary tables, so a failure or a kill leaves the file as it was.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql import dictionary
from zodiac_sql.apply import Kept
from zodiac_sql.arrivals import Arrival
from zodiac_sql.catalog import State, StoredRule, generation, hypergraph_of, taken_names
from zodiac_sql.change import Change, HypernodeChange
from zodiac_sql.check import in_order
from zodiac_sql.difference import Difference, differences_of, settled
from zodiac_sql.equivalence import same
from zodiac_sql.errors import Problem, ProgramError, QueryError
from zodiac_sql.extension import decoded, distinct_query, sources_of
from zodiac_sql.facts import stage_rows
from zodiac_sql.functions import Functions
from zodiac_sql.hypernodes import Hypergraph
from zodiac_sql.maintain.contract import KEPT, RANKED
from zodiac_sql.materialise import Materialisation, Net, Progress, materialise
from zodiac_sql.parse import parse_what_can_be
from zodiac_sql.program import (
    Planned,
    declare,
    naming,
    plan_program,
    stored,
    with_staged,
    without_unused,
)
from zodiac_sql.publish import publish
from zodiac_sql.relations import SQL_TYPES, Part, Relation, columns_of, relation_query
from zodiac_sql.restructuring import Restructuring, unchanged
from zodiac_sql.rules import Atom, Constant, Program, Rule
from zodiac_sql.safety import symbols_in
from zodiac_sql.schema import Predicate, Staged, resolve
from zodiac_sql.store import Store
from zodiac_sql.trees import (
    anti_join,
    create_temp,
    drop,
    drop_view,
    semi_join,
    temp_table,
    union_all,
)
from zodiac_sql.unknown import unknown

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.load import Loaded


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
            and not (update._arrivals or update._dropped or update._problems)
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
    prepared: Prepared | None = None
    loaded: list[Loaded] = field(default_factory=list)
    _schema: dict[str, Predicate] = field(default_factory=dict)
    _prefixes: dict[str, str] = field(default_factory=dict)
    _arrivals: list[Arrival] = field(default_factory=list)
    _problems: list[Problem] = field(default_factory=list)
    _dropped: set[str] = field(default_factory=set)
    _inserts: dict[str, list[Staged]] = field(default_factory=lambda: defaultdict(list))
    _deletes: dict[str, list[Staged]] = field(default_factory=lambda: defaultdict(list))
    _remarks: list[str] = field(default_factory=list)
    _graph: Hypergraph | None = None
    _change: Change | None = None
    _started: float = field(default_factory=time.perf_counter)
    _seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._schema = dict(self.state.schema)
        self._prefixes = dict(self.state.prefixes)

    @property
    def change(self) -> Change:
        """What the update did. Raises QueryError as long as it has not been applied."""
        if self._change is None:
            raise QueryError("an update's change is known when its with block has ended")
        return self._change

    # Verbs

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
        if replace:
            self._replace(program)
        self._arrivals.append(Arrival(program, strict))
        for declaration in program.declarations:
            self._schema, problems = declare(self._schema, declaration, self._names())
            self._problems += problems

    def drop_rules(self, *rules: str | Path, strict: bool = False) -> None:
        """Remove rules: by name, as text, or all of a file.

        A string that is no rule's name is a path if it ends in .rules or .dl, and text if it has an
        arrow. A rule given as text need not be written as it was added: labels, names of variables
        and the order of the body do not matter. One that is not there is passed over, and told in
        the change's notes; with `strict` it is an error (QueryError). Raises ProgramError for a text
        that cannot be read.
        """
        for given in rules:
            absent = self._drop(given)
            if absent and strict:
                names = ", ".join(sorted(self._names_of_rules()))
                raise QueryError(f"{'; '.join(absent).removesuffix('.')}. The rules are: {names}")
            self._remarks += absent

    def insert(self, predicate: str, rows: object) -> None:
        """Insert explicit facts: tuples, or a table in columns. Raises DataError."""
        name = resolve(predicate, self._schema, self._prefixes)
        with self._timed("stage"):
            staged = stage_rows(self.store, name, rows, self._schema.get(name))
        if staged is not None:
            self._settle(staged)
            self._inserts[name].append(staged)

    def delete(self, predicate: str, rows: object) -> None:
        """Delete explicit facts; those that are not there are passed over. Raises DataError.

        The change's notes tell how many are not explicit, but derived: those stay.
        """
        name = resolve(predicate, self._schema, self._prefixes)
        known = self._schema.get(name)
        if known is None or known.open:
            return
        with self._timed("stage"):
            staged = stage_rows(self.store, name, rows, known, gone=True)
        if staged is not None:
            self._deletes[name].append(staged)

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
                absent += _absent(self.store, known, staged)
        if absent:
            facts = "1 fact is" if absent == 1 else f"{absent} facts are"
            note = f"{path}: {facts} not among the explicit facts, and passed over"
            loaded = replace(loaded, notes=(*loaded.notes, note))
        self.loaded.append(loaded)

    # How

    def _drop(self, given: str | Path) -> list[str]:
        """Drop what is given by name, as text or as a file. Returns what is not there, in words."""
        if isinstance(given, str) and given in self._names_of_rules():
            self._drop_named({given})
            return []
        if isinstance(given, str) and not _is_text(given):
            return [f"there is no rule named {given}"]
        text, name = rule_text(given)
        program, problems = parse_what_can_be(text, name, self._prefixes)
        if problems:
            raise ProgramError(in_order(problems))
        if program.facts:
            facts = (
                "1 fact stays" if len(program.facts) == 1 else f"{len(program.facts)} facts stay"
            )
            self._remarks.append(f"{name}: {facts}, for dropping rules deletes none")
        return [told for rule in program.rules if (told := self._drop_equal(rule))]

    def _drop_equal(self, rule: Rule) -> str:
        """Drop the rule that says the same. Returns what to say if there is none."""
        found = {other.name for other in self._known_rules() if same(rule, other)}
        waiting = {
            other for arrival in self._arrivals for other in arrival.program.rules
            if same(rule, other)
        }  # fmt: skip
        if not found and not waiting:
            return f"there is no rule {' '.join(rule.text.split())}"
        self._dropped |= found
        self._forget(waiting)
        return ""

    def _drop_named(self, names: Collection[str]) -> None:
        self._dropped |= {rule.name for rule in self.state.rules}.intersection(names)
        self._forget(
            {rule for a in self._arrivals for rule in a.program.rules if rule.name in names}
        )

    def _forget(self, rules: Collection[Rule]) -> None:
        """Let rules that this update has added not arrive after all."""
        self._arrivals = [
            replace(
                arrival,
                program=replace(
                    arrival.program,
                    rules=tuple(r for r in arrival.program.rules if r not in rules),
                ),
            )
            for arrival in self._arrivals
        ]

    def _replace(self, program: Program) -> None:
        """Drop the rules whose names other rules of a program have."""
        waiting = (rule for arrival in self._arrivals for rule in arrival.program.rules)
        there = {rule.name: rule for rule in (*self._known_rules(), *waiting)}
        self._drop_named(
            {
                rule.name
                for rule in program.rules
                if rule.name in there and not same(rule, there[rule.name])
            }
        )

    def _names_of_rules(self) -> set[str]:
        """The names of all rules that there are, and that this update has added so far."""
        there = {rule.name for rule in self.state.rules} - self._dropped
        return there.union(
            rule.name for a in self._arrivals for rule in a.program.rules if rule.name
        )

    def _known_rules(self) -> Iterable[Rule]:
        """The rules in the file that this update has not dropped."""
        return (rule for rule in self._before().rules() if rule.name not in self._dropped)

    def _before(self) -> Hypergraph:
        """The HRDG as it is; parsed from the catalog if no change before this one has."""
        if self._graph is None:
            known = self.prepared is not None and self.prepared.rules is self.state.rules
            self._graph = self.prepared.graph if known and self.prepared else None
            self._graph = self._graph or hypergraph_of(self.state)
        return self._graph

    def _load(self, path: str | Path, predicate: str | None, skip_bad: bool) -> Loaded:
        """Stage the facts of a file."""
        from zodiac_sql.load import load_file  # imported late: most changes read no file

        name = resolve(predicate, self._schema, self._prefixes) if predicate else None
        return load_file(self.store, path, self._schema, predicate=name, skip_bad=skip_bad)

    def _settle(self, staged: Staged) -> None:
        self._schema = with_staged(
            self._schema,
            staged.predicate,
            staged.columns,
            staged.datatypes,
            staged.named,
            self._names(),
        )

    def _names(self) -> Callable[[str, Mapping[str, Predicate]], str]:
        return naming(self._prefixes, lambda: taken_names(self.store, self.state.schema))

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            self._seconds[phase] = self._seconds.get(phase, 0.0) + spent

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
            )  # fmt: skip
        differences = {name: difference.published() for name, difference in differences.items()}
        structure = work.planned.restructuring
        clean(self.store, _tables(differences), others=structure.before is not structure.after)
        self.prepared = self.prepared.settled(state)
        self._change = self._described(work, differences, state, is_current)
        return state

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
        ids: Mapping[str, int] = self.state.ids
        with self._timed("check"):
            if self.prepared is None or not self.prepared.fits(self):
                planned = self._plan()
                self.prepared = Prepared(None, {}, self.functions, planned, self._lasting(planned))
                ids = {}
            else:
                planned = self.prepared.planned
        with self._timed("stage"):
            self._stage_facts(planned)
            kept = self.prepared.kept
            net = _net(self.store, self.state, planned.schema, self._inserts, self._deletes, kept)
            self._remarks += planned.remarks
            self._remarks += _only_derived(self.store, self.state, planned, self._deletes)
            before = planned.restructuring.before.rules()
            ids = ids or _known_ids(self.store, self.state, [*planned.rules, *before])
        with self._timed("reason"):
            work = materialise(
                self.store, self.state, planned, net, self.functions, ids, self.prepared.kept,
                self.strategy, progress,
            )  # fmt: skip
        return work, net, ids

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
                self._before(),
                self._arrivals,
                self._dropped,
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
        for arrival in self._arrivals:
            for fact in arrival.program.facts:
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
        rules, hypernodes = stored(self.state, planned, work.ranked)
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
        return tuple(dict.fromkeys(notes))

    def _described(
        self,
        work: Materialisation,
        differences: Mapping[str, Difference],
        state: State,
        is_current: Callable[[State], bool],
    ) -> Change:
        hypernodes = _hypernodes(work.planned.restructuring, work.evaluated)
        facts = _Facts(self.store, self.state.schema, state, dict(differences), is_current)
        return Change(
            {n: d.inserted_count for n, d in differences.items() if d.inserted_count},
            hypernodes,
            {"seconds": dict(self._seconds), "hypernodes": work.evaluated},
            time.perf_counter() - self._started,
            self._notes(work),
            facts.deleted,
            facts.table,
            (work.planned.restructuring.before, work.planned.graph),
        )


def _hypernodes(restructuring: Restructuring, evaluated: Collection[str]) -> HypernodeChange:
    """What became of hypernodes, by name."""
    merged, split = restructuring.merged, restructuring.split
    apart = {*restructuring.created, *merged, *(n for parts in split.values() for n in parts)}
    others = [h for h in restructuring.after.hypernodes if h.id not in apart]
    worked = {h.id for h in others if h.name in evaluated or h.id in restructuring.heritages}
    return HypernodeChange(
        created=_named(sorted(restructuring.created)),
        merged={f"h{number}": _named(old) for number, old in merged.items()},
        split={f"h{number}": _named(new) for number, new in split.items()},
        dropped=_named(restructuring.dropped),
        updated=_named(h.id for h in others if h.id in worked),
        untouched=_named(h.id for h in others if h.id not in worked),
    )


def _same_table(before: Predicate | None, after: Predicate | None) -> bool:
    """Whether SQL sees the same in a predicate."""
    return bool(
        before and after and (before.sql_name, before.columns) == (after.sql_name, after.columns)
    )


def _named(numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"h{number}" for number in numbers)


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts of a change, for as long as they are kept."""

    store: Store
    before: Mapping[str, Predicate]
    state: State
    differences: dict[str, Difference]
    is_current: Callable[[State], bool]

    def deleted(self) -> dict[str, int]:
        """How many facts left each extension."""
        for name, difference in self.differences.items():
            if difference.waits:
                self._require_current()
                self.differences[name] = settled(self.store, self.state, name, difference)
        return {n: d.deleted_count for n, d in self.differences.items() if d.deleted_count}

    def table(self, which: str, predicate: str, limit: int | None) -> pa.Table:
        self._require_current()
        self.deleted()
        schemas = (self.before, self.state.schema)
        schema = (
            {**schemas[0], **schemas[1]} if which == "inserted" else {**schemas[1], **schemas[0]}
        )
        name = resolve(predicate, schema, self.state.prefixes)
        if name not in schema:
            raise QueryError(f"there is no predicate {predicate}")
        relation = self._relation(which, schema[name])
        facts = distinct_query(relation)
        query = decoded(
            relation, facts if limit is None else facts.limit(limit), f'temp."{dictionary.KNOWN}"'
        )
        return self.store.arrow(query)

    def _require_current(self) -> None:
        if not self.is_current(self.state) or generation(self.store) != self.state.generation:
            raise QueryError(
                "the facts of a change are kept until the next change begins: ask before it"
            )

    def _relation(self, which: str, predicate: Predicate) -> Relation:
        difference = self.differences.get(predicate.name)
        if difference is None:
            return Relation(predicate.columns, ())
        if which == "deleted":
            return difference.deleted
        if difference.all_new:
            return sources_of(self.state).relation(predicate.name)
        return difference.inserted


def _tables(differences: Mapping[str, Difference]) -> frozenset[str]:
    """The tables that a change's facts are read from."""
    return frozenset(
        part.table
        for difference in differences.values()
        for part in (*difference.inserted.parts, *difference.deleted.parts)
    )


_PATH = re.compile(r"[^\n%()]+\.(rules|dl)")
_CLAUSE = re.compile(r":-|<-|←|\)\s*\.")


def _is_text(given: str) -> bool:
    """Whether a string is the text of rules or facts, or a path, rather than a name."""
    return bool(_CLAUSE.search(given) or _PATH.fullmatch(given.strip()))


def rule_text(rules: str | Path) -> tuple[str, str]:
    """The text of rules given as text or as a file, and the name to call it by."""
    if isinstance(rules, str) and not _PATH.fullmatch(rules.strip()):
        return rules, "<rules>"
    path = Path(rules)
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ProgramError([Problem(f"cannot read {path}: {reason}")]) from error


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
        " SELECT view_name, NULL FROM duckdb_views() WHERE temporary AND starts_with(view_name, $1)",
        [RANKED],
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


# --- net changes of explicit facts ----------------------------------------------------------------


def _net(
    store: Store,
    state: State,
    schema: Mapping[str, Predicate],
    inserts: Mapping[str, list[Staged]],
    deletes: Mapping[str, list[Staged]],
    kept: Kept,
) -> Net:
    """E+ = E+ without E, and E- = (E- within E) without E+, as temporary tables."""
    plus = {}
    minus = {}
    for name, staged in inserts.items():
        there = bool(state.rows.get(("edb", schema[name].sql_name)))
        table = f"{KEPT}edb_plus_{schema[name].sql_name}"
        make = partial(_net_inserts, store, schema[name], staged, there, table)
        rows = store.count(kept.of(name).get((table, there, _shape(schema[name], staged)), make))
        if rows:
            plus[name] = Part("temp", table, rows)
    for name, staged in deletes.items():
        if ("edb", schema[name].sql_name) in state.rows:
            table = f"{KEPT}edb_minus_{schema[name].sql_name}"
            back = inserts.get(name, [])
            make = partial(_net_deletes, store, schema[name], staged, back, table)
            shape = _shape(schema[name], staged), _shape(schema[name], back)
            rows = store.count(kept.of(name).get((table, shape), make))
            if rows:
                minus[name] = Part("temp", table, rows)
    return Net(plus, minus)


def _only_derived(
    store: Store, state: State, planned: Planned, deletes: Mapping[str, list[Staged]]
) -> list[str]:
    """Remarks on facts that were to be deleted but are not explicit: rules derive them."""
    sources = sources_of(state) if deletes else None
    remarks = []
    for name, staged in deletes.items():
        assert sources is not None
        predicate = planned.schema[name]
        derived = [p for parts in sources.derived.get(name, {}).values() for p in parts if p.rows]
        if not derived:
            continue
        explicit = Relation(predicate.columns, sources.explicit.get(name, ()))
        asked = f"asked_{predicate.sql_name}"
        if not store.count(create_temp(asked, unknown(_staged(predicate, staged), explicit))):
            continue
        columns = columns_of(explicit, "c")
        query = exp.select(exp.Count(this=exp.Star())).from_(temp_table(asked).as_("c"))
        there = relation_query(Relation(predicate.columns, tuple(derived)))
        count = store.count(semi_join(query, columns, there.subquery(copy=False)))
        if count:
            facts = "1 fact" if count == 1 else f"{count} facts"
            remarks.append(
                f"{name}: {facts} kept, not explicit but derived by rules. Only without their "
                "sources, or without the rule, do such facts go."
            )
    return remarks


def _shape(predicate: Predicate, staged: list[Staged]) -> Hashable:
    """All that the SQL for staged facts depends on."""
    return predicate.columns, tuple((one.table, one.columns) for one in staged)


def _net_inserts(
    store: Store, predicate: Predicate, staged: list[Staged], there: bool, table: str
) -> str:
    relation = Relation(predicate.columns, ())
    columns = columns_of(relation, "c")
    query = (
        exp.select(*columns).distinct().from_(_staged(predicate, staged).subquery("c", copy=False))
    )
    if there:
        query = anti_join(query, columns, _explicit(predicate))
    return store.render(create_temp(table, query))


def _net_deletes(
    store: Store, predicate: Predicate, staged: list[Staged], inserted: list[Staged], table: str
) -> str:
    columns = columns_of(Relation(predicate.columns, ()), "c")
    query = (
        exp.select(*columns).distinct().from_(_staged(predicate, staged).subquery("c", copy=False))
    )
    query = semi_join(query, columns, _explicit(predicate), "e")
    if inserted:
        query = anti_join(query, columns, _staged(predicate, inserted).subquery(copy=False))
    return store.render(create_temp(table, query))


def _absent(store: Store, known: Predicate | None, staged: Staged) -> int:
    """How many staged facts are no explicit facts of a predicate; all of them if it has none."""
    columns = columns_of(Relation(known.columns if known else staged.columns, ()), "c")
    facts = _staged(known, [staged]) if known else exp.select("*").from_(temp_table(staged.table))
    query = exp.select(*columns).distinct().from_(facts.subquery("c", copy=False))
    if known:
        query = anti_join(query, columns, _explicit(known))
    return store.count(
        exp.select(exp.Count(this=exp.Star())).from_(query.subquery("n", copy=False))
    )


def _explicit(predicate: Predicate) -> exp.Table:
    return exp.table_(predicate.sql_name, db="edb", quoted=True)


def _staged(predicate: Predicate, staged: list[Staged]) -> exp.Query:
    """Staged tables as one query with the predicate's column names and types."""
    queries = []
    stored_columns = Relation(predicate.columns, ()).stored
    for one in staged:
        given = Relation(one.columns, ()).stored
        query = exp.select().from_(temp_table(one.table))
        for column, target in zip(given, stored_columns, strict=True):
            value: exp.Expr = exp.column(column.name, quoted=True)
            if column.type is not target.type and target.type is not None:
                value = exp.cast(value, SQL_TYPES[target.type])
            query = query.select(value.as_(target.name, quoted=True), copy=False)
        queries.append(query)
    return union_all(queries)


def _known_ids(store: Store, state: State, rules: Iterable[Rule]) -> dict[str, int]:
    """Dictionary ids of all symbols that rules mention; new ones are added to the dictionary."""
    missing = symbols_in(rules).difference(state.ids)
    return {**state.ids, **dictionary.ids_of(store, missing)}
