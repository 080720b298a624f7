"""What derives the facts of a whole hypernode, asked for all at once.

A proof can go down through thousands of facts of a recursive hypernode. To ask for each level of
them takes a few statements; to ask for all facts that there are takes one for each rule. They are
then in memory, where going down costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.render import render
from zodiac_sql.database.statements import data_type, parameter, union_all
from zodiac_sql.evaluate.cache_keys import plan_key, relation_key
from zodiac_sql.evaluate.rule_errors import evaluating
from zodiac_sql.language.binding import used_functions
from zodiac_sql.language.functions import require
from zodiac_sql.language.syntax import Atom, Column, Rule, Type, Variable
from zodiac_sql.names import RANK
from zodiac_sql.read.why.asked import (
    Instance,
    Key,
    Kinds,
    Known,
    least,
    one_nan,
    read,
    uses,
)  # fmt: skip
from zodiac_sql.read.why.own_ints import with_own_ints
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Version, candidate_check
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, rank_of
from zodiac_sql.sql.select import compile_instances

MOST_READ = 20_000
"""So many facts, or instances that derive them, are read at most."""

_FACTS = "zodiac$facts"
"""Stands for the facts of a table, until these take its place."""

_OWN_RANK = "zodiac$own_rank"
"""The rank of a fact beside the one that is compared with others."""


@dataclass(frozen=True, slots=True)
class DerivingTables:
    """The tables of a hypernode that are gone through, and the rules that fill them."""

    hypernode: int
    parts: Mapping[str, Part]
    rules: tuple[Rule, ...]
    kept: int | None = None
    """The place of a column that all facts have in common with those that they rest on here."""

    def value_kept(self, facts: Iterable[Key]) -> object:
        """What some facts, and those that they rest on, have in that column; None if they differ.

        A float could be NaN, which parameters cannot be.
        """
        if self.kept is None:
            return None
        values = {values[self.kept] for _, values in facts}
        only = values.pop()
        return None if values or isinstance(only, float) else only

    @property
    def rows(self) -> int:
        """How many facts the tables have."""
        return sum(part.rows for part in self.parts.values())


def tables_of(known: Known, hypernode: int, closed: Collection[str]) -> DerivingTables:
    """The tables of a recursive hypernode, without those of predicates that are closed."""
    parts: dict[str, Part] = {}
    graph = known.graph[hypernode]
    for name in graph.derives:
        own = [part for part in known.sources.owners(name).get(hypernode, ()) if part.rows]
        if len(own) == 1 and own[0].read.pairs is None and name not in closed:
            parts[name] = own[0]
    rules = tuple(r for r in graph.rules if r.head.predicate in parts)
    preserved = Forms(graph, known.schema).preserved if parts else ()
    return DerivingTables(hypernode, parts, rules, next(iter(preserved), None))


def count_older(known: Known, tables: DerivingTables, rank: int, kept: object = None) -> int:
    """How many facts of some tables have at most some rank, and a value in the column kept."""
    queries: list[exp.Query] = []
    for name, part in tables.parts.items():
        facts = Relation(known.schema[name].columns, (part,), ranked=True)
        rows = part_query(part, facts).subquery("f", copy=False)
        query = exp.select(rank_of("f").as_("k")).from_(rows, copy=False)
        query = query.where(rank_of("f") <= parameter("rank"), copy=False)
        if kept is not None and tables.kept is not None:
            query = _keeping(query, facts.columns[tables.kept])
        queries.append(query)
    all_ = union_all(queries).subquery("u", copy=False)
    query = exp.select(exp.Count(this=exp.Star())).from_(all_, copy=False)
    return known.store.count(
        query, {"rank": rank} if kept is None else {"rank": rank, "kept": kept}
    )


def _keeping(query: exp.Select, column: Column) -> exp.Select:
    """Only those facts that have the value in the column kept."""
    kept = exp.column(column.name, table="f", quoted=True)
    return query.where(kept.eq(_value_kept(column)), copy=False)


def _value_kept(column: Column) -> exp.Cast:
    type_ = data_type(SQL_TYPES[column.type or Type.SYMBOL])
    return exp.Cast(this=parameter("kept"), to=type_)


def facts_of(known: Known, predicate: str, part: Part) -> dict[Key, int | None]:
    """All facts of a table, with their ranks if it has any."""
    columns = known.schema[predicate].columns
    facts = Relation(columns, (part,), ranked=part.ranked)
    found: dict[Key, int | None] = {}
    for row in known.store.rows(part_query(part, facts)):
        values = tuple(map(one_nan, row[: len(columns)]))
        found[predicate, values] = row[-1] if part.ranked else None
    return found


Way = tuple[Instance, tuple[Key, ...]]
"""An instance that derives a fact, and the facts that it uses."""


@dataclass(slots=True)
class Derived:
    """Facts of a hypernode with the instances that derive them, in the order of the rules."""

    known: Known
    tables: DerivingTables
    highest: float = inf
    """The highest rank of facts that were asked about."""
    kept: object = None
    """The value that they have in the column kept, if only facts with it were read."""
    ranks: dict[Key, int | None] = field(default_factory=dict)
    """The ranks of the facts, where their tables have any."""
    found: dict[Key, list[tuple[_Asking, Sequence[object]]]] = field(default_factory=dict)
    """The statements that have found them, with the values of the rules' variables."""
    made: dict[Key, list[Way]] = field(default_factory=dict)
    """What `ways` has made."""

    def ways(self, fact: Key) -> list[Way]:
        """The instances that derive a fact."""
        made = self.made.get(fact)
        if made is None:
            made = self.made[fact] = []
            for asking, values in self.found.get(fact, ()):
                instance = asking.instance(values)
                made.append((instance, tuple(uses(self.known, instance))))
        return made

    def below(self, facts: Iterable[Key], most: int | None = None) -> dict[Key, list[Way]]:
        """Some facts and those of the hypernode that they rest on, at most about so many."""
        found = self.found
        reached: dict[Key, list[Way]] = {}
        waiting = dict.fromkeys(facts)
        while waiting and (most is None or len(reached) <= most):
            new: dict[Key, None] = {}
            for fact in waiting:
                ways = reached[fact] = self.ways(fact)
                for _, used in ways:
                    for use in used:
                        if use in found and use not in reached:
                            new[use] = None
            waiting = new
        return reached


def chosen(known: Known, tables: DerivingTables, rank: int, kept: object = None) -> Derived:
    """One instance for each fact up to some rank, of facts of lower ranks.

    It is the one that is found if the rules are asked one after the other for that of lowest rank.
    With a value of the column kept, only the facts that have it are read.
    """
    derived = Derived(known, tables, rank, kept)
    parameters = {"rank": rank} if kept is None else {"rank": rank, "kept": kept}
    for rule in tables.rules:
        asking = _asking(known, tables, rule, ranked=True, keeping=kept is not None)
        if asking is None:
            continue
        with evaluating([rule]):
            rows = known.store.rows(asking.text, parameters)
        for row in rows:
            fact, own_rank, values = asking.read(row[0][1:])
            if fact not in derived.found:
                derived.ranks[fact] = own_rank
                derived.found[fact] = [(asking, values)]
    return derived


def every(known: Known, tables: DerivingTables, most: int) -> Derived | None:
    """All instances that derive facts of some tables; None if they are more than some."""
    derived = Derived(known, tables)
    for rule in tables.rules:
        asking = _asking(known, tables, rule, ranked=False)
        if asking is None:
            continue
        with evaluating([rule]):
            rows = known.store.rows(asking.text, {"most": most + 1})
        most -= len(rows)
        if most < 0:
            return None
        has_ranks = tables.parts[rule.head.predicate].ranked
        for row in rows:
            fact, own_rank, values = asking.read(row)
            derived.found.setdefault(fact, []).append((asking, values))
            derived.ranks[fact] = own_rank if has_ranks else None
    return derived


@dataclass(frozen=True, slots=True)
class _Asking:
    """A statement about all facts that a rule derives."""

    rule: Rule
    atoms: tuple[Atom, ...]
    text: str
    kinds: Kinds
    width: int
    """How many columns tell which fact it is, after that with its rank."""
    has_floats: bool

    def read(self, row: Sequence[object]) -> tuple[Key, int, Sequence[object]]:
        """The fact, its rank, and the values of the instance."""
        if self.has_floats:
            row = tuple(map(one_nan, row))
        first = 1 + self.width
        values = row[1:first] if self.rule.head.terms else ()
        rank = row[0]
        assert isinstance(rank, int)
        return (self.rule.head.predicate, tuple(values)), rank, row[first:]

    def instance(self, values: Sequence[object]) -> Instance:
        """An instance of the rule with some values."""
        named = dict(zip(self.kinds, values, strict=False))  # a rank may come last
        return Instance(self.rule, self.atoms, named, self.kinds)


def _asking(
    known: Known, tables: DerivingTables, rule: Rule, ranked: bool, keeping: bool = False
) -> _Asking | None:
    """The statement about a rule; None if it reads what has no facts."""
    require(used_functions([rule]), known.functions, f"rule {rule.name}")
    if not all(known.sources.relation(atom.predicate).rows for atom in rule.positive_atoms()):
        return None
    predicate = rule.head.predicate
    stored = Relation(known.schema[predicate].columns, ()).stored
    keys = [Column(f"zodiac$key{place}", c.type) for place, c in enumerate(stored)]
    leading = [Variable(f"_:{c.name}") for c in (Column(_OWN_RANK, Type.INT), *keys)]
    part = Part("temp", _FACTS, 1, ranked=ranked)
    columns = (Column(_OWN_RANK, Type.INT), *keys, *known.schema[predicate].columns)
    facts = Relation(columns, (part,), ranked=ranked)
    exact = replace(rule, body=with_own_ints(rule.body, known.types, known.functions))
    hypernode = tables.hypernode if ranked else None

    def relation(name: str, version: Version) -> Relation:
        return facts if version is Version.CANDIDATE else read(known, name, hypernode)

    context = known.context(relation)
    plan = candidate_check(exact, *leading)
    own = tables.parts[predicate]
    key = (
        "all", rule.name, ranked, keeping, relation_key(Relation((), (own,))),
        plan_key(plan, context),
    )  # fmt: skip
    kept = stored[tables.kept] if keeping and tables.kept is not None else None
    return known.cache.get(
        key,
        lambda: _statement(
            rule, plan, context, _facts_of(own, stored, ranked, kept), kept, ranked, len(leading)
        ),
    )


def _statement(
    rule: Rule,
    plan: Plan,
    context: Context,
    own: exp.Select,
    kept: Column | None,
    ranked: bool,
    leading: int,
) -> _Asking:
    compiled = compile_instances(plan, context)
    names = list(compiled.kinds)
    if ranked:
        query = least(compiled, names[:leading])
    else:
        columns = [exp.column(name, quoted=True) for name in names]
        query = exp.select(*columns).distinct(copy=False)
        query = query.from_(compiled.query.subquery("i", copy=False), copy=False)
        query = query.order_by(*(column.copy() for column in columns), copy=False)
        query = query.limit(parameter("most"), copy=False)
    for stub in list(query.find_all(exp.Table)):
        if stub.name == _FACTS:
            if kept:
                _put_in_kept(stub, kept)
            stub.replace(own.copy().subquery(stub.alias, copy=False))
    has_floats = any(type_ is Type.FLOAT for type_, _ in compiled.kinds.values())
    kinds = dict(list(compiled.kinds.items())[leading:])
    return _Asking(
        rule, tuple(plan.rule.positive_atoms()), render(query), kinds, leading - 1, has_floats
    )


def _put_in_kept(stub: exp.Table, kept: Column) -> None:
    """Put in the value of the column kept where the facts of a table are joined.

    By their statistics, DuckDB would take a join on that column for one that finds few rows; it
    finds all pairs of facts (measured: 1,500 facts of a closure took 80 ms, and take 15 so).
    """
    around = stub.parent_select
    assert around is not None
    for column in list(around.find_all(exp.Column)):
        is_kept = column.table == stub.alias and column.name == kept.name
        if is_kept and column.parent_select is around:
            column.replace(_value_kept(kept))


def _facts_of(own: Part, stored: Sequence[Column], ranked: bool, kept: Column | None) -> exp.Select:
    """SELECT the facts of a table, twice: as they are, and to tell which fact it is."""
    has_ranks = ranked or own.ranked
    relation = Relation(tuple(stored), (own,), ranked=has_ranks)
    columns = columns_of(relation, "f")
    rank: exp.Expr = rank_of("f") if has_ranks else exp.cast(exp.Literal.number(0), "BIGINT")
    query = exp.select(rank.as_(_OWN_RANK, quoted=True), *columns, copy=False)
    for place, column in enumerate(columns):
        query = query.select(column.copy().as_(f"zodiac$key{place}", quoted=True), copy=False)
    query = query.from_(part_query(own, relation).subquery("f", copy=False), copy=False)
    if ranked:
        query = query.select(rank_of("f").as_(RANK, quoted=True), copy=False)
        query = query.where(rank_of("f") <= parameter("rank"), copy=False)
    return query if kept is None else _keeping(query, kept)
