"""What the verbs of one update have said so far.

Facts are staged and type-checked as they are given, and settle the columns of their predicates.
Rules are parsed as they are given, and checked together when the update is applied
(change/apply.py).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from zodiac_sql.change.change import Change, Streamed
from zodiac_sql.change.exact_floats import require_exact_floats
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.settings import Settings
from zodiac_sql.database.store import Store
from zodiac_sql.errors import Problem, Violation
from zodiac_sql.facts.stage import stage_rows, staged_explicit
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.schema import Predicate, Staged, resolve
from zodiac_sql.language.syntax import Constant, Declaration, Program, Rule, Type
from zodiac_sql.maintain.papers.marking import Marks
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.program.build import Names, SqlNames, declare, with_staged
from zodiac_sql.program.feed import Keeping
from zodiac_sql.program.rule_edits import RuleEdits
from zodiac_sql.program.rule_sets import Into
from zodiac_sql.program.set_facts import is_of_facts, with_facts_of_set
from zodiac_sql.program.state import State, hypergraph_of, parsed_templates
from zodiac_sql.sql.relations import Part
from zodiac_sql.storage.catalog import others_names
from zodiac_sql.storage.triples import TRIPLE, whose_view

if TYPE_CHECKING:
    from zodiac_sql.change.directly import Write
    from zodiac_sql.change.load_files import File
    from zodiac_sql.change.plan_sizes import Plan
    from zodiac_sql.facts.load.result import Loaded


@dataclass(slots=True)
class Before:
    """The program before an update."""

    state: State
    prepared: Prepared | None
    _graph: Hypergraph | None = None

    def graph(self) -> Hypergraph:
        """Its HRDG; parsed from the catalog unless an earlier change did so."""
        if self._graph is None:
            known = self.prepared is not None and self.prepared.rules is self.state.rules
            self._graph = self.prepared.graph if known and self.prepared else None
            self._graph = self._graph or hypergraph_of(self.state)
        return self._graph

    def written(self) -> Iterator[Rule]:
        """Its rules, as users have written them."""
        yield from (rule for rule in self.graph().rules() if rule.origin is None)
        yield from parsed_templates(self.state)


@dataclass(slots=True)
class Collected:
    """What an update is to change, and what is known before it.

    Rule: nothing in it refers to it, so its facts and states are freed when the update is over.
    Reason: what refers to itself stays until Python looks for garbage: for thousands of updates.
    """

    store: Store
    state: State
    functions: Functions
    settings: Settings
    prepared: Prepared | None
    """The prepared program as it is before the update."""
    marks: Marks | None
    """What the previous update has found out about this one."""
    check: bool = True
    """Whether the update is refused if it violates constraints anew."""
    violations: tuple[Violation, ...] = ()
    """Those that the update brings, and that do not refuse it."""
    streamed: Streamed | None = None
    """Which updates of a stream this one applies."""
    inserts: dict[str, list[Staged]] = field(default_factory=lambda: defaultdict(list))
    deletes: dict[str, list[Staged]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, Part] = field(default_factory=dict)
    """Facts to be deleted that the previous update has looked up already, by predicate."""
    ahead: dict[str, tuple[object, Staged]] = field(default_factory=dict)
    """What the next update deletes, by predicate: the rows as given, and staged."""
    positions: dict[str, int] = field(default_factory=dict)
    keeping: Keeping | None = None
    """What is to be in the change feed from then on."""
    retyped: list[str] = field(default_factory=list)
    """Predicates whose columns get other types, although they may have facts (alter.py)."""
    widened: list[str] = field(default_factory=list)
    """What is said of columns of ints that become floats by themselves."""
    loaded: list[Loaded] = field(default_factory=list)
    waiting: list[File] = field(default_factory=list)
    """The files that wait until all rules are known: these tell which columns are loaded."""
    remarks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    """The errors in texts of rules: all are reported together when the update is applied."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The time spent so far, by phase."""
    started: float = field(default_factory=time.perf_counter)
    proof: Write | None = None
    """Facts that the change has brought, which tell whether it is in the file (directly.py)."""
    change: Change | None = None
    plan: Plan | None = None
    """The change that the update made, once it was applied."""
    ended: bool = False
    """Whether the block of the update has been left. After that, no verb is accepted."""
    schema: Mapping[str, Predicate] = field(init=False)
    """The predicates after the update, as far as the verbs have settled them. It is that of `state`
    as long as they have settled nothing new."""
    prefixes: dict[str, str] = field(init=False)
    before: Before = field(init=False)
    rules: RuleEdits = field(init=False)
    sql_names: SqlNames = field(init=False)
    others: set[str] = field(default_factory=set)
    """Names, in lower case, of tables and views in main that belong to somebody else. They are
    looked up for the first new predicate."""
    _settled: dict[str, Predicate] | None = None
    """The schema, once it is one of the update's own."""
    _by_sql_name: dict[str, str] | None = None

    def __post_init__(self) -> None:
        self.schema = self.state.schema
        self.prefixes = dict(self.state.prefixes)
        self.before = Before(self.state, self.prepared)
        self.rules = RuleEdits(self.state.written, self.state.sets, self.before.written)
        self.sql_names = SqlNames(
            partial(_taken_names, self.store, self.state, self.others),
            partial(_makes_way, self.store, self.others),
        )

    def meant(self, predicate: str) -> str:
        """The predicate that a user's name for it means."""
        if predicate in self.schema:
            return predicate
        if self._by_sql_name is None:
            self._by_sql_name = {known.sql_name: name for name, known in self.schema.items()}
        return resolve(predicate, self.schema, self.prefixes, self._by_sql_name)

    def names(self) -> Names:
        """The function that gives new predicates their SQL names."""
        return lambda name: self.sql_names.name(name, self.prefixes)

    def add_program(self, program: Program, replace: bool, strict: bool, into: Into) -> None:
        """Collect a parsed text of rules."""
        self._note(program)
        self.rules.add(with_facts_of_set(program, into.name), replace, strict, into)

    def replace_set(self, program: Program, into: Into) -> None:
        """Collect a parsed text as the rules and facts of a set."""
        self._note(program)
        self._delete_facts_of_set(into.name)
        self.rules.replace_set(with_facts_of_set(program, into.name), into)

    def drop_set(self, name: str, strict: bool) -> None:
        """Collect that a set goes, with its facts."""
        self._delete_facts_of_set(name)
        self.rules.drop_set(name, strict)

    def _delete_facts_of_set(self, name: str) -> None:
        """Collect that the facts in the file that a set states go, unless it states them again."""
        bringing = {
            rule for label, rule in self.rules.places.labels(name).items() if is_of_facts(label)
        }
        if not bringing:
            return
        for rule in self.before.graph().rules():
            if rule.name in bringing:
                (stated,) = rule.positive_atoms()
                known = self.state.schema[stated.predicate]
                with self.timed("stage"):
                    self.deletes[known.name].append(staged_explicit(self.store, known))

    def _note(self, program: Program) -> None:
        """Collect what a text says besides its rules and facts."""
        self.prefixes.update(program.prefixes)
        self._by_sql_name = None
        for declaration in program.declarations:
            self.name_columns(declaration)

    def name_columns(self, declaration: Declaration) -> None:
        """Collect what a declaration says of the columns of its predicate."""
        self.schema, problems = declare(self.schema, declaration, self.names())
        self._settled = None
        self.problems += problems

    def stage(self, predicate: str, rows: object, *, gone: bool = False) -> Staged | None:
        """Stage rows of a predicate with the columns known so far; None if there are no rows."""
        with self.timed("stage"):
            return stage_rows(self.store, predicate, rows, self.schema.get(predicate), gone=gone)

    def insert(self, staged: Staged) -> None:
        """Collect facts that enter: they settle the columns of their predicate."""
        name = staged.predicate
        self._widen(staged)
        known = with_staged(
            self.schema,
            name,
            columns=staged.columns,
            datatypes=staged.datatypes,
            is_named=staged.named,
            names_=self.names(),
        )
        if self.schema.get(name) != known:
            self._settle(known)
        self.inserts[name].append(staged)

    def _widen(self, staged: Staged) -> None:
        """Let columns of ints become floats for facts with fractions."""
        known = self.schema.get(staged.predicate)
        if known is None or known.arity != len(staged.columns):
            return
        pairs = zip(known.columns, staged.columns, strict=True)
        self._let_be_floats(
            known,
            [old.name for old, new in pairs if (old.type, new.type) == (Type.INT, Type.FLOAT)],
        )

    def widen_for_texts(self) -> None:
        """The same for the facts in texts of rules, once all that was loaded is known."""
        fractions: dict[str, set[int]] = defaultdict(set)
        for fact in self.rules.facts():
            for place, term in enumerate(fact.terms):
                if isinstance(term, Constant) and term.type is Type.FLOAT:
                    fractions[self.meant(fact.predicate)].add(place)
        for name, places in fractions.items():
            known = self.schema.get(name)
            if known is not None and not known.declared:
                ints = [n for n, type_ in enumerate(known.settled) if type_ is Type.INT]
                names = [known.columns[place].name for place in ints if place in places]
                self._let_be_floats(known, names)

    def _let_be_floats(self, known: Predicate, names: Sequence[str]) -> None:
        """Let columns of ints become columns of floats. Raises DataError for ints that cannot."""
        if not names:
            return
        earlier = (*self.inserts.get(known.name, ()), *self.deletes.get(known.name, ()))
        require_exact_floats(self.store, earlier, names)
        self.widened.append(
            f"{known.name}: column {', '.join(names)} was int, and becomes float: "
            "there is a fraction"
        )
        self.remarks.append(self.widened[-1])
        columns = tuple(
            replace(c, type=Type.FLOAT) if c.name in names else c for c in known.columns
        )
        settled = tuple(
            Type.FLOAT if t and c.name in names else t
            for t, c in zip(known.settled, known.columns, strict=True)
        )
        self.retype(replace(known, columns=columns, settled=settled))

    def retype(self, known: Predicate) -> None:
        """Note that columns of a predicate get other types."""
        self._settle(known)
        self.retyped.append(known.name)

    def declare(self, predicate: str) -> None:
        """Note that a predicate is to be there, although it has no facts."""
        known = self.schema[predicate]
        if not known.declared:
            self._settle(replace(known, declared=True))

    def _settle(self, known: Predicate) -> None:
        """Note what a verb has settled of a predicate."""
        if self._settled is None:
            self._settled = dict(self.schema)
            self.schema = self._settled
        self._settled[known.name] = known
        if self._by_sql_name is not None:
            self._by_sql_name[known.sql_name] = known.name

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add the time spent inside the block to a phase."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - started


def _taken_names(store: Store, state: State, others: set[str]) -> set[str]:
    """The SQL names that no new predicate can have, in lower case. `others` gets some of them."""
    others |= others_names(store, state.schema)
    return {p.sql_name.lower() for p in state.schema.values()} | others


def _makes_way(store: Store, others: set[str], name: str) -> bool:
    """Whether a name is that of our view of triples, which is not one of `others` then."""
    if name != TRIPLE or whose_view(store) != "ours":
        return False
    others.discard(name)
    return True


def explicit_predicates(collected: Collected) -> set[str]:
    """The predicates that have explicit facts, or for which the update inserts or deletes some."""
    rows = collected.state.rows
    schema: Mapping[str, Predicate] = collected.state.schema
    there = {name for name, known in schema.items() if rows.get((EXPLICIT_SCHEMA, known.sql_name))}
    return there.union(collected.inserts, collected.deletes)
