"""Goes down through a recursive hypernode in one recursive statement.

The statement finds the facts of all levels; what derives them is asked afterwards, for all of them
together. A fact goes down by the instance that is found then: if the rules are asked one after the
other, the first that has any, and of its instances that of lowest rank.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.render import render
from zodiac_sql.database.statements import union_all
from zodiac_sql.evaluate.cache_keys import plan_key
from zodiac_sql.evaluate.rule_errors import evaluating
from zodiac_sql.language.binding import used_functions
from zodiac_sql.language.syntax import Column, Rule, Variable
from zodiac_sql.names import NUMBER, RANK
from zodiac_sql.read.why.all_facts import DerivingTables
from zodiac_sql.read.why.asked import Key, Known, asked, given, one_nan, read
from zodiac_sql.read.why.own_ints import with_own_ints
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan, Version, candidate_check
from zodiac_sql.sql.relations import OUTSIDE, Part, Reading, Relation
from zodiac_sql.sql.select import Uses, compile_uses
from zodiac_sql.sql.tagged import Layout, layout_of, typed

_R = "r"
"""What the recursive statement has found."""

_USED = "zodiac$used"
"""The column of the facts that an instance uses, and of one of them."""

_KEY = "_:zodiac$key"
"""The variables that tell which fact it is begin with it."""


def can_descend(known: Known, tables: DerivingTables) -> bool:
    """Whether one statement can hold all rules: they call no Python function."""
    return bool(tables.parts) and not used_functions(tables.rules).intersection(known.functions)


def descend(known: Known, tables: DerivingTables, facts: Mapping[Key, int]) -> dict[Key, int]:
    """Some facts of a hypernode's tables, and those there that they rest on, with their ranks."""
    ways = _Ways.of(known, tables)
    by_predicate: dict[str, list[Key]] = {}
    for fact in facts:
        by_predicate.setdefault(fact[0], []).append(fact)
    text = known.cache.get(
        ("descent", tuple(by_predicate), ways.key), lambda: render(ways.statement(by_predicate))
    )
    parameters: dict[str, object] = {}
    for name, some in by_predicate.items():
        parameters |= given(name, some, [facts[fact] for fact in some])
    with evaluating(tables.rules):
        return dict(ways.facts(known.store.rows(text, parameters)))


@dataclass(frozen=True, slots=True)
class _Ways:
    """The rules of a hypernode by which facts go down, with what they read."""

    known: Known
    tables: DerivingTables
    layout: Layout
    plans: tuple[tuple[Plan, Context], ...]

    @classmethod
    def of(cls, known: Known, tables: DerivingTables) -> _Ways:
        layout = layout_of({
            name: typed(Relation(known.schema[name].columns, ()).stored, ranked=True)
            for name in tables.parts
        })  # fmt: skip
        ways = cls(known, tables, layout, ())
        rules = [rule for rule in tables.rules if ways._can_apply(rule)]
        return replace(ways, plans=tuple(map(ways._plan, rules)))

    @property
    def key(self) -> Hashable:
        """All that the statement depends on."""
        return tuple((plan.rule.name, plan_key(plan, context)) for plan, context in self.plans)

    def _can_apply(self, rule: Rule) -> bool:
        return all(self.known.sources.relation(a.predicate).rows for a in rule.positive_atoms())

    def _plan(self, rule: Rule) -> tuple[Plan, Context]:
        """A rule over a fact that was found, which is told by variables for all of its columns."""
        known, predicate = self.known, rule.head.predicate
        columns = known.schema[predicate].columns
        stored = Relation(columns, ()).stored
        keys = tuple(Column(f"{_KEY}{place}", c.type) for place, c in enumerate(stored))
        there = dict(self.layout.picked[predicate].columns)
        more = tuple((k.name, there[c.name]) for k, c in zip(keys, stored, strict=True))
        picked = self.layout.picked[predicate]
        picked = replace(picked, columns=(*picked.columns, *more))
        part = Part("", _R, 1, ranked=True, read=Reading(picked=picked))
        found = Relation((*keys, *columns), (part,), ranked=True)

        def relation(name: str, version: Version) -> Relation:
            if version is Version.CANDIDATE:
                return found
            return read(known, name, self.tables.hypernode)

        exact = replace(rule, body=with_own_ints(rule.body, known.types, known.functions))
        plan = candidate_check(exact, *(Variable(key.name) for key in keys))
        return plan, known.context(relation)

    # The statement

    def statement(self, predicates: Iterable[str]) -> exp.Select:
        """SELECT some facts, which are asked about, and all that they rest on."""
        seeds = [self.layout.put(p, asked(self.known, p, ranked=True)) for p in predicates]
        steps = [step for p in self.tables.parts if (step := self._step(p)) is not None]
        found = union_all(seeds)
        if steps:
            found = exp.union(found, union_all(steps), distinct=True, copy=False)
        query = exp.select(exp.Star()).from_(_R)
        return query.with_(_R, as_=found, recursive=True, copy=False)

    def _step(self, predicate: str) -> exp.Select | None:
        """What found facts of a predicate rest on directly; None if that is nothing here."""
        compiled = [
            compile_uses(plan, self.tables.parts, context)
            for plan, context in self.plans
            if plan.rule.head.predicate == predicate
        ]
        chosen = [self._chosen(one, n) for n, one in enumerate(compiled) if one.facts]
        if not chosen:
            return None
        query = chosen[0] if len(chosen) == 1 else _first(chosen)
        each = exp.Anonymous(this="unnest", expressions=[exp.column(_USED, quoted=True)])
        each_of = exp.select(each.as_(_USED, quoted=True), copy=False)
        each_of = each_of.from_(query.subquery("c", copy=False), copy=False)
        columns = self.layout.columns
        fields = [_field(_USED, n).as_(c, quoted=True) for n, c in enumerate(columns, 1)]
        step = exp.select(*fields, copy=False).from_(each_of.subquery("u", copy=False), copy=False)
        is_own = _field(_USED, len(columns) + 1) > exp.Literal.number(OUTSIDE)
        return step.where(is_own, copy=False)

    def _chosen(self, uses: Uses, number: int) -> exp.Select:
        """For each fact that a rule derives, what the instance of lowest rank uses."""
        keys = [exp.column(name, quoted=True) for name in uses.variables if name.startswith(_KEY)]
        columns = [exp.column(name, quoted=True) for name in (RANK, *uses.variables)]
        used = exp.Array(expressions=[self._row(name, there) for name, there in uses.facts])
        row = exp.Anonymous(this="row", expressions=[*columns, used])
        last = exp.Literal.number(len(columns) + 1)
        least = exp.Anonymous(this="struct_extract", expressions=[exp.Min(this=row), last])
        query = exp.select(
            *keys,
            exp.Literal.number(number).as_(NUMBER, quoted=True),
            least.as_(_USED, quoted=True),
            copy=False,
        )
        query = query.from_(uses.query.subquery("i", copy=False), copy=False)
        return query.group_by(*(key.copy() for key in keys), copy=False)

    def _row(self, predicate: str, names: Sequence[str]) -> exp.Expr:
        """A used fact as the statement finds it, and its rank once more."""
        picked = self.layout.picked[predicate]
        there = {column: name for (_, column), name in zip(picked.columns, names, strict=True)}
        values: list[exp.Expr] = [exp.Literal.number(picked.tag)]
        for column, type_ in self.layout.types.items():
            value = exp.column(there[column], quoted=True) if column in there else exp.null()
            values.append(exp.cast(value, type_))
        rank = exp.column(names[-1], quoted=True)
        return exp.Anonymous(this="row", expressions=[*values, rank])

    # The answer

    def facts(self, rows: Iterable[Sequence[object]]) -> Iterator[tuple[Key, int]]:
        """The facts that were found, with their ranks."""
        places = {column: place for place, column in enumerate(self.layout.columns)}
        told: dict[object, tuple[str, list[int], int]] = {}
        for name, picked in self.layout.picked.items():
            *values, rank = (places[column] for _, column in picked.columns)
            told[picked.tag] = name, values if self.known.schema[name].columns else [], rank
        for row in rows:
            name, values, rank = told[row[0]]
            number = row[rank]
            assert isinstance(number, int)
            yield (name, tuple(one_nan(row[place]) for place in values)), number


def _first(chosen: Sequence[exp.Select]) -> exp.Select:
    """For each fact, what is used by the first rule that derives it."""
    keys = [one.alias_or_name for one in chosen[0].expressions[:-2]]
    used, number = (exp.column(name, quoted=True) for name in (_USED, NUMBER))
    first = exp.ArgMin(this=used, expression=number).as_(_USED, quoted=True)
    query = exp.select(first, copy=False)
    query = query.from_(union_all(chosen).subquery("o", copy=False), copy=False)
    return query.group_by(*(exp.column(name, quoted=True) for name in keys), copy=False)


def _field(name: str, place: int) -> exp.Expr:
    """A field of a row by its place."""
    return exp.Anonymous(
        this="struct_extract",
        expressions=[exp.column(name, quoted=True), exp.Literal.number(place)],
    )
