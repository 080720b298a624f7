"""What the search for proofs asks the database: which facts are explicit, and rule instances.

Inside the search, a fact is a predicate with values as they are stored: symbols are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan
from operator import itemgetter
from typing import Any

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import data_type, parameter, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import plan_key, relation_key
from zodiac_sql.evaluate.rule_errors import evaluating
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.binding import used_functions
from zodiac_sql.language.functions import Functions, require
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Atom, Column, Rule, Term, Type, Variable
from zodiac_sql.language.types import is_narrowed
from zodiac_sql.names import NUMBER, RANK
from zodiac_sql.program.derived_datatypes import datatypes_after
from zodiac_sql.read.why.own_ints import with_own_ints
from zodiac_sql.sql.class_pairs import joined
from zodiac_sql.sql.context import Context, Relations
from zodiac_sql.sql.plan import Version, candidate_check
from zodiac_sql.sql.relations import OUTSIDE, Part, Relation, columns_of, rank_of, source, table
from zodiac_sql.sql.select import Instances, compile_instances
from zodiac_sql.storage.owners import Owner
from zodiac_sql.storage.sources import Sources

Key = tuple[str, tuple[object, ...]]
"""A predicate, and the values of a fact as they are stored."""

Kinds = Mapping[str, tuple[Type | None, int]]
"""The type of each variable, and whether its value is the text of a symbol."""

_NAN = float("nan")

_NUMBER = Variable(f"_:{NUMBER}")
"""The variable for the number of a fact among those that are asked about."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a rule that derives a fact: the values of all its variables, as stored.

    `kinds` has their types, and whether a symbol is given by its text, and not by its number.
    `atoms` are the rule's positive atoms; their ints that meet floats have variables of their own.
    """

    rule: Rule
    atoms: tuple[Atom, ...]
    values: Mapping[str, object]
    kinds: Kinds
    rank: int = OUTSIDE
    """The highest rank of a fact that it uses, if this was asked for and the fact has one."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the search reads: one state of a program, with its tables and hypernodes."""

    store: Store
    schema: Schema
    graph: Hypergraph
    sources: Sources
    functions: Functions
    ids: Mapping[str, int]
    """The dictionary ids of the symbols in rules."""
    cache: StatementCache = field(default_factory=StatementCache)

    def rows(self) -> Iterator[int]:
        """How many facts each table has."""
        for name in self.schema:
            for parts in self.sources.owners(name).values():
                yield from (part.rows for part in parts)

    @property
    def types(self) -> Mapping[str, tuple[Type | None, ...]]:
        """The types of the columns of all predicates."""
        return self.cache.get(
            "types", lambda: {n: tuple(c.meant for c in p.columns) for n, p in self.schema.items()}
        )

    def context(self, relation: Relations) -> Context:
        """What rendering rules needs to know, with what they read."""
        rules = self.graph.rules
        found = self.cache.get("datatypes", lambda: datatypes_after(self.schema, tuple(rules())))
        return Context(relation, self.types, self.functions, self.ids, datatypes=found)


# --- the facts that are asked about ---------------------------------------------------------------

_ASKED = "zodiac$asked"
"""Stands for the facts that are asked about, until their parameters take its place."""


def asked(known: Known, predicate: str, ranked: bool = False) -> exp.Select:
    """The facts of a predicate that are asked about, with their numbers, and maybe ranks.

    They are parameters, because to fill a table would take as long as the question itself.
    """
    columns = Relation(known.schema[predicate].columns, ()).stored
    selected = [unnested(predicate, "n", "INTEGER").as_(NUMBER, quoted=True)]
    for place, column in enumerate(columns):
        type_ = SQL_TYPES[column.type or Type.SYMBOL]
        selected.append(unnested(predicate, f"v{place}", type_).as_(column.name, quoted=True))
    if ranked:
        selected.append(unnested(predicate, "r", "BIGINT").as_(RANK, quoted=True))
    return exp.select(*selected, copy=False)


def unnested(of: str, name: str, type_: str) -> exp.Cast:
    """The values of a parameter that is a list, one in each row."""
    values = exp.Anonymous(this="unnest", expressions=[parameter(parameter_name(of, name))])
    return exp.Cast(this=values, to=data_type(type_))


def parameter_name(of: str, name: str) -> str:
    """The name of a parameter: predicates can have any characters, names of parameters cannot."""
    return f"p{of.encode().hex()}_{name}"


def given(
    predicate: str, facts: Sequence[Key], ranks: Sequence[int] | None = None
) -> dict[str, object]:
    """The parameters of `asked`."""
    columns = zip(*(fact[1] or (True,) for fact in facts), strict=True)
    values: dict[str, object] = {f"v{place}": listed(one) for place, one in enumerate(columns)}
    values["n"] = list(range(len(facts)))
    if ranks is not None:
        values["r"] = list(ranks)
    return {parameter_name(predicate, name): one for name, one in values.items()}


def listed(values: Sequence[object]) -> list[object]:
    """Values as a parameter. DuckDB's client makes NULL of a NaN in a list, so they become text."""
    return list(map(repr, values)) if _NAN in values else list(values)


# --- where facts are ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """A table that has a fact: its owner, and the fact's rank there if it has a reliable one."""

    owner: Owner
    rank: int | None


def places(known: Known, facts: Mapping[str, Sequence[Key]]) -> dict[Key, list[Place]]:
    """The tables that have each fact; the facts are given by predicate."""
    found: dict[Key, list[Place]] = {fact: [] for some in facts.values() for fact in some}
    tables = [
        (predicate, owner, part)
        for predicate in facts
        for owner, parts in known.sources.owners(predicate).items()
        for part in parts
        if part.rows
    ]
    if not tables:
        return found
    key = tuple((name, relation_key(Relation((), (part,)))) for name, _, part in tables)
    text = known.cache.get(("places", key), partial(_places, known, tables))
    parameters: dict[str, object] = {}
    for predicate in {name for name, _, _ in tables}:
        parameters |= given(predicate, facts[predicate])
    for table_, number, rank in known.store.rows(text, parameters):
        predicate, owner, _ = tables[table_]
        found[facts[predicate][number]].append(Place(owner, rank))
    return found


def _places(known: Known, tables: Sequence[tuple[str, Owner, Part]]) -> str:
    queries: list[exp.Query] = [
        _present(known, place, predicate, part) for place, (predicate, _, part) in enumerate(tables)
    ]
    return render(union_all(queries))


def _present(known: Known, place: int, predicate: str, there: Part) -> exp.Select:
    """SELECT the numbers of the facts that a table has, with their ranks."""
    relation = Relation(known.schema[predicate].columns, (there,), ranked=there.ranked)
    columns = columns_of(relation, "f")
    number = exp.column(NUMBER, table="f", quoted=True)
    query = exp.select(exp.Literal.number(place), number, copy=False)
    query = query.from_(asked(known, predicate).subquery("f", copy=False), copy=False)
    rank: exp.Expr = exp.Cast(this=exp.null(), to=data_type("BIGINT"))
    if there.read.pairs is not None:
        query = query.select(rank, copy=False)
        return joined(query, there.read.pairs, table(there), columns, "y", holds=True)
    if there.ranked:
        rank = rank_of("t")
    same = [
        exp.EQ(this=a, expression=b)
        for a, b in zip(columns, columns_of(relation, "t"), strict=True)
    ]
    facts = source(relation, "t")
    query = query.select(rank, copy=False)
    return query.join(facts, on=exp.and_(*same, copy=False), copy=False)


# --- what derives them ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Below:
    """Only instances whose own facts have lower ranks in a hypernode's tables than the facts."""

    hypernode: int
    ranks: tuple[int, ...]
    """The ranks of the facts."""


def instances(
    known: Known, rule: Rule, facts: Sequence[Key], most: int, below: Below | None = None
) -> list[list[Instance]]:
    """Instances of a rule that derive facts of its head's predicate, at most so many for each."""
    predicate = rule.head.predicate
    exact = replace(rule, body=with_own_ints(rule.body, known.types, known.functions))
    require(used_functions([rule]), known.functions, f"rule {rule.name}")
    part = Part("temp", _ASKED, len(facts), ranked=below is not None)
    columns = (Column(NUMBER, Type.INT), *Relation(known.schema[predicate].columns, ()).stored)
    if not known.schema[predicate].columns:
        columns = columns[:1]
    facts_asked = Relation(columns, (part,), ranked=part.ranked)
    ranked = below.hypernode if below else None
    if not all(known.sources.relation(atom.predicate).rows for atom in rule.positive_atoms()):
        return [[] for _ in facts]
    context = known.context(
        lambda n, version: facts_asked if version is Version.CANDIDATE else read(known, n, ranked)
    )
    key = (
        "instances", rule.name, most, ranked, plan_key(candidate_check(exact, _NUMBER), context)
    )  # fmt: skip
    asking = known.cache.get(key, lambda: _statement(known, exact, context, most, below))
    parameters = given(predicate, facts, below.ranks if below else None)
    with evaluating([rule]):
        rows = known.store.rows(asking.text, parameters)
    found: list[list[Instance]] = [[] for _ in facts]
    atoms = tuple(exact.positive_atoms())
    for number, values, rank in asking.values(rows):
        if not (asking.one and found[number]):
            found[number].append(Instance(rule, atoms, values, asking.kinds, rank))
    return found


@dataclass(frozen=True, slots=True)
class _Asking:
    """A statement that finds instances of a rule."""

    text: str
    kinds: Kinds
    one: bool
    """Whether a fact has one instance at most."""
    as_row: bool
    """Whether each instance is one value, which begins with the rank."""
    has_floats: bool

    def values(
        self, rows: Iterable[tuple[Any, ...]]
    ) -> Iterator[tuple[int, dict[str, object], int]]:
        """The numbers of the facts, the values of the variables, and the highest ranks."""
        for row in rows:
            found: Iterable[object] = row[0][1:] if self.as_row else row
            if self.has_floats:
                found = map(one_nan, found)
            values = dict(zip(self.kinds, found, strict=False))  # a rank comes last
            number = values.pop(_NUMBER.name)
            assert isinstance(number, int)
            rank = row[0][0] if self.as_row else row[-1] if self.one else OUTSIDE + 1
            yield number, values, rank - 1  # it is the rank of the derived fact


def read(known: Known, name: str, ranked: int | None) -> Relation:
    """An extension; with ranks, if the hypernode derives it, in that hypernode's table alone."""
    relation = known.sources.relation(name)
    if ranked is None or name not in known.graph[ranked].derives:
        return relation
    own = known.sources.owners(name).get(ranked, ())
    if not any(part.ranked for part in own):
        return relation
    parts = (p if p in own else replace(p, ranked=False) for p in relation.parts)
    return Relation(relation.columns, tuple(parts), ranked=True)


def _statement(
    known: Known, rule: Rule, context: Context, most: int, below: Below | None
) -> _Asking:
    compiled = compile_instances(candidate_check(rule, _NUMBER), context)
    is_one = {Variable(name) for name in compiled.kinds} <= {_NUMBER, *rule.head.terms}
    if is_one:
        query = compiled.query  # a fact has one instance at most, which may be found repeatedly
    elif most == 1:
        query = least(compiled, [_NUMBER.name])
    else:
        query = _first(compiled, most)
    for stub in list(query.find_all(exp.Table)):
        if stub.name == _ASKED:
            facts = asked(known, rule.head.predicate, below is not None)
            stub.replace(facts.subquery(stub.alias, copy=False))
    has_floats = any(type_ is Type.FLOAT for type_, _ in compiled.kinds.values())
    return _Asking(render(query), compiled.kinds, is_one, most == 1 and not is_one, has_floats)


def least(compiled: Instances, fact: Sequence[str]) -> exp.Select:
    """One instance for each fact, of lowest rank, as one value: a row begins with the rank.

    Some columns tell which fact it is.
    """
    columns = [exp.column(name, quoted=True) for name in (RANK, *compiled.kinds)]
    least = exp.Min(this=exp.Anonymous(this="row", expressions=columns))
    query = exp.select(least, copy=False)
    query = query.from_(compiled.query.subquery("i", copy=False), copy=False)
    return query.group_by(*(exp.column(name, quoted=True) for name in fact), copy=False)


def _first(compiled: Instances, most: int) -> exp.Select:
    """At most so many instances for each fact, first those of low rank."""
    names = (RANK, *compiled.kinds)
    order = [exp.Ordered(this=exp.column(name, quoted=True)) for name in names]
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column(_NUMBER.name, quoted=True)],
        order=exp.Order(expressions=order),
    )
    query = exp.select(exp.Star()).from_(
        compiled.query.distinct(copy=False).subquery("i", copy=False)
    )
    query = query.qualify(place <= exp.Literal.number(most))
    query = exp.select(*(exp.column(name, quoted=True) for name in compiled.kinds)).from_(
        query.subquery("q", copy=False)
    )
    return query.order_by(*(one.copy() for one in order), copy=False)


def one_nan(value: object) -> object:
    """A value, with the same object for each NaN: DuckDB says that they are equal, Python not."""
    return _NAN if isinstance(value, float) and isnan(value) else value


def uses(known: Known, instance: Instance) -> list[Key]:
    """The facts in the body of an instance, in the order of the text, after what is assumed."""
    values = instance.values
    return [(predicate, values_of(values)) for predicate, values_of in body_of(known, instance)]


def body_of(known: Known, instance: Instance) -> Sequence[tuple[str, Told]]:
    """What tells the facts in the body of an instance of a rule, and of all its other instances."""
    rule = instance.rule
    return known.cache.get(("uses", rule.name), lambda: [
        (atom.predicate, _values_of(known, atom, instance))
        for atom in (*rule.assumed, *instance.atoms)
    ])  # fmt: skip


def head_of(known: Known, instance: Instance) -> Told:
    """What tells the values of the head, of all instances of a rule.

    There, ints can stand for floats, and texts for symbols.
    """
    rule = instance.rule
    return known.cache.get(("head", rule.name), lambda: _values_of(known, rule.head, instance))


Told = Callable[[Mapping[str, object]], tuple[object, ...]]
"""From the values of a rule's variables to those of one of its atoms."""


def _values_of(known: Known, atom: Atom, instance: Instance) -> Told:
    names = [term.name for term in atom.terms if isinstance(term, Variable)]
    if len(names) == len(atom.terms) == 1:
        only = names[0]
        return lambda values: (values[only],)
    if len(names) == len(atom.terms) > 1:
        return itemgetter(*names)
    terms = [
        (term.name, None) if isinstance(term, Variable) else ("", stored(known, term, instance))
        for term in atom.terms
    ]
    return lambda values: tuple([values[name] if name else value for name, value in terms])


def is_encoded(term: Term, instance: Instance, column: Type | None) -> bool:
    """Whether a native value stands for a term of a column of all kinds, or the other way round."""
    if isinstance(term, Variable):
        given = instance.kinds[term.name][0] if term.name in instance.kinds else None
    else:
        given = term.type
    return is_narrowed(column, given) or is_narrowed(given, column)


def stored(known: Known, term: Term, instance: Instance) -> object:
    """The value of a term of an instance's rule as it is stored."""
    if isinstance(term, Variable):
        return instance.values[term.name]
    return known.ids.get(str(term.value), -1) if term.type is Type.SYMBOL else one_nan(term.value)
