"""The program after a change: its rules, schema and HRDG, or every reason why it cannot be.

Pure: nothing here touches the database.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zodiac_sql.errors import DataError, Problem, ProgramError
from zodiac_sql.graph.few_rules import following
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.graph.restructuring import Restructuring, restructure
from zodiac_sql.language.binding import used_functions
from zodiac_sql.language.functions import Function, Functions
from zodiac_sql.language.head_names import named_by_heads
from zodiac_sql.language.schema import Predicate, Staged, default_columns, local_name, sql_name
from zodiac_sql.language.syntax import (
    Atom,
    Column,
    Declaration,
    Rule,
    Type,
)
from zodiac_sql.language.templates import fixed_atoms, is_template
from zodiac_sql.language.types import joined
from zodiac_sql.language.zones import is_zoned, united
from zodiac_sql.names import DERIVED_SCHEMA, RESERVED, derived, is_constraint, why_not
from zodiac_sql.program.arrivals import Arrival, Arrived, arrive
from zodiac_sql.program.check import Candidate, arities, check, in_order
from zodiac_sql.program.doubts import Surroundings, doubts, notes
from zodiac_sql.program.expand import Expanded, expand
from zodiac_sql.program.lone_variables import Symbols
from zodiac_sql.program.possible_facts import NO_FACTS, Explicit
from zodiac_sql.program.rule_sets import SetLabels
from zodiac_sql.program.state import State, parsed_templates
from zodiac_sql.program.typed_program import TypedProgram, moved, with_types

Names = Callable[[str], str]
"""How a new predicate gets its SQL name."""


@dataclass(frozen=True, slots=True)
class Edited:
    """The rules that a change adds, the names of those that go, and the places that are left.

    `places` gets those of the new rules, too.
    """

    arrivals: Sequence[Arrival]
    dropped: Collection[str] = ()
    places: SetLabels = field(default_factory=SetLabels)
    passed_over: Sequence[Rule] = ()
    """Rules that name columns of which nobody knows: they are refused, but derive something."""

    def deriving(self, rules: Sequence[Rule]) -> Sequence[Rule]:
        """Rules, and those that were passed over."""
        return (*rules, *self.passed_over)

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """The declarations in the texts that are added."""
        return tuple(d for arrival in self.arrivals for d in arrival.program.declarations)

    @property
    def facts(self) -> tuple[Atom, ...]:
        """The facts in the texts that are added."""
        return tuple(fact for arrival in self.arrivals for fact in arrival.program.facts)


@dataclass(frozen=True, slots=True)
class Planned:
    """A program that has passed every check, not yet evaluated."""

    rules: tuple[Rule, ...]
    graph: Hypergraph
    schema: Mapping[str, Predicate]
    functions: Mapping[str, Function]
    """Registered functions that the rules use."""
    restructuring: Restructuring
    places: SetLabels
    """The places of rules in sets."""
    templates: tuple[Rule, ...] = ()
    """The rules with variables for predicates, of which some of `rules` are made."""
    read: frozenset[str] = frozenset()
    """The predicates whose facts say which rules are made of templates."""
    remarks: tuple[str, ...] = ()
    """On rules that are there already, and on what looks like a mistake."""


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What is known of explicit facts while a program is made."""

    predicates: Collection[str]
    """Those that have some, or get some."""
    after: Explicit = NO_FACTS
    symbols: Symbols | None = None
    """Tells which are known, if anybody knows."""


def plan_program(
    state: State,
    before: Hypergraph,
    edits: Edited,
    provisional: Mapping[str, Predicate],
    explicit: KnownFacts,
    functions: Functions,
    names: Names,
) -> Planned:
    """The program that a change makes of `state`, whose HRDG is `before`, or a ProgramError.

    `provisional` is the schema with what declarations and staged facts have settled.
    """
    kept = _kept(state, before, edits)
    new = arrive(edits.arrivals, kept, edits.dropped, edits.places)
    (plain, templates), facts = _told_apart((*kept, *new.rules)), edits.facts
    made = expansion(templates, plain, facts, provisional, explicit.after)
    rules = (*plain, *made.rules)
    arriving = [*_atoms([*new.rules, *made.rules]), *facts]
    filled = explicit.predicates
    provisional = _renewed(provisional, kept, filled, arriving)
    known = {**state.functions, **functions}
    added = frozenset(rule.name for rule in new.rules)
    candidate = Candidate(rules, added, edits.declarations, facts, provisional, known, templates)
    deriving = edits.deriving(rules)
    around = Surroundings(deriving, facts, filled, provisional, known, explicit.symbols)
    doubted, remarks = _doubted(new, before, around)
    problems = [*new.problems, *made.problems, *check(candidate), *doubted]
    if any(arities(candidate)):
        raise ProgramError(in_order(problems))  # without arities there are no columns to type

    came, gone = moved(before, rules)
    mentioned = with_mentioned(provisional, arriving, names)
    named = named_by_heads(mentioned, came, before.derivers, filled)
    program = TypedProgram(rules, came, gone, named)
    program = with_types(program, state, before, facts, known, problems)
    graph = following(before, program.rules, program.came, program.gone, state.next_hypernode)
    return Planned(
        program.rules,
        graph,
        program.schema,
        _used(rules, known),
        restructure(before, graph, lambda h, p: _rows(state, h, p)),
        edits.places,
        templates,
        made.read,
        (*new.remarks, *remarks),
    )


def _used(rules: Sequence[Rule], known: Functions) -> dict[str, Function]:
    """The registered functions that rules use."""
    used = used_functions(rules) if known else ()
    return {name: function for name, function in known.items() if name in used}


def _doubted(
    new: Arrived, before: Hypergraph, around: Surroundings
) -> tuple[list[Problem], tuple[str, ...]]:
    """What looks like a mistake in new rules: as problems where texts are strict, else as remarks.

    Of a predicate that other rules read before, it was told then that it has no facts.
    """
    strict = doubts((rule for rule in new.rules if rule.name in new.strict), around)
    others = doubts((rule for rule in new.rules if rule.name not in new.strict), around)
    told = notes([one for one in others if one.predicate not in before.readers])
    return [one.problem for one in strict], tuple(told)


def _told_apart(written: Iterable[Rule]) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules without and with variables for predicates."""
    rules = tuple(written)
    templates = tuple(rule for rule in rules if is_template(rule))
    return tuple(rule for rule in rules if not is_template(rule)), templates


def expansion(
    templates: Sequence[Rule],
    others: Sequence[Rule],
    facts: Iterable[Atom],
    schema: Mapping[str, Predicate],
    after: Explicit,
) -> Expanded:
    """The rules made of templates in a program with other rules, facts and declarations."""
    if not templates:
        return Expanded()
    there = {
        name: known.arity
        for name, known in schema.items()
        if known.declared or after.is_there(name)
    }
    for atom in (*_atoms([*others, *templates]), *facts):
        if is_constraint(atom.predicate):
            continue
        there.setdefault(atom.predicate, len(atom.terms))
    return expand(templates, others, there, after)


def _kept(state: State, before: Hypergraph, edits: Edited) -> list[Rule]:
    """The rules that stay, as users have written them.

    They get the name of a place that they still have, if the one of their name is gone.
    """
    parsed = {rule.name: rule for rule in (*before.rules(), *parsed_templates(state))}
    rules = [parsed[rule.name] for rule in state.written if rule.name not in edits.dropped]
    names = edits.places.renamed(rule.name for rule in rules)
    for old, new in names.items():
        edits.places.rename(old, new)
    return [replace(r, name=names[r.name]) if r.name in names else r for r in rules]


def _renewed(
    schema: Mapping[str, Predicate],
    kept: Sequence[Rule],
    explicit: Collection[str],
    arriving: Iterable[Atom],
) -> dict[str, Predicate]:
    """A schema in which predicates that only dropped rules had get the arity of arriving atoms."""
    arities = {atom.predicate: len(atom.terms) for atom in arriving}
    if all(name not in schema or schema[name].arity == arities[name] for name in arities):
        return dict(schema)
    mentioned = {atom.predicate for atom in _atoms(kept)}.union(explicit)
    return {
        name: known
        if known.declared or name in mentioned or arities.get(name, known.arity) == known.arity
        else _open(name, known.sql_name, arities[name])
        for name, known in schema.items()
    }


def _rows(state: State, hypernode: int, predicate: str) -> int:
    """How many rows a hypernode's table of a predicate has."""
    return state.rows.get((DERIVED_SCHEMA, derived(hypernode, state.schema[predicate].sql_name)), 0)


def declare(
    schema: Mapping[str, Predicate], declaration: Declaration, names_: Names
) -> tuple[dict[str, Predicate], list[Problem]]:
    """A schema with a declaration applied, and what contradicts it."""
    name = declaration.predicate
    known = schema.get(name)
    names = [column.name.lower() for column in declaration.columns]
    if len(set(names)) < len(names):
        message = f"{name} is declared with two columns of the same name"
        return dict(schema), [Problem(message, declaration.span, "SQL ignores case in names.")]
    if known is not None and known.arity != len(declaration.columns):
        return dict(schema), []  # check.arities says so, with all other problems
    types = tuple(column.meant for column in declaration.columns)
    if known is not None and any(known.settled):
        same = [column.name for column in known.columns] == [c.name for c in declaration.columns]
        if known.settled != types or not same:
            told = ", ".join(
                f"{c.name}: {t}" for c, t in zip(known.columns, known.settled, strict=True)
            )
            return dict(schema), [
                Problem(
                    f"{name} has facts already, as {name}({told})", declaration.span,
                    "A declaration comes before the first facts; this one must say the same."
                    + _former_floats(name, known, types),
                )
            ]  # fmt: skip
    base = known or _new_predicate(name, len(types), names_)
    declared = replace(base, columns=declaration.columns, settled=types, declared=True)
    return {**schema, name: declared}, []


def with_mentioned(
    schema: Mapping[str, Predicate], atoms: Iterable[Atom], names: Names
) -> dict[str, Predicate]:
    """A schema with every predicate that atoms mention, new ones with open columns."""
    result = dict(schema)
    for atom in atoms:
        if atom.predicate not in result:
            result[atom.predicate] = _new_predicate(atom.predicate, len(atom.terms), names)
    return result


def with_staged(
    schema: Mapping[str, Predicate],
    predicate: str,
    columns: tuple[Column, ...],
    datatypes: tuple[str | None, ...],
    is_named: bool,
    names_: Names,
) -> Predicate:
    """A predicate after facts that arrived have settled its types.

    Raises DataError for columns whose names are reserved.
    """
    if is_constraint(predicate):
        raise DataError(f"{predicate} has what violates a constraint: only that can be its facts.")
    known = schema.get(predicate) or _new_predicate(predicate, len(columns), names_)
    fresh = not any(known.settled) and not known.declared
    settled = tuple(t or c.meant for t, c in zip(known.settled, columns, strict=True))
    if fresh:
        kept = datatypes
        names = [c.name for c in (columns if is_named else known.columns)]
        for name in names:
            if name.lower() in RESERVED:
                raise DataError(
                    f"{predicate}: no column can be called {name}, a name that zodiac_sql needs "
                    "for columns of its own. Give it another name."
                )
    else:
        kept = tuple(
            a if a == b or type_ in (Type.SYMBOL, Type.ANY) else _united(a, b)
            for a, b, type_ in zip(known.datatypes, datatypes, settled, strict=True)
        )
        names = [c.name for c in known.columns]
    named_columns = tuple(Column(n, t) for n, t in zip(names, settled, strict=True))
    return replace(known, columns=named_columns, settled=settled, datatypes=kept)


def with_told(schema: Mapping[str, Predicate], staged: Staged, names_: Names) -> Predicate:
    """A predicate of which a table without rows tells, unless it is declared already."""
    known = schema.get(staged.predicate)
    if known is not None and known.declared and not known.awaits_facts:
        return known
    found = with_staged(
        {} if known is None else {known.name: known.without_told()},
        staged.predicate,
        columns=staged.columns,
        datatypes=staged.datatypes,
        is_named=staged.named,
        names_=names_,
    )
    if known is None or not known.awaits_facts:
        return found.with_told(found.settled)
    return found.with_told([*map(joined, known.told, found.settled)])


def without_unused(
    schema: Mapping[str, Predicate], graph: Hypergraph, explicit: Collection[str]
) -> dict[str, Predicate]:
    """A schema without predicates that have no rule, no explicit fact and no declaration."""
    return {
        name: predicate
        for name, predicate in schema.items()
        if name in graph.readers or name in graph.derivers or name in explicit or predicate.declared
    }


def _atoms(rules: Iterable[Rule]) -> Iterator[Atom]:
    """The atoms of rules, except those with variables for predicates."""
    return (atom for rule in rules for atom in fixed_atoms(rule))


def _former_floats(name: str, known: Predicate, types: Sequence[Type | None]) -> str:
    """What to do about columns of floats that are declared as decimals: once these were floats."""
    pairs = zip(known.columns, known.settled, types, strict=True)
    floats = [c.name for c, old, new in pairs if (old, new) == (Type.FLOAT, Type.DECIMAL)]
    if not floats:
        return ""
    given = ", ".join(f'"{column}": "decimal"' for column in floats)
    return (
        " Until December 2026, decimal was another name of float: declare float, or call "
        f"kb.alter({name!r}, {{{given}}})."
    )


def _new_predicate(name: str, arity: int, names: Names) -> Predicate:
    if reason := why_not(name):
        raise DataError(f"there cannot be a predicate {name!r}: {reason}.")
    return _open(name, names(name), arity)


def _open(name: str, sql_name_: str, arity: int) -> Predicate:
    """A predicate of which nothing is settled."""
    columns = tuple(Column(column, None) for column in default_columns(arity))
    nothing = (None,) * arity
    return Predicate(name, sql_name_, columns, nothing, nothing)


@dataclass(slots=True)
class SqlNames:
    """Gives the new predicates of a change their names in SQL.

    `ask` returns the names that are taken, in lower case. It is called once, for the first new
    predicate. `makes_way` tells whether what has a name gives it up for a predicate.
    """

    ask: Callable[[], Collection[str]]
    makes_way: Callable[[str], bool] = lambda _: False
    given: dict[str, str] = field(default_factory=dict)
    _taken: set[str] | None = None
    _numbers: dict[str, int] = field(default_factory=dict)

    def name(self, predicate: str, prefixes: Mapping[str, str]) -> str:
        """The name of a predicate, different from all others where case is ignored."""
        if self._taken is None:
            self._taken = set(self.ask())
        if predicate not in self.given:
            local = local_name(predicate).lower()
            if local in self._taken and self.makes_way(local):
                self._taken.remove(local)
            found = sql_name(predicate, prefixes, self._taken, self._numbers)
            self.given[predicate] = found
            self._taken.add(found.lower())
        return self.given[predicate]


def _united(before: str | None, found: str | None) -> str | None:
    """The RDF datatype of a column that gets facts of another; None if there is none in common.

    Instants stay instants, whatever the zone in which they are written.
    """
    return united(before, found) if is_zoned(before) and is_zoned(found) else None
