"""The values of variables and expressions in one SELECT, and the forms that they are needed in.

A symbol is stored as a number, its id. Functions and order comparisons need the text that it means,
people see the text that it is written as; both are joined in from the dictionary where needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.dictionary import KNOWN
from zodiac_sql.database.statements import temp_table, text
from zodiac_sql.language.decimals import is_widened
from zodiac_sql.language.functions import COMPARISONS, fixed_texts
from zodiac_sql.language.syntax import Call, Column, Constant, Expression, Type, Variable
from zodiac_sql.language.types import expression_type
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.forms import PLAIN, WRITTEN
from zodiac_sql.sql.functions import (
    OPERATORS,
    POSITIVE,
    built,
    choice,
    literal,
    moment,
    python_call,
    python_call_if_there,
    typed,
)
from zodiac_sql.sql.joins import Joins


@dataclass(frozen=True, slots=True)
class Value:
    """A value in SQL: an id or a native value, or, where `text`, the text of a symbol.

    That is PLAIN, what a function has made, or WRITTEN, as people see the symbol. `shown` is the
    text of a symbol that is a constant of the rule.
    """

    sql: exp.Expr
    type: Type | None
    text: int = 0
    shown: str | None = None


@dataclass(slots=True)
class Values:
    """What each variable of a body is, by name (`known`), and what expressions over them are."""

    context: Context
    types: Mapping[str, Type | None]
    joins: Joins
    known: dict[str, Value] = field(default_factory=dict)
    _texts: dict[str, exp.Expr] = field(default_factory=dict)
    """The text of a symbol that is joined in already, by the SQL of its id."""

    def replace(self, known: dict[str, Value]) -> None:
        """Replace all values: those from before are inside a subquery now, out of reach."""
        self.known, self._texts = known, {}

    def of(self, expression: Expression) -> Value:
        """The value of an expression whose variables are known."""
        if isinstance(expression, Constant):
            return self._constant(expression)
        if isinstance(expression, Variable):
            return self.known[expression.name]
        return self._call(expression)

    def widened(self, variable: Variable, value: Value) -> Value:
        """A value as a variable has it: a number may become one of a wider type."""
        wide = self.types.get(variable.name)
        if wide and is_widened(value.type, wide):
            return Value(exp.cast(value.sql, SQL_TYPES[wide]), wide)
        return value

    def compared(self, operator: str, left: Value, right: Value) -> exp.Expr:
        """A comparison. The order of symbols is that of what they mean, not of their ids."""
        symbols = Type.SYMBOL in (left.type, right.type)
        if symbols and operator not in ("=", "!="):
            a: exp.Expr = self.text(left)
            b = self.text(right)
        elif symbols and (left.text or right.text):
            a, b = self.shown(left), self.shown(right)
        else:
            a, b = (moment(value.sql, value.type, other.type)
                    for value, other in ((left, right), (right, left)))  # fmt: skip
        return OPERATORS[operator](this=a.copy(), expression=b.copy())

    def text(self, value: Value) -> exp.Expr:
        """The text that a symbol means."""
        if value.text == PLAIN:
            return value.sql.copy()
        return exp.Anonymous(this="zodiac.lexical", expressions=[self.shown(value)])

    def shown(self, value: Value) -> exp.Expr:
        """A value as people see it: symbols decoded."""
        if value.type is not Type.SYMBOL:
            return value.sql.copy()
        if value.shown is not None:
            return text(value.shown)
        if value.text == WRITTEN:
            return value.sql.copy()
        if value.text:
            found = exp.Anonymous(this="zodiac.quote_where_needed", expressions=[value.sql.copy()])
            return exp.cast(found, "TEXT")  # DuckDB takes what is always NULL for an integer
        if self.context.spelled:
            return value.sql.copy()
        key = value.sql.sql()
        if key not in self._texts:
            alias = self.joins.alias("t")
            same = exp.column("id", table=alias).eq(value.sql.copy())
            self.joins.join(temp_table(KNOWN).as_(alias), [same])
            self._texts[key] = exp.column("text", table=alias)
        return self._texts[key].copy()

    def as_id(self, value: Value) -> exp.Expr:
        """A value as it is stored; text that no symbol has becomes NULL, which equals nothing."""
        if not value.text:
            return value.sql.copy()
        if self.context.spelled:
            return self.shown(value)
        alias = self.joins.alias("k")
        same = exp.column("text", table=alias).eq(self.shown(value))
        self.joins.join(temp_table(KNOWN).as_(alias), [same], kind="LEFT")
        return exp.column("id", table=alias)

    def stored(self, value: Value, column: Column) -> exp.Expr:
        """A value that is no text as the head's column stores it."""
        if value.type is column.type or column.type is None:
            return value.sql.copy()
        return exp.cast(value.sql.copy(), SQL_TYPES[column.type])

    def _constant(self, constant: Constant) -> Value:
        if constant.type is Type.SYMBOL:
            # A symbol that the dictionary does not know gets an id that no symbol has.
            shown = str(constant.value)
            if self.context.spelled:
                return Value(text(shown), Type.SYMBOL, shown=shown)
            id_ = self.context.ids.get(shown, -1)
            return Value(exp.Literal.number(id_), Type.SYMBOL, shown=shown)
        return Value(literal(constant), constant.type)

    def _call(self, call: Call) -> Value:
        functions = self.context.functions
        type_ = expression_type(call, self.types, functions)
        registered = functions.get(call.function)
        if call.function in COMPARISONS:
            left, right = map(self.of, call.arguments)
            return Value(exp.paren(self.compared(call.function, left, right)), Type.BOOL)
        if call.function == "if" and registered is None and type_ is Type.SYMBOL:
            return self._chosen_symbol(call)
        fixed = fixed_texts(call, functions)
        arguments = [
            text(fixed[place]) if place in fixed else self._argument(argument)
            for place, argument in enumerate(call.arguments)
        ]
        if registered is not None:
            wanted = (
                SQL_TYPES[p] if p is not Type.SYMBOL else "TEXT" for p in registered.parameters
            )
            cast = [exp.cast(a, t) for a, t in zip(arguments, wanted, strict=True)]
            computed = any(isinstance(argument, Call) for argument in call.arguments)
            sql = (python_call_if_there if computed else python_call)(call.function, cast)
        else:
            types = [expression_type(a, self.types, functions) for a in call.arguments]
            sql = built(call.function, type_, arguments, types)
        if type_ is Type.SYMBOL:
            return Value(sql, type_, PLAIN)
        positive = registered is None and call.function in POSITIVE
        return Value(typed(type_ or Type.INT, sql, positive), type_)

    def _chosen_symbol(self, call: Call) -> Value:
        """One of two symbols, by its id unless one of them may have none yet."""
        condition, *both = call.arguments
        values, ids = [self.of(one) for one in both], self.context.ids
        new = any(v.text or (v.shown is not None and v.shown not in ids) for v in values)
        chosen = [self.shown(v) if new else self.as_id(v) for v in values]
        form = WRITTEN if new and not self.context.spelled else 0
        return Value(choice(self.of(condition).sql.copy(), *chosen), Type.SYMBOL, form)

    def _argument(self, expression: Expression) -> exp.Expr:
        """What a function gets: symbols as text."""
        value = self.of(expression)
        return self.text(value) if value.type is Type.SYMBOL else value.sql.copy()
