"""Makes an explanation of what was found: values as people see them, put into the rules' texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, cast

from sqlglot import exp

from zodiac_sql.database.dictionary import as_written, texts_as_written
from zodiac_sql.language.binding import arrange, symbols_in, telling, variables
from zodiac_sql.language.substitution import put_in
from zodiac_sql.language.symbols import plain
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Constant,
    Expression,
    Literal,
    Negation,
    Rule,
    Term,
    Type,
    Value,
    Variable,
)
from zodiac_sql.language.types import body_types
from zodiac_sql.read.why.asked import Instance, Key, Known
from zodiac_sql.read.why.own_ints import with_own_ints
from zodiac_sql.read.why.paths import Path
from zodiac_sql.read.why.proof import Absent, Bound, Fact, Group, Step, Test
from zodiac_sql.read.why.search import Derivation
from zodiac_sql.read.why.spelling import bare, compared, filled_in, spelled
from zodiac_sql.sql.forms import ENCODED, PLAIN
from zodiac_sql.sql.relations import HOLDS
from zodiac_sql.sql.select import compile_goals

MEMBERS_SHOWN = 5
"""How many solutions of an aggregate's group are told, unless more are asked for; the others are
only counted."""


@dataclass(frozen=True, slots=True)
class Words:
    """The texts of the symbols that an explanation mentions, and what it is about."""

    known: Known
    texts: Mapping[int, str]
    facts: dict[Key, Fact] = field(default_factory=dict)
    """Those that were made already: many derivations use the same."""
    shapes: dict[int, _Shape] = field(default_factory=dict)
    """What `shape` has found."""
    members: int = MEMBERS_SHOWN
    """So many solutions of an aggregate's group are told."""

    def fact(self, key: Key) -> Fact:
        """A fact as people see it."""
        return self.facts.get(key) or self.all([key])[key]

    def all(self, keys: Iterable[Key]) -> dict[Key, Fact]:
        """Facts as people see them. A proof can have thousands: their columns are read as such."""
        for predicate, rows in _by_predicate(keys).items():
            types = tuple(type_ or Type.SYMBOL for type_ in self.known.types[predicate])
            seen = zip(*map(self._column, zip(*rows, strict=True), types), strict=True)
            for row, values in zip(rows, seen if types else rows, strict=True):
                self.facts[predicate, row] = Fact(predicate, values, types)
        return self.facts

    def _column(self, values: Sequence[object], type_: Type) -> Iterable[Value]:
        if type_ in ENCODED:
            text_of: Any = self.texts.get
            return map(text_of, values, values)
        if type_ in (Type.DECIMAL, Type.FLOAT) or {float, Decimal} & set(map(type, values)):
            return [self.value(value, type_) for value in values]
        return cast(Sequence[Value], values)

    def value(self, value: object, type_: Type) -> Value:
        """A value as people see it: the text of a symbol."""
        if type_ in ENCODED:
            return cast(Value, self.texts.get(cast(int, value), value))
        if type_ is Type.FLOAT and isinstance(value, int | Decimal):
            return float(value)
        if type_ is Type.DECIMAL and isinstance(value, int | float):
            return Decimal(repr(value))
        if type_ is Type.INT and isinstance(value, float | Decimal):
            return int(value)  # it was compared with a wider number
        return cast(Value, value)

    def shape(self, instance: Instance) -> _Shape:
        """What all instances of a rule have in common that were found by the same statement."""
        shape = self.shapes.get(id(instance.kinds))
        if shape is None:
            shape = self.shapes[id(instance.kinds)] = _shape_of(instance)
        return shape


@dataclass(frozen=True, slots=True)
class _Shape:
    """What instances of a rule have to tell besides the facts that they use."""

    kinds: tuple[tuple[str, Type, bool], ...]
    """The variables with their types, and whether a value is the text of a plain symbol."""
    named: tuple[tuple[str, Type, bool], ...]
    """Those among them that a user has named."""
    has_atoms_only: bool
    negations: tuple[Negation, ...]
    comparisons: tuple[Comparison, ...]
    bindings: tuple[Binding, ...]
    aggregates: tuple[Aggregate, ...]


def _shape_of(instance: Instance) -> _Shape:
    kinds = [
        (name, type_ or Type.SYMBOL, form == PLAIN and type_ in (None, Type.SYMBOL))
        for name, (type_, form) in instance.kinds.items()
        if name in instance.values and not name.startswith("_:zodiac")
    ]
    body = instance.rule.body
    return _Shape(
        tuple(kinds),
        tuple(kind for kind in kinds if Variable(kind[0]).written),
        all(isinstance(literal, Atom) for literal in body),
        tuple(literal for literal in body if isinstance(literal, Negation)),
        tuple(literal for literal in body if isinstance(literal, Comparison)),
        tuple(literal for literal in body if isinstance(literal, Binding)),
        tuple(literal for literal in body if isinstance(literal, Aggregate)),
    )


def words(known: Known, keys: Iterable[Key], instances: Iterable[Instance]) -> Words:
    """Look up all symbols that facts and instances mention."""
    wanted: set[object] = set()
    for predicate, several in _by_predicate(keys).items():
        for column, type_ in zip(zip(*several, strict=True), known.types[predicate], strict=False):
            if type_ in ENCODED:
                wanted.update(column)
    symbols: dict[int, list[str]] = {}
    for instance in instances:
        names = symbols.get(id(instance.kinds))
        if names is None:
            names = symbols[id(instance.kinds)] = _symbols(instance)
        wanted.update([instance.values[name] for name in names if name in instance.values])
    ids = sorted(value for value in wanted if isinstance(value, int))
    return Words(known, texts_as_written(known.store, ids))


def _by_predicate(keys: Iterable[Key]) -> dict[str, list[tuple[object, ...]]]:
    """The values of facts, by their predicates."""
    found: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for predicate, values in keys:
        found[predicate].append(values)
    return found


def _symbols(instance: Instance) -> list[str]:
    """The variables of an instance whose values are numbers of symbols, and in none of its facts.

    Those that are in facts are looked up with them.
    """
    seen = {v.name for atom in instance.atoms for v in variables(*atom.terms)}
    return [
        name
        for name, (type_, is_text) in instance.kinds.items()
        if type_ in ENCODED and not is_text and name not in seen
    ]


def step_of(told: Words, derivation: Derivation) -> Step:
    """A derivation as people see it."""
    by, facts = derivation.by, tuple(map(told.fact, derivation.uses))
    if isinstance(by, Path):
        rules = by.closure.rules
        name = ", ".join(rule.name for rule in rules)
        return Step("path", name, " ".join(rule.text for rule in rules), facts)
    shape, there, value_of = told.shape(by), by.values, told.value
    if not shape.has_atoms_only:
        return _Filled(told, by).step(facts)
    values = [
        (name, plain(str(value_of(there[name], type_))) if made else value_of(there[name], type_))
        for name, type_, made in shape.named
    ]
    return Step("rule", by.rule.name, by.rule.text, facts, values=tuple(values))


class _Filled:
    """A rule with the values of an instance put in."""

    def __init__(self, told: Words, instance: Instance) -> None:
        self.told, self.instance, self.rule = told, instance, instance.rule
        self.shape = told.shape(instance)
        self.values: dict[str, tuple[Value, Type]] = {}
        for name, type_, made in self.shape.kinds:
            value = told.value(instance.values[name], type_)
            self.values[name] = (plain(str(value)) if made else value), type_

    @cached_property
    def texts(self) -> dict[str, str]:
        """The values as texts, which only few rules need."""
        return {name: spelled(*value) for name, value in self.values.items()}

    def step(self, facts: tuple[Fact, ...]) -> Step:
        """The instance as a step to a fact."""
        shape = self.shape
        return Step(
            "rule",
            self.rule.name,
            self.rule.text,
            facts,
            tuple([self._absent(x.atom) for x in shape.negations]),
            tuple([self._test(x) for x in shape.comparisons]),
            tuple([self._bound(x) for x in shape.bindings]),
            tuple([self._group(x) for x in shape.aggregates]),
            tuple([(name, self.values[name][0]) for name, _, _ in shape.named]),
        )

    def _absent(self, atom: Atom) -> Absent:
        known = [self._known(term) for term in atom.terms]
        names = tuple(
            str(term) if value is None and atom.terms.count(term) > 1 else None
            for term, (value, _) in zip(atom.terms, known, strict=True)
        )
        return Absent(
            atom.predicate,
            tuple(value for value, _ in known),
            tuple(type_ for _, type_ in known),
            names if any(names) else (),
        )

    def _known(self, term: Term) -> tuple[Value | None, Type | None]:
        if isinstance(term, Constant):
            return term.value, term.type
        return self.values.get(term.name, (None, None))

    def _test(self, test: Comparison) -> Test:
        return Test(compared(test, {}), compared(test, self.texts))

    def _bound(self, binding: Binding) -> Bound:
        value, type_ = self.values[binding.variable.name]
        text = bare(filled_in(binding.expression, self.texts))
        return Bound(binding.variable.name, text, value, type_)

    def _group(self, aggregate: Aggregate) -> Group:
        body = tuple(self._put_in(literal, aggregate) for literal in aggregate.body)
        count, members = _members(self.told, aggregate, body)
        result, type_ = self.values[aggregate.result.name]
        on = tuple((v.name, self.texts[v.name]) for v in aggregate.group)
        function = aggregate.of(bare(str(_argument(aggregate))))
        return Group(function, aggregate.result.name, result, type_, on, count, members)

    def _put_in(self, literal: Literal, aggregate: Aggregate) -> Literal:
        group = {v.name: constant_of(*self.values[v.name]) for v in aggregate.group}
        return put_in(literal, group)


def _argument(aggregate: Aggregate) -> Expression:
    """What an aggregate is of, as it is written: a variable, or an expression."""
    for literal in aggregate.body:
        if isinstance(literal, Comparison) and literal.left == aggregate.argument:
            return literal.right if aggregate.argument.made else aggregate.argument
    return aggregate.argument


def constant_of(value: Value, type_: Type) -> Constant:
    """A value as a constant: a term of a column of all kinds is that term, and no other."""
    return Constant(Type.SYMBOL if type_ is Type.ANY else type_, value)


# --- the groups of aggregates ---------------------------------------------------------------------


def _members(
    told: Words, aggregate: Aggregate, body: tuple[Literal, ...]
) -> tuple[int, tuple[tuple[Fact, ...], ...]]:
    """How many solutions the body of a group has, and the facts of the first of them.

    With DISTINCT, a solution stands for all of the same value.
    """
    known, telling_ = told.known, telling(aggregate, arrange(aggregate.body))
    body = with_own_ints(body, known.types, known.functions)
    names = sorted(arrange(body).bound)
    named = [exp.column(name, quoted=True) for name in names if name in telling_]
    columns = [exp.column(name, quoted=True) for name in names or [HOLDS.name]]
    query = exp.select(*columns).from_(
        solutions(known, body, names).subquery("g", copy=False), copy=False
    )
    # Of variables that tell no solutions apart, the first values are shown. Where the group has
    # values for all that do, there is one solution.
    query = query.order_by(*(c.copy() for c in (*named, *columns)))
    query = query.distinct(*named, copy=False) if named else query.limit(1)
    number = exp.Window(this=exp.Count(this=exp.Star()))
    wanted = exp.select(*(c.copy() for c in columns), number.as_("zodiac$row", quoted=True))
    wanted = wanted.from_(query.subquery("d", copy=False), copy=False)
    wanted = wanted.order_by(*(c.copy() for c in columns)).limit(told.members)
    rows = known.store.rows(wanted)
    types = _types(known, body)
    members = []
    for *values, _ in rows:
        given = {
            name: constant_of(value, types.get(name) or Type.SYMBOL)
            for name, value in zip(names, values[: len(names)], strict=True)
        }
        members.append(tuple(_member(known, put_in(x, given)) for x in body if isinstance(x, Atom)))
    return (rows[0][-1] if rows else 0), tuple(members)


def _member(known: Known, literal: Literal) -> Fact:
    assert isinstance(literal, Atom)
    columns = known.schema[literal.predicate].columns
    types = tuple(column.meant or Type.SYMBOL for column in columns)
    values = (t.value if isinstance(t, Constant) else "_" for t in literal.terms)
    return Fact(literal.predicate, tuple(values), types)


def solutions(known: Known, body: tuple[Literal, ...], names: Sequence[str]) -> exp.Select:
    """The distinct solutions of literals, as people see them."""
    rule = Rule("", Atom("", ()), body)
    missing = sorted(symbols_in([rule]) - known.ids.keys())
    ids = {**known.ids, **as_written(known.store, missing)}
    context = replace(known, ids=ids).context(lambda name, _: known.sources.relation(name))
    return compile_goals(body, names, context)


def _types(known: Known, body: tuple[Literal, ...]) -> Mapping[str, Type | None]:
    return body_types(body, known.types, known.functions).types


def mentioned(derivations: Iterable[Derivation]) -> Iterator[Instance]:
    """The instances of rules among derivations."""
    for derivation in derivations:
        if isinstance(derivation.by, Instance):
            yield derivation.by
