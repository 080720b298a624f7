"""The values of a body's variables and expressions, for rule_body.py alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.statements import temp_table
from zodiac_sql.language.decimals import is_widened, widest_number
from zodiac_sql.language.functions import (
    BUILTINS,
    COMPARISONS,
    Functions,
    fixed_texts,
    signature,
)
from zodiac_sql.language.passed_on import Datatypes
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Call, Expression, Type, Variable
from zodiac_sql.language.types import expression_type, is_narrowed
from zodiac_sql.read.verify import terms
from zodiac_sql.sql.forms import PLAIN, WRITTEN
from zodiac_sql.sql.functions import OPERATORS, built, choice, literal, moment, python_call, typed

TERM = 3
"""A value is a struct of a term of any kind (terms.py), neither an id nor a text."""

SYMBOLS = (Type.SYMBOL, Type.ANY)

_CONVERSIONS = {"int": Type.INT, "float": Type.FLOAT, "decimal": Type.DECIMAL}
"""Functions that make a number of a number or a text."""


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
    datatypes: Datatypes = field(default_factory=dict)
    """Which literals native values are where rules copy them to columns of terms."""

    @property
    def columns(self) -> dict[str, list[Type | None]]:
        return {name: [c.meant for c in known.columns] for name, known in self.schema.items()}


@dataclass(frozen=True, slots=True)
class BodyValue:
    """A value in SQL: native, or an id, or with `text` a text (sql/forms.py) or a TERM."""

    sql: exp.Expr
    type: Type | None
    text: int = 0


@dataclass(slots=True)
class BodyValues:
    """What the variables of a body are, by name, and what expressions over them are.

    `extended` adds a column to the body's query, and returns it.
    """

    program: ProgramMeaning
    extended: Callable[[exp.Expr], exp.Column]
    known: dict[str, BodyValue] = field(default_factory=dict)
    types: Mapping[str, Type | None] = field(default_factory=dict)

    def of(self, expression: Expression) -> BodyValue:
        """The value of an expression."""
        if isinstance(expression, Variable):
            return self.known[expression.name]
        if isinstance(expression, Call):
            return self._call(expression)
        if expression.type is Type.SYMBOL:
            # -1 is the id of no symbol: it stands for a symbol that the dictionary does not know.
            id_ = self.program.ids.get(str(expression.value), -1)
            return BodyValue(exp.Literal.number(id_), Type.SYMBOL)
        return BodyValue(literal(expression), expression.type)

    def converted(self, value: BodyValue, variable: str) -> BodyValue:
        """A value as a variable of the body: an int becomes a float if the variable is one, and a
        term what it is equal to if the variable is native.
        """
        wanted = self.types.get(variable)
        if wanted is not None and is_narrowed(value.type, wanted):
            return self.narrowed(value, wanted)
        if wanted and is_widened(value.type, wanted):
            return BodyValue(exp.cast(value.sql, SQL_TYPES[wanted]), wanted)
        return value

    def narrowed(self, value: BodyValue, type_: Type) -> BodyValue:
        """A term as a native value; NULL if it is none."""
        return BodyValue(terms.narrowed(self.term(value), type_), type_)

    def term(self, value: BodyValue) -> exp.Expr:
        """A value as a struct."""
        if value.text == TERM:
            return value.sql.copy()
        if value.type is Type.ANY:
            return terms.looked_up(value.sql)
        if value.type in (None, Type.SYMBOL):
            return terms.of_text(self.shown(value))
        assert value.type is not None
        return terms.of_native(value.sql, value.type)

    def test(self, operator: str, left: BodyValue, right: BodyValue) -> exp.Expr:
        """A comparison of two values."""
        if Type.ANY in (left.type, right.type):
            sides = (self.once(self.term(side)) for side in (left, right))
            return terms.compared(operator, next(sides), next(sides))
        if operator in ("=", "!="):
            same = exp.paren(self.same(left, right))
            return same if operator == "=" else exp.paren(exp.not_(same))
        if Type.SYMBOL in (left.type, right.type):
            a, b = self.meant(left), self.meant(right)
        else:
            a, b = _alike(left, right)
        return exp.paren(OPERATORS[operator](this=a, expression=b))

    def same(self, left: BodyValue, right: BodyValue) -> exp.Expr:
        """Whether two values that one variable has in two places are the same."""
        if {left.type, right.type} <= {None, *SYMBOLS}:
            if left.text or right.text:
                return self.shown(left).eq(self.shown(right))
            return left.sql.copy().eq(right.sql.copy())
        if left.type is Type.ANY and right.type is not None:
            left = self.narrowed(left, right.type)
        elif right.type is Type.ANY and left.type is not None:
            right = self.narrowed(right, left.type)
        a, b = _alike(left, right)
        return a.eq(b)

    def shown(self, value: BodyValue) -> exp.Expr:
        """The text of a symbol as people see it."""
        if value.text == TERM:
            return terms.written_term(value.sql)
        if value.text == WRITTEN:
            return value.sql.copy()
        if value.text:
            given = [self.once(value.sql)]
            quoted = exp.Anonymous(this="zodiac.quote_where_needed", expressions=given)
            return exp.cast(quoted, "TEXT")  # DuckDB takes what is always NULL for an integer
        same = exp.column("id", table="k").eq(value.sql.copy())
        # The minimum gives one text even if a damaged dictionary has several.
        text = exp.select(exp.Min(this=exp.column("text", table="k")))
        return exp.Subquery(this=text.from_(temp_table(dictionary.KNOWN).as_("k")).where(same))

    def meant(self, value: BodyValue) -> exp.Expr:
        """The text of a symbol as functions get it."""
        if value.text == PLAIN:
            return value.sql.copy()
        return exp.Anonymous(this="zodiac.lexical", expressions=[self.once(self.shown(value))])

    def once(self, value: exp.Expr) -> exp.Expr:
        """A value as a column, because macros write their arguments several times."""
        return value.copy() if isinstance(value, exp.Column) else self.extended(value)

    # Calls

    def _call(self, call: Call) -> BodyValue:
        functions = self.program.functions
        values = [self.of(argument) for argument in call.arguments]
        type_ = expression_type(call, self.types, functions)
        registered = functions.get(call.function)
        if call.function in COMPARISONS:
            return BodyValue(self.test(call.function, *values), Type.BOOL)
        if call.function == "if" and registered is None and type_ in SYMBOLS:
            return self._chosen(type_, *values)
        if type_ is Type.ANY and call.function in ("least", "greatest"):
            return self._extreme(call.function, values)
        if type_ is Type.ANY:
            return self._computed(call, values)
        arguments, types = self._arguments(call, values)
        for place, written in fixed_texts(call, functions).items():
            arguments[place] = exp.Literal.string(written)
        if registered is None:
            sql = built(call.function, type_, arguments, types)
            if values and values[0].type is Type.ANY and call.function in _CONVERSIONS:
                sql = self._number(call.function, type_, values[0])
        else:
            wanted = ["TEXT" if p is Type.SYMBOL else SQL_TYPES[p] for p in registered.parameters]
            given = [exp.cast(a, t) for a, t in zip(arguments, wanted, strict=True)]
            there = exp.and_(*(a.copy().is_(exp.null()).not_() for a in given))
            sql = exp.case().when(there, python_call(call.function, given))
        if type_ is not Type.SYMBOL:
            return BodyValue(typed(type_ or Type.INT, sql), type_)
        return BodyValue(sql, type_, PLAIN)

    def _arguments(
        self, call: Call, values: list[BodyValue]
    ) -> tuple[list[exp.Expr], list[Type | None]]:
        """What a function gets, and of which types; of terms, values of a type that it takes."""
        builtin = signature(call.function, False, self.program.functions)
        arguments: list[exp.Expr] = []
        types: list[Type | None] = []
        for place, value in enumerate(values):
            if value.type is not Type.ANY:
                is_symbol = value.type is Type.SYMBOL
                arguments.append(self.meant(value) if is_symbol else value.sql.copy())
                types.append(value.type)
                continue
            assert builtin is not None
            accepted = builtin.parameter(place, len(values))
            term = self.once(self.term(value))
            order = (Type.SYMBOL, Type.FLOAT, Type.TIMESTAMP, Type.INT, Type.BOOL, Type.DATE)
            type_ = next(one for one in order if one in accepted)
            types.append(type_)
            if type_ is Type.SYMBOL:
                of_all = len(accepted) > 1
                arguments.append(terms.meant(term) if of_all else terms.text_alone(term))
            elif type_ is Type.TIMESTAMP and Type.DATE in accepted:
                arguments.append(terms.moment_of(term))
            else:
                arguments.append(terms.narrowed(term, type_))
        return arguments, types

    def _number(self, function: str, type_: Type | None, value: BodyValue) -> exp.Expr:
        """A term as a number: what it is equal to, a float cut off, or what a text writes."""
        term = self.once(self.term(value))
        wanted = _CONVERSIONS[function]
        found = terms.cut_off(term) if wanted is Type.INT else terms.narrowed(term, wanted)
        of_text = built(function, type_, [terms.text_alone(term)], [Type.SYMBOL])
        return exp.func("coalesce", found, of_text)

    def _computed(self, call: Call, values: list[BodyValue]) -> BodyValue:
        """A number that has the kind of those that it is computed from."""
        builtin = BUILTINS[call.function]
        first = len(builtin.parameters) - builtin.optional
        operands = [self.once(self.term(value)) for value in values[:first]]
        places = [
            self.narrowed(v, Type.INT).sql if v.type is Type.ANY else v.sql.copy()
            for v in values[first:]
        ]
        made = self.once(terms.computed(call.function, operands, places))
        return BodyValue(made, Type.ANY, TERM)

    def _extreme(self, function: str, values: list[BodyValue]) -> BodyValue:
        """The least or greatest of some values, one after the other."""
        best, *others = (self.once(self.term(value)) for value in values)
        for other in others:
            best = self.once(terms.better(function, best, other))
        return BodyValue(best, Type.ANY, TERM)

    def stored_term(self, value: BodyValue) -> exp.Expr:
        """A value as the struct of the term that it is in a column of terms of all kinds."""
        return terms.as_stored(self.once(self.term(value)))

    def _chosen(
        self, type_: Type | None, condition: BodyValue, first: BodyValue, second: BodyValue
    ) -> BodyValue:
        """One of two symbols, as it is written; or of two terms."""
        show = self.shown if type_ is Type.SYMBOL else self.stored_term
        if condition.type is Type.ANY:
            condition = self.narrowed(condition, Type.BOOL)
        chosen = choice(condition.sql.copy(), show(first), show(second))
        return BodyValue(chosen, type_, WRITTEN if type_ is Type.SYMBOL else TERM)


def _alike(left: BodyValue, right: BodyValue) -> tuple[exp.Expr, exp.Expr]:
    """Two values made comparable: an int is compared with a float as a float."""
    if wide := widest_number({left.type, right.type}):
        a, b = (exp.cast(v.sql.copy(), SQL_TYPES[wide]) for v in (left, right))
        return a, b
    first = moment(left.sql.copy(), left.type, right.type)
    return first, moment(right.sql.copy(), right.type, left.type)
