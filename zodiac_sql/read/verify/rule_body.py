"""The body of a rule as a query, for second_opinion.py alone.

Each literal of the body makes the query so far a subquery of a larger one; negation is NOT EXISTS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import create_temp, joining, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.language.binding import arrange, variables
from zodiac_sql.language.decimals import is_widened
from zodiac_sql.language.passed_on import datatype_passed_on
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Column,
    Comparison,
    Constant,
    Literal,
    Term,
    Type,
)
from zodiac_sql.language.types import body_types
from zodiac_sql.names import RANK
from zodiac_sql.read.verify import terms
from zodiac_sql.read.verify.values import SYMBOLS, TERM, BodyValue, BodyValues, ProgramMeaning
from zodiac_sql.sql.aggregates import aggregated
from zodiac_sql.sql.forms import PLAIN
from zodiac_sql.sql.functions import typed
from zodiac_sql.sql.relations import HOLDS, OUTSIDE, Relation, rank_of, relation_query

Reads = Callable[[int, Atom], Relation]
"""The relation that an atom reads, by its place in the body. Negated atoms have place -1."""


class NotAtOnce(Exception):
    """A query needs a table that is made on the way."""


_OF_NUMBERS = ("sum", "avg", "med")
"""Aggregates of numbers: terms that are none are passed over."""


_NESTED_AT_MOST = 20
"""How deep subqueries may be nested. At this depth the query so far becomes a table."""


@dataclass(slots=True)
class BodyQuery:
    """A query that grows: each literal of the body makes the query so far a subquery.

    That subquery is always called b. `values` has the variables as columns of b.
    """

    store: Store
    program: ProgramMeaning
    reads: Reads
    literals: tuple[Literal, ...]
    query: exp.Select = field(default_factory=lambda: exp.select(exp.true().as_("one")))
    values: BodyValues = field(init=False)
    ranks: list[exp.Column] = field(default_factory=list)
    made: int = 0
    nested: int = 0

    def __post_init__(self) -> None:
        self.values = BodyValues(self.program, self._extended)

    def build(self) -> bool:
        """Put the whole body into the query; False if an atom or aggregate has no facts."""
        program = self.program
        scope = body_types(self.literals, program.columns, program.functions)
        self.values.types = scope.types
        arranged = arrange(self.literals)
        if not all(self._scan(place, atom) for place, atom in enumerate(arranged.atoms)):
            return False
        if not all(map(self._aggregate, arranged.aggregates)):
            return False
        later = {step.variable.name for step in arranged.steps}
        tests: list[Comparison | Atom] = [*arranged.filters]
        tests += [negation.atom for negation in arranged.negations]
        for step in (None, *arranged.steps):
            if step is not None:
                self._bind(step)
                later.discard(step.variable.name)
            ready = [test for test in tests if later.isdisjoint(_needed(test))]
            tests = [test for test in tests if test not in ready]
            for test in ready:
                self._compare(test) if isinstance(test, Comparison) else self._negate(test)
        return True

    def _column(self) -> str:
        self.made += 1
        return f"v{self.made}"

    def _inner(self) -> exp.Subquery:
        """The query so far as subquery b. After some levels it reads a table, to limit nesting."""
        self.nested += 1
        if self.nested % _NESTED_AT_MOST == 0:
            if self.program.at_once:
                raise NotAtOnce
            table = self.store.temporary.fresh("level")
            self.store.run(create_temp(table, self.query))
            self.query = exp.select(exp.Star()).from_(temp_table(table))
        return self.query.subquery("b", copy=False)

    def _extended(self, value: exp.Expr) -> exp.Column:
        """Add a column to the query."""
        name = self._column()
        query = exp.select(_everything(), value.as_(name))
        self.query = query.from_(self._inner(), copy=False)
        return exp.column(name, table="b")

    def _joined(
        self, rows: exp.Subquery, new: Sequence[exp.Expr], conditions: Sequence[exp.Expr]
    ) -> None:
        """Join the query with other rows on some conditions, and add new columns from them."""
        query = exp.select(_everything(), *new).from_(self._inner(), copy=False)
        query = query.join(joining(rows, "CROSS"), copy=False)
        self.query = query.where(*conditions, copy=False)

    def _kept(self, condition: exp.Expr) -> None:
        """Keep only the rows where a condition holds."""
        query = exp.select(_everything()).from_(self._inner(), copy=False)
        self.query = query.where(condition, copy=False)

    # What a body says

    def _scan(self, place: int, atom: Atom) -> bool:
        relation = self.reads(place, atom)
        if not relation.rows:
            return False
        taken: dict[str, BodyValue] = {}
        conditions, new = [], []
        for column, term in zip(relation.columns, atom.terms, strict=True):
            here = BodyValue(exp.column(column.name, table="a", quoted=True), column.meant)
            if isinstance(term, Constant):
                conditions.append(self.values.same(here, self.values.of(term)))
                continue
            here = self.values.converted(here, term.name)
            known = taken.get(term.name) or self.values.known.get(term.name)
            if known is not None:
                conditions.append(self.values.same(here, known))
                continue
            if here.type is not column.meant:
                conditions.append(here.sql.copy().is_(exp.null()).not_())
            taken[term.name] = here
            name = self._column()
            new.append(here.sql.copy().as_(name))
            self.values.known[term.name] = replace(here, sql=exp.column(name, table="b"))
        if relation.ranked:
            name = self._column()
            new.append(rank_of("a").as_(name))
            self.ranks.append(exp.column(name, table="b"))
        self._joined(relation_query(relation).subquery("a", copy=False), new, conditions)
        return True

    def _aggregate(self, aggregate: Aggregate) -> bool:
        inside = BodyQuery(self.store, self.program, self.reads, aggregate.body)
        if not inside.build():
            return aggregate.otherwise is not None and self._nothing_found(aggregate)
        rows, found = inside._grouped(aggregate)
        if aggregate.otherwise is not None:
            return self._found_or_else(aggregate, rows.subquery("g", copy=False), found)
        conditions, new = [], []
        for value, variable in zip(found, (*aggregate.group, aggregate.result), strict=True):
            here = self.values.converted(value, variable.name)
            known = self.values.known.get(variable.name)
            if known is not None:
                conditions.append(self.values.same(here, known))
                continue
            name = self._column()
            new.append(here.sql.copy().as_(name))
            self.values.known[variable.name] = replace(here, sql=exp.column(name, table="b"))
        self._joined(rows.subquery("g", copy=False), new, conditions)
        return True

    def _found_or_else(
        self, aggregate: Aggregate, rows: exp.Subquery, found: Sequence[BodyValue]
    ) -> bool:
        """The value of each group, or the one for groups that have no solutions."""
        *groups, value = (
            self.values.converted(one, variable.name)
            for one, variable in zip(found, (*aggregate.group, aggregate.result), strict=True)
        )
        same = [
            self.values.same(group, self.values.known[variable.name])
            for group, variable in zip(groups, aggregate.group, strict=True)
        ]
        name, other = self._column(), self._otherwise(aggregate)
        if value.type is Type.ANY:
            value = BodyValue(self.values.term(value), Type.ANY, TERM)
        either = exp.func("coalesce", value.sql.copy(), other.sql)
        query = exp.select(_everything(), either.as_(name)).from_(self._inner(), copy=False)
        on = exp.and_(*same) if same else exp.true()
        self.query = query.join(joining(rows, "LEFT"), on=on, copy=False)
        self._bind_result(aggregate, replace(value, sql=exp.column(name, table="b")))
        return True

    def _nothing_found(self, aggregate: Aggregate) -> bool:
        """The value of all groups, if no group has a solution."""
        other = self._otherwise(aggregate)
        self._bind_result(aggregate, replace(other, sql=self._extended(other.sql)))
        return True

    def _otherwise(self, aggregate: Aggregate) -> BodyValue:
        assert aggregate.otherwise is not None
        other = self.values.of(aggregate.otherwise)
        if self.values.types.get(aggregate.result.name) is Type.ANY:
            return BodyValue(self.values.stored_term(other), Type.ANY, TERM)
        return self.values.converted(other, aggregate.result.name)

    def _bind_result(self, aggregate: Aggregate, value: BodyValue) -> None:
        known = self.values.known.get(aggregate.result.name)
        if known is not None:
            self._kept(self.values.same(known, value))
        self.values.known[aggregate.result.name] = value

    def _grouped(self, aggregate: Aggregate) -> tuple[exp.Select, list[BodyValue]]:
        """One row for each group of this body's solutions; its values, as columns of g.

        All variables that have a value in a solution tell it apart; with DISTINCT, only the group
        and what is aggregated do.
        """
        argument = self.values.known[aggregate.argument.name]
        ordered = self._ordered(aggregate, argument)
        registered = self.program.functions.get(aggregate.function)
        counted = {aggregate.argument.name, *(v.name for v in aggregate.group)}
        kept = [v for v in self.values.known if v in counted or not aggregate.distinct]
        names = {v: f"x{i}" for i, v in enumerate(kept)}
        columns = [self.values.known[v].sql.copy().as_(name) for v, name in names.items()]
        more = [ordered.as_("t")] if ordered is not None else []
        solutions = exp.select(*columns, *more).distinct().from_(self._inner())
        group = [exp.column(names[v.name], table="d") for v in aggregate.group]
        if self.program.share is not None:
            place, shares = map(exp.Literal.number, self.program.share)
            keys = [self.values.known[v.name].sql.copy() for v in aggregate.group]
            number = exp.Anonymous(this="hash", expressions=keys)
            solutions = solutions.where(exp.Mod(this=number, expression=shares).eq(place))
        result = self._aggregated(
            aggregate,
            argument.type,
            exp.column(names[aggregate.argument.name], table="d"),
            exp.column("t", table="d") if ordered is not None else None,
        )
        columns = [column.as_(f"y{i}") for i, column in enumerate([*group, result])]
        rows = exp.select(*columns).from_(solutions.subquery("d"))
        rows = rows.group_by(*group) if group else rows.having(exp.Count(this=exp.Star()) > 0)
        last = exp.column(f"y{len(group)}", table="s")
        rows = exp.select(exp.Star()).from_(rows.subquery("s")).where(last.is_(exp.null()).not_())
        made = argument.text if aggregate.function != "count" else 0
        if registered:
            made = PLAIN * (registered.returns is Type.SYMBOL)
        elif argument.type is Type.ANY and aggregate.function in _OF_NUMBERS:
            made = TERM * (aggregate.function == "sum")
        type_ = body_types((aggregate,), self.program.columns, self.program.functions).types
        values = [self.values.known[v.name] for v in aggregate.group]
        values.append(BodyValue(exp.null(), type_[aggregate.result.name], made))
        return rows, [
            replace(value, sql=exp.column(f"y{i}", table="g")) for i, value in enumerate(values)
        ]

    def _ordered(self, aggregate: Aggregate, argument: BodyValue) -> exp.Expr | None:
        """What an aggregate needs of a symbol, or of a term of any kind, besides itself."""
        registered = self.program.functions.get(aggregate.function)
        if aggregate.function == "count" or argument.type not in SYMBOLS:
            return None
        if argument.type is Type.SYMBOL:
            shown = self.values.shown(argument)
            meant = self.values.meant(argument)
            # Symbols are ordered by their meaning; symbols of the same meaning by their text.
            return meant if registered else exp.Tuple(expressions=[meant, shown])
        term = self.values.once(self.values.term(argument))
        if registered:
            wanted = registered.parameters[0]
            return terms.meant(term) if wanted is Type.SYMBOL else terms.narrowed(term, wanted)
        return term if aggregate.function in _OF_NUMBERS else terms.place_of(term)

    def _aggregated(
        self,
        aggregate: Aggregate,
        type_: Type | None,
        value: exp.Column,
        ordered: exp.Column | None,
    ) -> exp.Expr:
        function, functions = aggregate.function, self.program.functions
        if type_ is not Type.ANY or function not in _OF_NUMBERS or ordered is None:
            return aggregated(function, value, type_, ordered, functions)
        if function == "sum":
            return terms.total_of(ordered)
        number = terms.narrowed(ordered, Type.FLOAT)
        sorted_ = exp.Order(this=number, expressions=[exp.Ordered(this=number.copy())])
        median = exp.Anonymous(this="median", expressions=[number.copy()])
        return typed(Type.FLOAT, exp.Avg(this=sorted_) if function == "avg" else median)

    def _bind(self, step: Binding) -> None:
        name, value = step.variable.name, self.values.of(step.expression)
        found = self.values.converted(replace(value, sql=self._extended(value.sql)), name)
        if found.type is not value.type:
            found = replace(found, sql=self.values.once(found.sql))
        self.values.known[name] = found
        self._kept(found.sql.copy().is_(exp.null()).not_())

    def _compare(self, comparison: Comparison) -> None:
        left, right = self.values.of(comparison.left), self.values.of(comparison.right)
        self._kept(self.values.test(comparison.operator, left, right))

    def _negate(self, atom: Atom) -> None:
        relation = self.reads(-1, atom)
        if not relation.rows:
            return
        conditions: list[exp.Expr] = []
        local: dict[str, BodyValue] = {}
        for column, term in zip(relation.columns, atom.terms, strict=True):
            here = BodyValue(exp.column(column.name, table="n", quoted=True), column.meant)
            if isinstance(term, Constant):
                conditions.append(self.values.same(here, self.values.of(term)))
                continue
            here = self.values.converted(here, term.name)
            known = self.values.known.get(term.name) or local.get(term.name)
            if known is not None:
                conditions.append(self.values.same(here, known))
            local.setdefault(term.name, here)
        rows = exp.select(exp.Literal.number(1))
        rows = rows.from_(relation_query(relation).subquery("n", copy=False))
        if conditions:
            rows = rows.where(exp.and_(*conditions))
        # In a recursion on one thread, DuckDB 2.0.1 takes EXISTS of a union for false from the
        # second round on.
        counted = exp.select(exp.Count(this=exp.Star())).from_(rows.subquery("n", copy=False))
        self._kept(exp.paren(exp.Subquery(this=counted)).eq(exp.Literal.number(0)))

    def head(
        self, atom: Atom, columns: Sequence[Column], ranked: bool
    ) -> tuple[exp.Select, list[str]]:
        """The head of each solution, and which of its columns are text."""
        selected, texts = [], []
        for column, term in zip(columns, atom.terms, strict=True):
            value = self.values.of(term)
            sql = self.values.shown(value) if value.text else value.sql.copy()
            native = value.type not in (None, *SYMBOLS)
            if column.mixed and native and value.type is not None:
                sql = terms.native_text(value.sql, value.type, self._datatype(term, value.type))
            if value.text or (column.mixed and native):
                texts.append(column.name)
            if column.type and is_widened(value.type, column.type):
                sql = exp.cast(sql, SQL_TYPES[column.type])
            selected.append(sql.as_(column.name, quoted=True))
        if not columns:
            selected.append(exp.true().as_(HOLDS.name, quoted=True))
        if ranked:
            ranks = [*(rank.copy() for rank in self.ranks), exp.Literal.number(OUTSIDE)]
            selected.append(exp.func("greatest", *ranks).as_(RANK, quoted=True))
        return exp.select(*selected).from_(self._inner(), copy=False), texts

    def _datatype(self, term: Term, type_: Type) -> str | None:
        """Which literals the rule makes of a native value that it passes on."""
        program = self.program
        return datatype_passed_on(self.literals, term, type_, program.columns, program.datatypes)


def _everything() -> exp.Column:
    return exp.Column(this=exp.Star(), table=exp.to_identifier("b"))


def _needed(test: Comparison | Atom) -> set[str]:
    """The names of the variables that a test is about."""
    if isinstance(test, Atom):
        return {v.name for v in variables(*test.terms)}
    return {v.name for v in variables(test.left, test.right)}
