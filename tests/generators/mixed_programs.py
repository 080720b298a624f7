"""Random programs with columns of type any beside native ones, and random changes to them.

Each column has a kind: the type that it is meant to have. Declared columns have it; others have
what their facts and rules give, and widen when others come. So a rule or a fact may turn out to be
ill-typed: then the oracle says so, and the change is to be refused.

By construction programs are stratified, by levels, and finite: recursive rules compute nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random

from generators.mixed_rules import MixedRules, chance
from generators.mixed_values import (
    MARKED,
    MARKS,
    NATIVE,
    POOLS,
    SUBJECTS,
    random_value,
    spellings,
    stands_for,
)
from generators.programs import Rule
from generators.typed_language import DERIVED_NAMES, EXPLICIT_NAMES
from support.mixed_literals import Marks, literal_of
from support.mixed_programs import Row, stored
from support.mixed_terms import (
    Elsewhere,
    MixedValue,
    Term,
    undeclared_term,
)
from support.mixed_types import (
    Clash,
    Types,
    check_body,
    column_types,
    is_ill_typed,
    joined,
    value_type,
    variable_types,
)
from support.naive import reads

DECLARED = (100, 70, 30)
"""How many of a hundred predicates of a program may have declarations."""


@dataclass(frozen=True)
class Predicate:
    name: str
    kinds: tuple[str, ...]
    level: int
    aggregate: bool = False
    declared: bool = True
    best: str = ""
    """MIN or MAX, if the last column has best values."""
    mark: str | None = None
    """Which literals the values of the last column are, if they come from RDF."""

    @property
    def settled(self) -> tuple[str | None, ...]:
        """The types of its columns before there are facts."""
        return tuple(kind if self.declared else None for kind in self.kinds)


@dataclass(frozen=True)
class Program:
    schema: tuple[Predicate, ...]
    rules: tuple[Rule, ...]

    @property
    def declarations(self) -> str:
        return "".join(
            f".decl {p.name}({', '.join(f'c{i}: {kind}' for i, kind in enumerate(p.kinds))})\n"
            for p in self.schema
            if p.declared
        )

    @property
    def marks(self) -> Marks:
        """What is known of the columns of predicates that come from RDF."""
        return {(p.name, len(p.kinds) - 1): p.mark for p in self.schema if p.mark}

    @property
    def strict(self) -> frozenset[str]:
        return frozenset(p.name for p in self.schema if p.declared)


@dataclass(frozen=True)
class Change:
    """One atomic change: facts and rules that leave and come."""

    inserts: Mapping[str, Sequence[Row]]
    deletes: Mapping[str, Sequence[Row]]
    add: tuple[Rule, ...] = ()
    drop: tuple[str, ...] = ()
    alter: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Predicates with the place of a column and its new type."""


# --- programs ------------------------------------------------------------------------------------


def random_program(rng: Random, rdf: bool = False) -> Program:
    """A program of two to five derived predicates over two to four explicit ones.

    Some of these come from `rdf`, and keep datatypes and time zones.
    """
    native = rng.choice(("int", "int", "decimal", "float", "bool", "date", "timestamp", "symbol"))
    predicates: list[Predicate] = []
    names = iter(rng.sample(EXPLICIT_NAMES, 4))
    declared = rng.choice(DECLARED)
    for number in range(rng.choice((2, 3, 3, 4))):
        kinds = _kinds(rng, native) if number else ("any", *_kinds(rng, native)[:1])
        predicates.append(Predicate(next(names), kinds, 0, declared=chance(rng, declared)))
    if rdf and chance(rng, 60):
        predicates += [_property(rng, native, number) for number in range(rng.choice((1, 2, 3)))]
    names = iter(rng.sample(DERIVED_NAMES, 5))
    for level in range(1, rng.choice((2, 3, 3, 4))):
        for _ in range(rng.choice((1, 1, 2))):
            name = next(names, None)
            if name is not None:
                predicates.append(_derived(rng, name, native, level, chance(rng, declared)))
    drawn = MixedRules(rng, predicates, POOLS)
    rules = [rule for p in predicates if p.level for rule in drawn.rules_of(p)]
    rules += [drawn.constraint() for _ in range(rng.choice((0, 0, 0, 1)))]
    # A rule that reads the same as another is passed over when it is added.
    return Program(tuple(predicates), tuple({repr(replace(r, name="")): r for r in rules}.values()))


def _property(rng: Random, native: str, number: int) -> Predicate:
    """A property of RDF. Nobody declares it: a column that is declared has no datatype of RDF."""
    kind = native if native in MARKS and chance(rng, 80) else rng.choice(list(MARKS))
    mark = rng.choice(MARKS[kind])
    return Predicate(f"http://e/p{number}", ("symbol", kind), 0, declared=False, mark=mark)


def _derived(rng: Random, name: str, native: str, level: int, declared: bool) -> Predicate:
    """A predicate of rules: of any rules, of an aggregate, or of best values."""
    kinds, what = _kinds(rng, native), rng.randrange(100)
    if what >= 15:
        return Predicate(name, kinds, level, what < 45, declared)
    value = rng.choice(("int", "any", "any", "any", "decimal", "float", "date", "timestamp"))
    best = rng.choice(("MIN", "MAX"))
    return Predicate(name, (*kinds[:2], value), level, True, declared, best)


def _kinds(rng: Random, native: str) -> tuple[str, ...]:
    """One to three columns, mostly mixed ones and those of one native type, so that they join."""
    size = rng.choice((1, 2, 2, 2, 3))
    if chance(rng, 25):
        return ("any",) * size
    other = rng.choice(("int", "decimal", "float", "bool", "date", "timestamp", "symbol"))
    return tuple(rng.choice(("any", "any", native, native, other)) for _ in range(size))


def random_rows(rng: Random, predicate: Predicate, count: int) -> list[Row]:
    """Rows from small pools, so that they join."""
    if predicate.mark:
        last = MARKED[predicate.kinds[-1]]
        return [(rng.choice(SUBJECTS), rng.choice(last)) for _ in range(count)]
    return [tuple(random_value(rng, kind) for kind in predicate.kinds) for _ in range(count)]


# --- changes -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """Rules and facts as the changes so far have left them, and the types of all columns.

    `settled` are the types that declarations and facts have given, `types` those that rules have
    given, too.
    """

    rules: Mapping[str, Rule]
    facts: Mapping[str, frozenset[Row]]
    settled: Types
    types: Types

    @classmethod
    def empty(cls, program: Program) -> State:
        settled = {p.name: p.settled for p in program.schema}
        return cls({}, {}, settled, settled)

    def after(self, change: Change, program: Program) -> State:
        """What is there after a change. Raises Clash if it is to be refused."""
        rules = {n: r for n, r in self.rules.items() if n not in change.drop}
        rules |= {rule.name: rule for rule in change.add}
        facts = {
            name: rows - self._gone(name, change.deletes.get(name, ()), program)
            for name, rows in self.facts.items()
        }
        settled = dict(self.settled)
        for name, (place, type_) in change.alter.items():
            settled[name] = _with(settled[name], place, type_)
        for name, rows in change.inserts.items():
            strict = name in program.strict
            # What rules have made a column of terms is one for the facts that come, too.
            settled[name] = tuple(
                old or ("any" if known == "any" else None)
                for old, known in zip(settled[name], self.types[name], strict=True)
            )
            settled[name] = tuple(
                _settled(
                    old, [row[i] for row in rows], [row[i] for row in facts.get(name, ())], strict
                )
                for i, old in enumerate(settled[name])
            )
        types = self._fitting(rules, settled, program)
        settled = {
            name: tuple(s and t for s, t in zip(old, types[name], strict=True))
            for name, old in settled.items()
        }
        marks = {p.name: p.mark for p in program.schema}
        there = {
            name: [*facts.get(name, ()), *change.inserts.get(name, ())]  # in a set, 1 would be True
            for name in {**facts, **change.inserts}
        }
        facts = {
            n: frozenset(_kept(r, types[n], n in program.strict, marks.get(n)) for r in rows)
            for n, rows in there.items()
        }
        mentioned = {name for rule in rules.values() for name in predicates_of(rule)}
        for p in program.schema:
            if not (p.declared or facts.get(p.name) or p.name in mentioned):
                settled[p.name] = types[p.name] = (None,) * len(p.kinds)  # type: ignore[index]
        return State(rules, facts, settled, types)

    def _gone(self, name: str, rows: Iterable[Row], program: Program) -> set[Row]:
        """Rows as facts, if the columns hold them."""
        found = set()
        for row in rows:
            with suppress(Elsewhere):
                mark = next(p.mark for p in program.schema if p.name == name)
                found.add(_kept(row, self.types[name], name in program.strict, mark))
        return found

    def _fitting(
        self,
        rules: Mapping[str, Rule],
        settled: dict[str, tuple[str | None, ...]],
        program: Program,
    ) -> Types:
        """The types of all columns, where rules that were there may widen what is settled.

        They do where the first facts of a column have other values than they ask for.
        """
        while True:
            deriving = [rule for rule in rules.values() if not rule.never]
            types = column_types(deriving, settled, program.strict)
            bad = [rule for rule in rules.values() if is_ill_typed(rule, types)]
            wider = [
                place
                for rule in bad
                if rule.name in self.rules
                for place in self._at_fault(rule, settled, types, program)
            ]
            if not bad:
                return types
            if not wider:
                raise Clash(bad[0].name)
            for name, place in wider:
                settled[name] = _with(settled[name], place, "any")

    def _at_fault(
        self, rule: Rule, settled: Types, types: Types, program: Program
    ) -> list[tuple[str, int]]:
        """The columns that are to hold all terms, so that a rule fits: one, or all that may be."""
        found = [
            (name, place)
            for name in dict.fromkeys(name for name, _ in reads(rule.body))
            if name not in program.strict
            for place, type_ in enumerate(settled[name])
            if type_ is not None and self.settled[name][place] is None
        ]
        for name, place in found:
            wider = {**types, name: _with(types[name], place, "any")}
            try:
                check_body(rule.body, wider, variable_types(rule.body, wider))
            except Clash:
                continue
            return [(name, place)]
        return found


def _with(types: Sequence[str | None], place: int, type_: str) -> tuple[str | None, ...]:
    return (*types[:place], type_, *types[place + 1 :])


def _kept(row: Row, types: Sequence[str | None], declared: bool, mark: str | None = None) -> Row:
    """A fact as its columns hold it."""
    if mark:
        return (row[0], literal_of(row[1], mark) if types[1] == "any" else row[1])
    if not declared:
        pairs = zip(row, types, strict=True)
        row = tuple(undeclared_term(v) if type_ == "any" else v for v, type_ in pairs)
    return stored(row, types)


def _settled(
    old: str | None, come: Sequence[MixedValue], there: Sequence[MixedValue], strict: bool
) -> str | None:
    """The type of a column after some values came.

    Ints become floats only where each is equal to one, and decimals do not become floats.
    """
    given = [value_type(value) for value in come]
    if strict:
        for type_ in given:
            if joined(old, type_) != old:
                raise Clash(f"a {type_} comes to a column of {old}")
        return old
    found = old
    for type_ in given:
        found = joined(found, type_)
    ints = [v for v in (*come, *there) if type(v) is int]
    lost = any(int(float(v)) != v for v in ints) or "decimal" in (old, *given)
    if found == "float" and lost:
        return "any"
    return found


def predicates_of(rule: Rule) -> set[str]:
    """The predicates in a rule."""
    return {rule.head.predicate, *(name for name, _ in reads(rule.body))}


def random_change(rng: Random, program: Program, state: State) -> Change:
    """A change that is possible in a state, if its types fit."""
    what = rng.choice(("facts", "facts", "facts", "rules", "both"))
    if chance(rng, 8) and (altered := _altered(rng, program, state)):
        return Change({}, {}, alter=altered)
    inserts: dict[str, Sequence[Row]] = {}
    deletes: dict[str, Sequence[Row]] = {}
    open_ = [p for p in program.schema if not p.aggregate]
    if what != "rules":
        for _ in range(rng.choice((1, 1, 2))):
            predicate = rng.choice([p for p in open_ if p.level == 0] * 4 + open_)
            present = sorted(state.facts.get(predicate.name, ()), key=repr)
            if present and chance(rng, 45):
                rows = rng.sample(present, min(len(present), rng.choice((1, 1, 2, 9))))
                types = state.types[predicate.name]
                deletes[predicate.name] = (
                    rows if predicate.mark else [_otherwise(rng, row, types) for row in rows]
                )
            else:
                inserts[predicate.name] = random_rows(rng, predicate, rng.choice((1, 2, 4)))
    deletes = {name: rows for name, rows in deletes.items() if name not in inserts}
    add: list[Rule] = []
    drop: list[str] = []
    if what != "facts":
        absent = [rule for rule in program.rules if rule.name not in state.rules]
        if absent and chance(rng, 60):
            add.append(rng.choice(absent))
        elif state.rules:
            drop.append(rng.choice(sorted(state.rules)))
    return Change(inserts, deletes, tuple(add), tuple(drop))


def _altered(rng: Random, program: Program, state: State) -> Mapping[str, tuple[int, str]]:
    """A column of explicit facts alone, with a type to which each of its values can be altered."""
    predicate = rng.choice([p for p in program.schema if p.level == 0])
    place = rng.randrange(len(predicate.kinds))
    name, old = predicate.name, state.types[predicate.name][place]
    if not predicate.declared:
        return {}
    if old != "any":
        return {name: (place, "any")}
    values = [row[place] for row in state.facts.get(name, ())]
    type_ = rng.choice(("symbol", "symbol", *NATIVE))
    fits = all(stands_for(value, type_) for value in values)
    return {name: (place, type_)} if fits else {}


def _otherwise(rng: Random, row: Row, types: Sequence[str | None]) -> Row:
    """A row that is to be deleted, perhaps with terms of the same values as they are spelled
    otherwise: these are other terms.
    """
    return tuple(
        rng.choice(spellings(value)) if type_ == "any" and chance(rng, 25) else value
        for value, type_ in zip(row, types, strict=True)
    )


def first_change(rng: Random, program: Program) -> Change:
    """The first facts, and all rules."""
    inserts = {
        p.name: random_rows(rng, p, rng.choice((2, 4, 6)))
        for p in program.schema
        if not p.aggregate and (p.level == 0 or chance(rng, 20))
    }
    return Change(inserts, {}, program.rules)


def given(rows: Iterable[Row]) -> list[tuple[object, ...]]:
    """Rows as somebody may give them: terms as their texts."""
    return [
        tuple(value.text if isinstance(value, Term) else value for value in row) for row in rows
    ]
