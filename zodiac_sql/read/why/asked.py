"""What the search for proofs asks the database: which facts are explicit, and rule instances.

Inside the search, a fact is a predicate with values as they are stored: symbols are numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.render import render
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import create_temp, parameter
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.cache_keys import plan_key, relation_key
from zodiac_sql.evaluate.rule_errors import evaluating
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.binding import used_functions
from zodiac_sql.language.functions import Functions, require
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Column, Rule, Term, Type, Variable
from zodiac_sql.names import NUMBER, RANK, whole
from zodiac_sql.sql.class_pairs import joined
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version, candidate_check
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, table
from zodiac_sql.sql.select import compile_instances
from zodiac_sql.storage.owners import Owner
from zodiac_sql.storage.sources import Sources

Key = tuple[str, tuple[object, ...]]
"""A predicate, and the values of a fact as they are stored."""

Kinds = Mapping[str, tuple[Type | None, bool]]
"""The type of each variable, and whether its value is the text of a symbol."""

_NUMBER = Variable(f"_:{NUMBER}")
"""The variable for the number of a fact among those that are asked about."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a rule that derives a fact: the values of all its variables, as stored.

    `kinds` has their types, and whether a symbol is given by its text, and not by its number.
    """

    rule: Rule
    values: Mapping[str, object]
    kinds: Kinds


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
            "types", lambda: {n: tuple(c.type for c in p.columns) for n, p in self.schema.items()}
        )


def asked_table(
    known: Known, predicate: str, facts: Sequence[Key], ranks: Sequence[int] | None = None
) -> Part:
    """A temporary table of facts that are asked about, with their numbers, and maybe ranks."""
    columns = Relation(known.schema[predicate].columns, ()).stored
    name = f"zodiac$why_{whole(known.schema[predicate].sql_name)}"
    values = list(zip(*(fact[1] or (True,) for fact in facts), strict=True))
    given: dict[str, object] = {f"v{place}": list(column) for place, column in enumerate(values)}

    def text() -> str:
        selected = [_unnested("n", "INT").as_(NUMBER, quoted=True)]
        for place, column in enumerate(columns):
            type_ = SQL_TYPES[column.type or Type.SYMBOL]
            selected.append(_unnested(f"v{place}", type_).as_(column.name, quoted=True))
        if ranks is not None:
            selected.append(_unnested("r", "BIGINT").as_(RANK, quoted=True))
        return render(create_temp(name, exp.select(*selected)))

    made = known.cache.get(("asked", name, columns, ranks is None), text)
    if ranks is not None:
        given["r"] = list(ranks)
    rows = known.store.count(made, {"n": list(range(len(facts))), **given})
    return Part("temp", name, rows, ranked=ranks is not None)


def _unnested(name: str, type_: str) -> exp.Expr:
    return exp.cast(exp.func("unnest", parameter(name), dialect="duckdb"), type_)


# --- where facts are ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """A table that has a fact: its owner, and the fact's rank there if it has a reliable one."""

    owner: Owner
    rank: int | None


def places(known: Known, predicate: str, facts: Sequence[Key]) -> list[list[Place]]:
    """The tables that have each fact."""
    found: list[list[Place]] = [[] for _ in facts]
    part = asked_table(known, predicate, facts)
    for owner, parts in known.sources.owners(predicate).items():
        for there in parts:
            if not there.rows:
                continue
            key = ("places", predicate, relation_key(Relation((), (there,))))
            text = known.cache.get(key, partial(_present, known, predicate, part, there))
            for number, rank in known.store.rows(text):
                found[number].append(Place(owner, rank))
    return found


def _present(known: Known, predicate: str, asked: Part, there: Part) -> str:
    """SELECT the numbers of the facts that a table has, with their ranks."""
    relation = Relation(known.schema[predicate].columns, (there,), ranked=there.ranked)
    columns = columns_of(relation, "f")
    number = exp.column(NUMBER, table="f", quoted=True)
    query = exp.select(number).from_(table(asked).as_("f"))
    if there.pairs is not None:
        query = query.select(exp.cast(exp.null(), "BIGINT"), copy=False)
        return render(joined(query, there.pairs, table(there), columns, "y", holds=True))
    rank: exp.Expr = exp.cast(exp.null(), "BIGINT")
    if there.ranked:
        rank = exp.column(RANK, table="t", quoted=True)
    same = [a.eq(b) for a, b in zip(columns, columns_of(relation, "t"), strict=True)]
    facts = part_query(there, relation).subquery("t", copy=False)
    return render(query.select(rank, copy=False).join(facts, on=exp.and_(*same), copy=False))


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
    require(used_functions([rule]), known.functions, f"rule {rule.name}")
    part = asked_table(known, predicate, facts, below.ranks if below else None)
    columns = (Column(NUMBER, Type.INT), *Relation(known.schema[predicate].columns, ()).stored)
    if not known.schema[predicate].columns:
        columns = columns[:1]
    asked = Relation(columns, (part,), ranked=part.ranked)
    ranked = below.hypernode if below else None
    context = Context(
        lambda name, version: asked if version is Version.CANDIDATE else _read(known, name, ranked),
        known.types,
        known.functions,
        known.ids,
    )
    key = (
        "instances", rule.name, most, ranked, plan_key(candidate_check(rule, _NUMBER), context)
    )  # fmt: skip
    text, kinds = known.cache.get(key, lambda: _statement(rule, context, most))
    with evaluating([rule]):
        rows = known.store.rows(text)
    found: list[list[Instance]] = [[] for _ in facts]
    for row in rows:
        values = dict(zip(kinds, row, strict=True))
        found[values.pop(_NUMBER.name)].append(Instance(rule, values, kinds))
    return found


def _read(known: Known, name: str, ranked: int | None) -> Relation:
    """An extension; with ranks, if the hypernode derives it, in that hypernode's table alone."""
    relation = known.sources.relation(name)
    if ranked is None or name not in known.graph[ranked].derives:
        return relation
    own = known.sources.owners(name).get(ranked, ())
    parts = (p if p in own else replace(p, ranked=False) for p in relation.parts)
    return Relation(relation.columns, tuple(parts), ranked=True)


def _statement(rule: Rule, context: Context, most: int) -> tuple[str, Kinds]:
    compiled = compile_instances(candidate_check(rule, _NUMBER), context)
    order = [exp.column(name, quoted=True) for name in (RANK, *compiled.kinds)]
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column(_NUMBER.name, quoted=True)],
        order=exp.Order(expressions=[exp.Ordered(this=column) for column in order]),
    )
    query = exp.select("*").from_(compiled.query.distinct(copy=False).subquery("i", copy=False))
    query = query.qualify(place <= exp.Literal.number(most))
    columns = exp.select(*(exp.column(name, quoted=True) for name in compiled.kinds))
    ordered = columns.from_(query.subquery("q", copy=False)).order_by(
        exp.column(RANK, quoted=True), *(exp.column(name, quoted=True) for name in compiled.kinds)
    )
    return render(ordered), compiled.kinds


def uses(known: Known, instance: Instance) -> list[Key]:
    """The facts in the body of an instance, in the order of the text."""
    return [
        (atom.predicate, tuple(_stored(known, term, instance) for term in atom.terms))
        for atom in instance.rule.positive_atoms()
    ]


def _stored(known: Known, term: Term, instance: Instance) -> object:
    if isinstance(term, Variable):
        return instance.values[term.name]
    return known.ids.get(str(term.value), -1) if term.type is Type.SYMBOL else term.value
