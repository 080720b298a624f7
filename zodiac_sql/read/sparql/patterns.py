"""Graph patterns of rdflib's algebra as bags of solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from zodiac_sql.database.statements import text
from zodiac_sql.facts.native_text import literal_text
from zodiac_sql.language.zones import zone_of
from zodiac_sql.read.sparql import aggregates
from zodiac_sql.read.sparql.context import QueryContext, refused
from zodiac_sql.read.sparql.expressions import (
    PatternScope,
    compiled,
    condition,
    order_key,
    texts_needed,
)
from zodiac_sql.read.sparql.paths import basic
from zodiac_sql.read.sparql.solutions import (
    ID,
    ORDER,
    TEXT,
    Solutions,
    TermColumn,
    column,
    forms_in_common,
    in_form,
    none_of,
    select,
    unbound,
    united,
    with_symbols,
)
from zodiac_sql.read.sparql.terms import native, symbol
from zodiac_sql.read.sparql.triples import as_text
from zodiac_sql.read.sparql.values import SparqlValue, as_term

_NUMBER = "zodiac$number"
"""Column that numbers solutions."""


class Patterns:
    """Compiles patterns. `outer` is the scope around an EXISTS; see PatternScope for `closed`."""

    def __init__(
        self, context: QueryContext, outer: PatternScope | None = None, closed: bool = False
    ) -> None:
        self.context, self.outer, self.closed = context, outer, closed
        self._names = context.names

    def solutions(self, part: Any) -> Solutions:
        """The solutions of a pattern. Raises QueryError for what is not supported."""
        made: dict[str, Callable[[Any], Solutions]] = {
            "BGP": lambda p: basic(list(p.triples), self.context),
            "Join": self._join,
            "LeftJoin": self._left_join,
            "Union": lambda p: united([self.solutions(s) for s in (p.p1, p.p2)], self._names),
            "Minus": self._minus,
            "Filter": self._filter,
            "Extend": lambda p: self._extend(self.solutions(p.p), str(p.var), p.expr),
            "ToMultiSet": self._multiset,
            "Project": self._project,
            "Distinct": lambda p: self._distinct(self.solutions(p.p)),
            "Reduced": lambda p: self.solutions(p.p),
            "OrderBy": self._order,
            "Slice": self._slice,
            "AggregateJoin": self._aggregate,
        }
        if part.name not in made:
            raise refused(_WORDS.get(part.name, part.name))
        return made[part.name](part)

    def _closed(self) -> Patterns:
        return Patterns(self.context, self.outer, True)

    def _scope(
        self, sides: Mapping[str, Solutions], symbols: Mapping[str, Sequence[exp.Expr]]
    ) -> PatternScope:
        columns: dict[str, tuple[str, TermColumn]] = {}
        for alias, side in sides.items():
            for name, known in side.columns.items():
                columns.setdefault(name, (alias, known))
        return PatternScope(self.context, columns, symbols, _exists, self.outer, self.closed)

    def _from(
        self, solutions: Solutions, *expressions: Any
    ) -> tuple[exp.Select, str, PatternScope]:
        """SELECT of nothing yet from solutions, their alias, and the scope of some expressions."""
        needed = texts_needed([*expressions], self.context)
        table, alias, found = with_symbols(solutions, needed, self._names)
        query = exp.select(copy=False).from_(table, copy=False)
        return query, alias, self._scope({alias: solutions}, found)

    def _kept(self, query: exp.Select, alias: str, solutions: Solutions) -> exp.Select:
        order = column(ORDER, alias) if solutions.ordered else None
        values = ((name, column(name, alias)) for name in solutions.columns)
        return query.select(*select(values, order).expressions, copy=False)

    # Joins

    def _join(self, part: Any) -> Solutions:
        return self._joined(self.solutions(part.p1), self.solutions(part.p2))

    def _joined(self, first: Solutions, second: Solutions) -> Solutions:
        """Each pair of compatible solutions."""
        first, second = self._alike(first, second)
        one, other = self._names.fresh(), self._names.fresh()
        columns, values = _merged(first, second, one, other, outer=False)
        query = select(values.items()).from_(first.subquery(one), copy=False)
        query = query.join(second.subquery(other), join_type="CROSS", copy=False)
        compatible = _compatible(first, second, one, other)
        if compatible:
            query = query.where(*compatible, copy=False)
        return Solutions(query, columns)

    def _alike(self, first: Solutions, second: Solutions) -> tuple[Solutions, Solutions]:
        """Both, with the variables that they share in the same form."""
        forms = forms_in_common((first, second))
        return in_form(first, forms, self._names), in_form(second, forms, self._names)

    def _left_join(self, part: Any) -> Solutions:
        first, second = self.solutions(part.p1), self._closed().solutions(part.p2)
        first, second = self._alike(first, second)
        if getattr(part.expr, "name", "") == "TrueFilter":
            return self._outer_joined(first, second)
        return self._filtered_optional(first, second, part.expr)

    def _outer_joined(self, first: Solutions, second: Solutions) -> Solutions:
        one, other = self._names.fresh(), self._names.fresh()
        columns, values = _merged(first, second, one, other, outer=True)
        query = select(values.items()).from_(first.subquery(one), copy=False)
        compatible = _compatible(first, second, one, other) or [exp.true()]
        on = exp.and_(*compatible, copy=False)
        query = query.join(second.subquery(other), on=on, join_type="LEFT", copy=False)
        return Solutions(query, columns)

    def _filtered_optional(self, first: Solutions, second: Solutions, expr: Any) -> Solutions:
        """Solutions of the first, numbered, with those of the second for which a filter holds.

        The filter is of solutions of both. It cannot stand in the condition of an outer join, where
        DuckDB takes no subquery.
        """
        numbered, kept = self._names.fresh(), self._names.fresh()
        alias = self._names.fresh()
        counter = exp.Window(this=exp.RowNumber())
        rows = self._kept(exp.select(copy=False), alias, first)
        rows = rows.select(counter.as_(_NUMBER, quoted=True), copy=False)
        rows = rows.from_(first.subquery(alias), copy=False)
        left = Solutions(
            exp.select(exp.Star()).from_(exp.to_table(numbered)),
            {**first.columns, _NUMBER: TermColumn(TEXT, True)},
        )
        both = self._closed()._where(self._joined(left, second), expr)
        columns, _ = _merged(first, second, "", "", outer=True)
        one, other = self._names.fresh(), self._names.fresh()
        alone = column(_NUMBER, other).is_(exp.null())
        values: dict[str, exp.Expr] = {}
        for name in columns:
            mine = first.columns.get(name)
            values[name] = column(name, other if mine is None else one)
            if mine is not None and not mine.certain:
                chosen = exp.Case().when(alone.copy(), column(name, one))
                values[name] = chosen.else_(column(name, other))
        query = select(values.items()).from_(exp.to_table(numbered).as_(one), copy=False)
        same = column(_NUMBER, one).eq(column(_NUMBER, other))
        query = query.join(exp.to_table(kept).as_(other), on=same, join_type="LEFT", copy=False)
        query = query.with_(numbered, as_=rows, materialized=True, copy=False)
        query = query.with_(kept, as_=both.query, copy=False)
        return Solutions(query, columns)

    def _minus(self, part: Any) -> Solutions:
        first, second = self.solutions(part.p1), self._closed().solutions(part.p2)
        shared = [name for name in first.columns if name in second.columns]
        if not shared:
            return first
        first, second = self._alike(first, second)
        one, other = self._names.fresh(), self._names.fresh()
        conditions = _compatible(first, second, one, other)
        if not any(first.columns[n].certain and second.columns[n].certain for n in shared):
            bound = (_both_bound(name, one, other) for name in shared)
            conditions.append(exp.paren(exp.or_(*bound)))
        query = self._kept(exp.select(copy=False), one, first)
        query = query.from_(first.subquery(one), copy=False)
        # Inside of an EXISTS, DuckDB takes no anti join.
        there = exp.select("1").from_(second.subquery(other), copy=False)
        there = there.where(*conditions, copy=False)
        query = query.where(exp.not_(exp.Exists(this=there)), copy=False)
        return Solutions(query, first.columns)

    # Filters and expressions

    def _filter(self, part: Any) -> Solutions:
        return self._where(self.solutions(part.p), part.expr)

    def _where(self, solutions: Solutions, expression: Any) -> Solutions:
        query, alias, scope = self._from(solutions, expression)
        query = self._kept(query, alias, solutions)
        query = query.where(condition(expression, scope), copy=False)
        return Solutions(query, solutions.columns, solutions.ordered)

    def _extend(self, solutions: Solutions, variable: str, expression: Any) -> Solutions:
        from rdflib import Variable

        name = self._names.column(variable)
        query, alias, scope = self._from(solutions, expression)
        query = self._kept(query, alias, solutions)
        source = self._names.column(str(expression)) if isinstance(expression, Variable) else ""
        if source in solutions.columns:
            made: tuple[exp.Expr, TermColumn] = column(source, alias), solutions.columns[source]
        else:
            made = _as_column(compiled(expression, scope))
        sql, known = made
        query = query.select(sql.as_(name, quoted=True), copy=False)
        return Solutions(query, {**solutions.columns, name: known}, solutions.ordered)

    def _multiset(self, part: Any) -> Solutions:
        """VALUES, or a subquery."""
        if part.p == []:  # VALUES without a row
            return none_of(())
        if part.p.name != "values":
            found = Patterns(self.context).solutions(part.p)
            return Solutions(found.query, found.columns)
        rows = list(part.p.res)
        variables = dict.fromkeys(v for row in rows for v in row)
        parts = []
        for row in rows:
            values = {self._names.column(str(v)): self._listed(row.get(v)) for v in variables}
            query = select((name, sql) for name, (sql, _) in values.items())
            parts.append(Solutions(query, {name: known for name, (_, known) in values.items()}))
        return united(parts, self._names)

    def _listed(self, term: Any) -> tuple[exp.Expr, TermColumn]:
        """A term of VALUES."""
        if term is None or term == "UNDEF":
            return unbound(TEXT), TermColumn(TEXT, False)
        found = symbol(term)
        number = self.context.ids.get(found)
        if number is not None:
            return exp.cast(exp.convert(number), "INTEGER"), TermColumn(ID, True)
        known = native(term)
        if known is None:
            return exp.cast(text(found), "VARCHAR"), TermColumn(TEXT, True)
        # No fact has it in this spelling, but a native column may have its value.
        form, value = known
        assert form.type is not None
        return literal_text(value, form.type, form.datatype), TermColumn(TEXT, True)

    # What a SELECT makes of solutions

    def _project(self, part: Any) -> Solutions:
        solutions = self.solutions(part.p)
        names = [self._names.column(str(variable)) for variable in part.PV]
        alias = self._names.fresh()
        nothing = TermColumn(TEXT, False)
        columns = {name: solutions.columns.get(name, nothing) for name in names}
        values = (
            (n, column(n, alias) if n in solutions.columns else unbound(TEXT)) for n in columns
        )
        order = column(ORDER, alias) if solutions.ordered else None
        query = select(values, order).from_(solutions.subquery(alias), copy=False)
        return Solutions(query, columns, solutions.ordered)

    def _distinct(self, solutions: Solutions) -> Solutions:
        alias = self._names.fresh()
        values = [(name, column(name, alias)) for name in solutions.columns]
        if not solutions.ordered:
            query = select(values).distinct(copy=False)
            return Solutions(query.from_(solutions.subquery(alias), copy=False), solutions.columns)
        query = select(values, exp.Min(this=column(ORDER, alias)))
        query = query.from_(solutions.subquery(alias), copy=False)
        if values:
            query = query.group_by(*(value.copy() for _, value in values), copy=False)
        return Solutions(query, solutions.columns, True)

    def _order(self, part: Any) -> Solutions:
        solutions = self.solutions(part.p)
        query, alias, scope = self._from(solutions, *(c.expr for c in part.expr))
        keys = []
        for each in part.expr:
            down = each.order == "DESC"
            key = order_key(compiled(each.expr, scope))
            keys.append(exp.Ordered(this=key, desc=down, nulls_first=not down))
        place = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=keys))
        values = ((name, column(name, alias)) for name in solutions.columns)
        query = query.select(*select(values, place).expressions, copy=False)
        return Solutions(query, solutions.columns, True)

    def _slice(self, part: Any) -> Solutions:
        solutions = self.solutions(part.p)
        alias = self._names.fresh()
        query = self._kept(exp.select(copy=False), alias, solutions)
        query = query.from_(solutions.subquery(alias), copy=False)
        if solutions.ordered:
            query = query.order_by(column(ORDER, alias), copy=False)
        if part.length is not None:
            query = query.limit(int(part.length), copy=False)
        if part.start:
            query = query.offset(int(part.start), copy=False)
        return Solutions(query, solutions.columns, solutions.ordered)

    def _aggregate(self, part: Any) -> Solutions:
        solutions = self.solutions(part.p.p)
        keys = list(part.p.expr or ())
        query, alias, scope = self._from(solutions, keys, [a.vars for a in part.A])
        columns: dict[str, TermColumn] = {}
        for aggregate in part.A:
            name = self._names.column(str(aggregate.res))
            sql, columns[name] = aggregates.column_of(aggregate, solutions, alias, scope)
            query = query.select(sql.as_(name, quoted=True), copy=False)
        if keys:
            groups = aggregates.keys_of(keys, solutions, alias, scope)
            query = query.group_by(*groups, copy=False)
        return Solutions(query, columns)


def _exists(graph: Any, scope: PatternScope) -> exp.Expr:
    """Whether a pattern has a solution that is compatible with the variables of a scope."""
    context = scope.context
    found = Patterns(context, scope).solutions(graph)
    owners = ((name, scope.owner(name)) for name in found.columns)
    outside = {name: owner.columns[name] for name, owner in owners if owner is not None}
    numbers = {
        name: ID
        for name, (_, known) in outside.items()
        if known == TermColumn(ID, True) and found.columns[name].certain
    }
    found = in_form(found, numbers, context.names, known_only=True)
    alias = context.names.fresh()
    query = exp.select("1", copy=False).from_(found.subquery(alias), copy=False)
    for name, (there, known) in outside.items():
        inside = found.columns[name]
        mine, theirs = column(name, there), column(name, alias)
        same = _same(mine, theirs, known.certain, inside.certain)
        if known.form != inside.form:
            texts = as_text((known.form, mine)), as_text((inside.form, theirs))
            same = _same(texts[0], texts[1], known.certain, inside.certain)
        query = query.where(same, copy=False)
    return exp.Exists(this=query)


def _as_column(value: SparqlValue) -> tuple[exp.Expr, TermColumn]:
    """A value as a column: native values stay what they are.

    A constant keeps its zone, which the instant does not have.
    """
    in_utc = value.written is None or zone_of(value.form.datatype) in (None, "Z")
    if value.form.type is not None and value.rank is None and in_utc:
        return value.sql, TermColumn(value.form, value.known)
    return as_term(value), TermColumn(TEXT, value.known)


def _merged(
    first: Solutions, second: Solutions, one: str, other: str, outer: bool
) -> tuple[dict[str, TermColumn], dict[str, exp.Expr]]:
    """The columns of a join, and their values; of an outer one if the second may be missing."""
    columns: dict[str, TermColumn] = {}
    values: dict[str, exp.Expr] = {}
    for name in (*first.columns, *(n for n in second.columns if n not in first.columns)):
        mine, theirs = first.columns.get(name), second.columns.get(name)
        if mine is None or theirs is None:
            known = mine or theirs
            assert known is not None
            certain = known.certain and (mine is not None or not outer)
            columns[name] = TermColumn(known.form, certain)
            values[name] = column(name, one if mine else other)
            continue
        columns[name] = TermColumn(mine.form, mine.certain or (theirs.certain and not outer))
        both = column(name, one), column(name, other)
        values[name] = both[0] if mine.certain else exp.func("coalesce", *both)
    return columns, values


def _compatible(first: Solutions, second: Solutions, one: str, other: str) -> list[exp.Expr]:
    """The conditions that two solutions agree on the variables that both bind."""
    return [
        _same(column(n, one), column(n, other), known.certain, second.columns[n].certain)
        for n, known in first.columns.items()
        if n in second.columns
    ]


def _same(first: exp.Expr, second: exp.Expr, sure: bool, other_sure: bool) -> exp.Expr:
    unbound_ = [v.copy().is_(exp.null()) for v, s in ((first, sure), (second, other_sure)) if not s]
    same = first.copy().eq(second.copy())
    return exp.paren(exp.or_(same, *unbound_)) if unbound_ else same


def _both_bound(name: str, one: str, other: str) -> exp.Expr:
    return exp.and_(*(exp.not_(column(name, alias).is_(exp.null())) for alias in (one, other)))


_WORDS = {"Graph": "GRAPH"}
