"""The body of a rule as a query, for second_opinion.py alone.

Each literal of the body makes the query so far a subquery of a larger one; negation is NOT EXISTS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import create_temp, joining, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.language.binding import arrange, variables
from zodiac_sql.language.functions import COMPARISONS, Functions, fixed_texts
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Call,
    Column,
    Comparison,
    Constant,
    Expression,
    Literal,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types, expression_type
from zodiac_sql.names import RANK
from zodiac_sql.sql.aggregates import aggregated
from zodiac_sql.sql.forms import PLAIN, WRITTEN
from zodiac_sql.sql.functions import OPERATORS, built, choice, literal, moment, python_call, typed
from zodiac_sql.sql.relations import HOLDS, OUTSIDE, Relation, rank_of, relation_query

Reads = Callable[[int, Atom], Relation]
"""The relation that an atom reads, by its place in the body. Negated atoms have place -1."""


@dataclass(frozen=True, slots=True)
class ProgramMeaning:
    """What rules mean: predicates with their types, functions, and the ids of their constants.

    With `share`, aggregates are over those groups only whose hash, divided by the second number,
    leaves the first one.
    """

    schema: Mapping[str, Predicate]
    functions: Functions
    ids: Mapping[str, int]
    share: tuple[int, int] | None = None
    at_once: bool = False
    """Whether queries are parts of a recursive statement: then no table can be made on the way."""

    @property
    def columns(self) -> dict[str, list[Type | None]]:
        return {name: [c.type for c in known.columns] for name, known in self.schema.items()}


class NotAtOnce(Exception):
    """A query needs a table that is made on the way."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value in SQL: native, the id of a symbol, or, with `text`, a text (sql/forms.py)."""

    sql: exp.Expr
    type: Type | None
    text: int = 0


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
    values: dict[str, _Value] = field(default_factory=dict)
    types: Mapping[str, Type | None] = field(default_factory=dict)
    ranks: list[exp.Column] = field(default_factory=list)
    made: int = 0
    nested: int = 0

    def build(self) -> bool:
        """Put the whole body into the query; False if an atom or aggregate has no facts."""
        program = self.program
        self.types = body_types(self.literals, program.columns, program.functions).types
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
        taken: dict[str, _Value] = {}
        conditions, new = [], []
        for column, term in zip(relation.columns, atom.terms, strict=True):
            here = _Value(exp.column(column.name, table="a", quoted=True), column.type)
            if isinstance(term, Constant):
                conditions.append(self._equal(here, self._value(term)))
                continue
            here = self._converted(here, term.name)
            known = taken.get(term.name) or self.values.get(term.name)
            if known is not None:
                conditions.append(self._equal(here, known))
                continue
            taken[term.name] = here
            name = self._column()
            new.append(here.sql.copy().as_(name))
            self.values[term.name] = replace(here, sql=exp.column(name, table="b"))
        if relation.ranked:
            name = self._column()
            new.append(rank_of("a").as_(name))
            self.ranks.append(exp.column(name, table="b"))
        self._joined(relation_query(relation).subquery("a", copy=False), new, conditions)
        return True

    def _converted(self, value: _Value, variable: str) -> _Value:
        """A column as a variable of the body: an int becomes a float if the variable is one."""
        if value.type is Type.INT and self.types.get(variable) is Type.FLOAT:
            return _Value(exp.cast(value.sql, SQL_TYPES[Type.FLOAT]), Type.FLOAT)
        return value

    def _aggregate(self, aggregate: Aggregate) -> bool:
        inside = BodyQuery(self.store, self.program, self.reads, aggregate.body)
        if not inside.build():
            return aggregate.otherwise is not None and self._nothing_found(aggregate)
        rows, found = inside._grouped(aggregate)
        if aggregate.otherwise is not None:
            return self._found_or_else(aggregate, rows.subquery("g", copy=False), found)
        conditions, new = [], []
        for value, variable in zip(found, (*aggregate.group, aggregate.result), strict=True):
            here = self._converted(value, variable.name)
            known = self.values.get(variable.name)
            if known is not None:
                conditions.append(self._equal(here, known))
                continue
            name = self._column()
            new.append(here.sql.copy().as_(name))
            self.values[variable.name] = replace(here, sql=exp.column(name, table="b"))
        self._joined(rows.subquery("g", copy=False), new, conditions)
        return True

    def _found_or_else(
        self, aggregate: Aggregate, rows: exp.Subquery, found: Sequence[_Value]
    ) -> bool:
        """The value of each group, or the one for groups that have no solutions."""
        *groups, value = (
            self._converted(one, variable.name)
            for one, variable in zip(found, (*aggregate.group, aggregate.result), strict=True)
        )
        same = [
            self._equal(group, self.values[variable.name])
            for group, variable in zip(groups, aggregate.group, strict=True)
        ]
        name, other = self._column(), self._otherwise(aggregate)
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

    def _otherwise(self, aggregate: Aggregate) -> _Value:
        assert aggregate.otherwise is not None
        return self._converted(self._value(aggregate.otherwise), aggregate.result.name)

    def _bind_result(self, aggregate: Aggregate, value: _Value) -> None:
        known = self.values.get(aggregate.result.name)
        if known is not None:
            self._kept(self._equal(known, value))
        self.values[aggregate.result.name] = value

    def _grouped(self, aggregate: Aggregate) -> tuple[exp.Select, list[_Value]]:
        """One row for each group of this body's solutions; its values, as columns of g.

        All variables that have a value in a solution tell it apart; with DISTINCT, only the group
        and what is aggregated do.
        """
        argument = self.values[aggregate.argument.name]
        ordered = None
        registered = self.program.functions.get(aggregate.function)
        if argument.type is Type.SYMBOL and aggregate.function != "count":
            shown = self._shown(argument)
            meant = self._meant(argument)
            # Symbols are ordered by their meaning; symbols of the same meaning by their text.
            ordered = meant if registered else exp.Tuple(expressions=[meant, shown])
        counted = {aggregate.argument.name, *(v.name for v in aggregate.group)}
        kept = [v for v in self.values if v in counted or not aggregate.distinct]
        names = {v: f"x{i}" for i, v in enumerate(kept)}
        columns = [self.values[v].sql.copy().as_(name) for v, name in names.items()]
        more = [ordered.as_("t")] if ordered is not None else []
        solutions = exp.select(*columns, *more).distinct().from_(self._inner())
        group = [exp.column(names[v.name], table="d") for v in aggregate.group]
        if self.program.share is not None:
            place, shares = map(exp.Literal.number, self.program.share)
            keys = [self.values[v.name].sql.copy() for v in aggregate.group]
            number = exp.Anonymous(this="hash", expressions=keys)
            solutions = solutions.where(exp.Mod(this=number, expression=shares).eq(place))
        result = aggregated(
            aggregate.function,
            exp.column(names[aggregate.argument.name], table="d"),
            argument.type,
            exp.column("t", table="d") if ordered is not None else None,
            self.program.functions,
        )
        columns = [column.as_(f"y{i}") for i, column in enumerate([*group, result])]
        rows = exp.select(*columns).from_(solutions.subquery("d"))
        rows = rows.group_by(*group) if group else rows.having(exp.Count(this=exp.Star()) > 0)
        last = exp.column(f"y{len(group)}", table="s")
        rows = exp.select(exp.Star()).from_(rows.subquery("s")).where(last.is_(exp.null()).not_())
        made = argument.text if aggregate.function != "count" else 0
        if registered:
            made = PLAIN * (registered.returns is Type.SYMBOL)
        type_ = body_types((aggregate,), self.program.columns, self.program.functions).types
        values = [self.values[v.name] for v in aggregate.group]
        values.append(_Value(exp.null(), type_[aggregate.result.name], made))
        return rows, [
            replace(value, sql=exp.column(f"y{i}", table="g")) for i, value in enumerate(values)
        ]

    def _bind(self, step: Binding) -> None:
        value = self._value(step.expression)
        column = self._extended(value.sql)
        self.values[step.variable.name] = self._converted(
            replace(value, sql=column), step.variable.name
        )
        self._kept(column.copy().is_(exp.null()).not_())

    def _compare(self, comparison: Comparison) -> None:
        left, right = self._value(comparison.left), self._value(comparison.right)
        self._kept(self._test(comparison.operator, left, right))

    def _test(self, operator: str, left: _Value, right: _Value) -> exp.Expr:
        """A comparison of two values."""
        if operator in ("=", "!="):
            same = exp.paren(self._equal(left, right))
            return same if operator == "=" else exp.paren(exp.not_(same))
        if Type.SYMBOL in (left.type, right.type):
            a, b = self._meant(left), self._meant(right)
        else:
            a, b = _alike(left, right)
        return exp.paren(OPERATORS[operator](this=a, expression=b))

    def _negate(self, atom: Atom) -> None:
        relation = self.reads(-1, atom)
        if not relation.rows:
            return
        conditions: list[exp.Expr] = []
        local: dict[str, _Value] = {}
        for column, term in zip(relation.columns, atom.terms, strict=True):
            here = _Value(exp.column(column.name, table="n", quoted=True), column.type)
            if isinstance(term, Constant):
                conditions.append(self._equal(here, self._value(term)))
                continue
            here = self._converted(here, term.name)
            known = self.values.get(term.name) or local.get(term.name)
            if known is not None:
                conditions.append(self._equal(here, known))
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
            value = self._value(term)
            sql = self._shown(value) if value.text else value.sql.copy()
            if value.text:
                texts.append(column.name)
            if column.type is Type.FLOAT and value.type is Type.INT:
                sql = exp.cast(sql, SQL_TYPES[Type.FLOAT])
            selected.append(sql.as_(column.name, quoted=True))
        if not columns:
            selected.append(exp.true().as_(HOLDS.name, quoted=True))
        if ranked:
            ranks = [*(rank.copy() for rank in self.ranks), exp.Literal.number(OUTSIDE)]
            selected.append(exp.func("greatest", *ranks).as_(RANK, quoted=True))
        return exp.select(*selected).from_(self._inner(), copy=False), texts

    # Values

    def _value(self, expression: Expression) -> _Value:
        if isinstance(expression, Variable):
            return self.values[expression.name]
        if isinstance(expression, Call):
            return self._call(expression)
        if expression.type is Type.SYMBOL:
            # -1 is the id of no symbol: it stands for a symbol that the dictionary does not know.
            id_ = self.program.ids.get(str(expression.value), -1)
            return _Value(exp.Literal.number(id_), Type.SYMBOL)
        return _Value(literal(expression), expression.type)

    def _call(self, call: Call) -> _Value:
        functions = self.program.functions
        values = [self._value(argument) for argument in call.arguments]
        type_ = expression_type(call, self.types, functions)
        registered = functions.get(call.function)
        if call.function in COMPARISONS:
            return _Value(self._test(call.function, *values), Type.BOOL)
        if call.function == "if" and registered is None and type_ is Type.SYMBOL:
            return self._chosen_symbol(*values)
        arguments = [self._meant(v) if v.type is Type.SYMBOL else v.sql.copy() for v in values]
        for place, written in fixed_texts(call, functions).items():
            arguments[place] = exp.Literal.string(written)
        if registered is None:
            sql = built(call.function, type_, arguments, [value.type for value in values])
        else:
            wanted = ["TEXT" if p is Type.SYMBOL else SQL_TYPES[p] for p in registered.parameters]
            given = [exp.cast(a, t) for a, t in zip(arguments, wanted, strict=True)]
            there = exp.and_(*(a.copy().is_(exp.null()).not_() for a in given))
            sql = exp.case().when(there, python_call(call.function, given))
        if type_ is not Type.SYMBOL:
            return _Value(typed(type_ or Type.INT, sql), type_)
        return _Value(sql, type_, PLAIN)

    def _chosen_symbol(self, condition: _Value, first: _Value, second: _Value) -> _Value:
        """One of two symbols, as it is written."""
        chosen = self._shown(first), self._shown(second)
        return _Value(choice(condition.sql.copy(), *chosen), Type.SYMBOL, WRITTEN)

    def _shown(self, value: _Value) -> exp.Expr:
        """The text of a symbol as people see it."""
        if value.text == WRITTEN:
            return value.sql.copy()
        if value.text:
            given = [self._once(value.sql)]
            quoted = exp.Anonymous(this="zodiac.quote_where_needed", expressions=given)
            return exp.cast(quoted, "TEXT")  # DuckDB takes what is always NULL for an integer
        same = exp.column("id", table="k").eq(value.sql.copy())
        # The minimum gives one text even if a damaged dictionary has several.
        text = exp.select(exp.Min(this=exp.column("text", table="k")))
        return exp.Subquery(this=text.from_(temp_table(dictionary.KNOWN).as_("k")).where(same))

    def _meant(self, value: _Value) -> exp.Expr:
        """The text of a symbol as functions get it."""
        if value.text == PLAIN:
            return value.sql.copy()
        return exp.Anonymous(this="zodiac.lexical", expressions=[self._once(self._shown(value))])

    def _once(self, value: exp.Expr) -> exp.Expr:
        """A value as a column, because macros write their arguments several times."""
        return value.copy() if isinstance(value, exp.Column) else self._extended(value)

    def _equal(self, left: _Value, right: _Value) -> exp.Expr:
        if left.text or right.text:
            return self._shown(left).eq(self._shown(right))
        a, b = _alike(left, right)
        return a.eq(b)


def _everything() -> exp.Column:
    return exp.Column(this=exp.Star(), table=exp.to_identifier("b"))


def _alike(left: _Value, right: _Value) -> tuple[exp.Expr, exp.Expr]:
    """Two values made comparable: an int is compared with a float as a float."""
    if {left.type, right.type} == {Type.INT, Type.FLOAT}:
        a, b = (exp.cast(v.sql.copy(), SQL_TYPES[Type.FLOAT]) for v in (left, right))
        return a, b
    first = moment(left.sql.copy(), left.type, right.type)
    return first, moment(right.sql.copy(), right.type, left.type)


def _needed(test: Comparison | Atom) -> set[str]:
    """The names of the variables that a test is about."""
    if isinstance(test, Atom):
        return {v.name for v in variables(*test.terms)}
    return {v.name for v in variables(test.left, test.right)}
