"""The values of variables and expressions in one SELECT, and the forms that they are needed in.

A symbol is stored as a number, its id. Functions and order comparisons need the text that it means,
people see the text that it is written as; both are joined in from the dictionary where needed. So
are the values of terms of mixed columns (terms.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql.database.column_types import SQL_TYPES
from zodiac_sql.database.dictionary import KNOWN
from zodiac_sql.database.known_symbols import KNOWN_VALUES
from zodiac_sql.database.statements import once, temp_table, text
from zodiac_sql.database.term_values import LOCAL
from zodiac_sql.facts.native_text import datatype_of, literal_text
from zodiac_sql.language.decimals import is_widened, widest_number
from zodiac_sql.language.functions import BUILTINS, COMPARISONS, fixed_texts, signature
from zodiac_sql.language.symbols import is_plain
from zodiac_sql.language.syntax import SAME, Call, Column, Constant, Expression, Type, Variable
from zodiac_sql.language.types import expression_type, is_narrowed
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.forms import ENCODED, PLAIN, STRUCT, WRITTEN
from zodiac_sql.sql.functions import (
    OPERATORS,
    POSITIVE,
    built,
    choice,
    literal,
    may_lack,
    moment,
    python_call,
    python_call_if_there,
    typed,
)
from zodiac_sql.sql.joins import Joins
from zodiac_sql.sql.terms import (
    STRUCT_TYPE,
    Build,
    Parts,
    any_moment,
    better,
    computed_term,
    cut_off,
    equal,
    native,
    number_or_none,
    ordered,
    parts_of_native,
    parts_of_struct,
    parts_of_symbol,
    parts_of_text,
    struct_of,
    text_only,
    written,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value in SQL: an id or a native value, or, where `text`, the text of a symbol.

    That is PLAIN, what a function has made, or WRITTEN, as people see the symbol; or it is a STRUCT
    of a term. `shown` is the text of a symbol that is a constant of the rule. `parts` are those of
    a struct where they need not be taken out of it.
    """

    sql: exp.Expr
    type: Type | None
    text: int = 0
    shown: str | None = None
    parts: Parts | None = None


@dataclass(slots=True)
class Values:
    """What each variable of a body is, by name (`known`), and what expressions over them are."""

    context: Context
    types: Mapping[str, Type | None]
    joins: Joins
    known: dict[str, Value] = field(default_factory=dict)
    _rows: dict[tuple[str, str], str] = field(default_factory=dict)
    """The aliases of what is joined in already, by its table and the SQL of the symbol's id."""

    def replace(self, known: dict[str, Value]) -> None:
        """Replace all values: those from before are inside a subquery now, out of reach."""
        self.known, self._rows = known, {}

    def of(self, expression: Expression) -> Value:
        """The value of an expression whose variables are known."""
        if isinstance(expression, Constant):
            return self._constant(expression)
        if isinstance(expression, Variable):
            return self.known[expression.name]
        return self._call(expression)

    def either(self, first: Value, second: Value) -> Value:
        """The first value, or the second where there is none."""
        if first.type is Type.ANY:
            if not (first.text or self.context.spelled):
                self._symbol(first.sql, "LEFT")
            nothing = first.sql.copy().is_(exp.null())
            made = exp.case().when(nothing, self._struct(second)).else_(self._struct(first))
            return Value(self.context.left(made, STRUCT_TYPE), Type.ANY, STRUCT)
        return Value(exp.func("coalesce", first.sql.copy(), second.sql.copy()), first.type)

    def widened(self, variable: Variable, value: Value) -> Value:
        """A value as a variable has it: a number becomes one of a wider type if the variable has
        that, and a term the native value that it is equal to.
        """
        wanted = self.types.get(variable.name)
        if is_narrowed(value.type, wanted):
            return Value(self.native(value, wanted), wanted)
        if wanted and is_widened(value.type, wanted):
            return Value(exp.cast(value.sql, SQL_TYPES[wanted]), wanted)
        return value

    def compared(self, operator: str, left: Value, right: Value) -> exp.Expr:
        """A comparison. The order of symbols is that of what they mean, not of their ids."""
        if operator == SAME:
            return self.same(left, right)
        if Type.ANY in (left.type, right.type):
            return self._compared_terms(operator, left, right)
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

    def same(self, left: Value, right: Value) -> exp.Expr:
        """Whether two values are the same where they are joined: terms are, if they are the same
        term.
        """
        if left.type in ENCODED and right.type in ENCODED:
            if left.text or right.text:
                return exp.EQ(this=self.shown(left), expression=self.shown(right))
            return left.sql.copy().eq(right.sql.copy())
        if Type.ANY in (left.type, right.type):
            return self.native(left, right.type).eq(self.native(right, left.type))
        return self.compared("=", left, right)

    def _compared_terms(self, operator: str, left: Value, right: Value) -> exp.Expr:
        """A comparison of terms by value. Those that have none are equal if they are the same."""
        build = _built_by(OPERATORS[operator])
        are_symbols = left.type in ENCODED and right.type in ENCODED
        if operator in ("=", "!="):
            same = equal(self.parts(left), self.parts(right))
            if are_symbols:
                ids = not (left.text or right.text or self.context.spelled)
                sides = (v.sql.copy() if ids else self.shown(v) for v in (left, right))
                same = exp.or_(exp.EQ(this=next(sides), expression=next(sides)), same)
            same = exp.paren(same)
            found: exp.Expr = same if operator == "=" else exp.not_(same)
            unsure = [v.sql.copy().is_(exp.null()).not_() for v in (left, right) if may_lack(v.sql)]
            found = exp.case().when(exp.and_(*unsure), found) if unsure else found
            return self.context.left(found, "BOOLEAN")
        texts = self._compared_texts(build, left, right) if are_symbols else None
        compared = ordered(build, self.parts(left), self.parts(right), texts)
        return self.context.left(compared, "BOOLEAN")

    def _compared_texts(self, build: Build, left: Value, right: Value) -> exp.Expr:
        """A comparison of what terms mean: plain texts have an order, and no others."""
        plain = [test for test in map(self._is_plain, (left, right)) if test is not None]
        texts = build(self.text(left), self.text(right))
        return exp.case().when(exp.and_(*plain), texts) if plain else texts

    def _is_plain(self, value: Value) -> exp.Expr | None:
        """Whether a symbol is a plain text; None if it is known to be one."""
        if value.text == PLAIN or (value.shown is not None and is_plain(value.shown)):
            return None
        if value.shown is not None:
            return exp.false()
        if value.text or self.context.spelled:
            kind: exp.Expr = exp.Anonymous(this="zodiac.kind", expressions=[self.shown(value)])
        else:
            kind = exp.column("kind", table=self._symbol(value.sql))
        return kind.eq(text("plain"))

    def parts(self, value: Value) -> Parts:
        """What a term is worth."""
        if value.type not in ENCODED:
            return parts_of_native(value.sql, value.type)
        if value.text == STRUCT:
            return value.parts or parts_of_struct(value.sql)
        if value.type is Type.SYMBOL:
            return Parts(self.shown(value), exp.cast(exp.null(), "TINYINT"))
        if self.context.spelled:
            return parts_of_text(self.shown(value))
        return parts_of_symbol(self._value(value.sql))

    def native(self, value: Value, type_: Type | None) -> exp.Expr:
        """The value of a native type that a term is equal to; other values as they are."""
        if value.type is not Type.ANY or type_ is None or type_ in ENCODED:
            return self.as_id(value)
        return self.context.left(native(self.parts(value), type_), SQL_TYPES[type_])

    def agree(self, here: Value, value: Value) -> exp.Expr:
        """Whether what a column holds is the value of a variable that stands there.

        Of a variable of terms, native columns of types that do not compare can be in one atom.
        """
        types = {here.type, value.type}
        if len(types) > 1 and not types & {None, *ENCODED} and not widest_number(types):
            return exp.false()
        return here.sql.eq(self.native(value, here.type))

    def as_term(self, value: Value, datatype: str | None = None) -> Value:
        """A native value as the literal that it is in a mixed column; terms as they are."""
        if value.type is None or value.type in ENCODED:
            return value
        literal_ = literal_text(value.sql.copy(), value.type, datatype_of(value.type, datatype))
        return Value(self.context.left(literal_, "TEXT"), Type.ANY, WRITTEN)

    def told(self, value: Value) -> Value:
        """A value that can be told: of a struct, the text of the term."""
        if value.text != STRUCT:
            return value
        return Value(self.shown(value), value.type, WRITTEN)

    def _struct(self, value: Value) -> exp.Expr:
        """A value as a struct of a term; NULL where an expression has no value."""
        if value.text == STRUCT:
            return value.sql.copy()
        parts = self.parts(value)
        if value.type is Type.TIMESTAMP:  # its term has no time zone
            parts = replace(parts, sort=exp.Literal.number(LOCAL))
        is_number = value.type is not None and value.type.numeric
        text_ = None if is_number else self.shown(self.as_term(value))
        made = struct_of(replace(parts, text=text_))
        if may_lack(value.sql):
            made = exp.case().when(value.sql.copy().is_(exp.null()).not_(), made)
        return self.context.left(made, STRUCT_TYPE)

    def text(self, value: Value) -> exp.Expr:
        """The text that a symbol means."""
        if value.text == PLAIN:
            return value.sql.copy()
        return exp.Anonymous(this="zodiac.lexical", expressions=[self.shown(value)])

    def shown(self, value: Value) -> exp.Expr:
        """A value as people see it: symbols decoded."""
        if value.type not in ENCODED:
            return value.sql.copy()
        if value.text == STRUCT:
            return self.context.left(written(value.sql.copy()), "TEXT")
        if value.shown is not None:
            return text(value.shown)
        if value.text == WRITTEN:
            return value.sql.copy()
        if value.text:
            found = exp.Anonymous(this="zodiac.quote_where_needed", expressions=[value.sql.copy()])
            return exp.cast(found, "TEXT")  # DuckDB takes what is always NULL for an integer
        if self.context.spelled:
            return value.sql.copy()
        return exp.column("text", table=self._symbol(value.sql))

    def _symbol(self, id_: exp.Expr, kind: str = "") -> str:
        """The alias of the dictionary's row of a symbol."""
        return self._row(KNOWN, "t", id_, kind)

    def _value(self, id_: exp.Expr) -> str:
        """The alias of the row of a symbol's value, which has only NULL if there is none."""
        return self._row(KNOWN_VALUES, "w", id_, "LEFT")

    def _row(self, table: str, letter: str, id_: exp.Expr, kind: str) -> str:
        """The alias of what a table has of a symbol. It is joined in once."""
        key = table, id_.sql()
        if key not in self._rows:
            alias = self._rows[key] = self.joins.alias(letter)
            same = exp.column("id", table=alias).eq(id_.copy())
            self.joins.join(temp_table(table).as_(alias), [same], kind=kind)
        return self._rows[key]

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
        if column.type is None or value.type in (column.type, column.meant):
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
        if call.function == "if" and registered is None and type_ in ENCODED:
            return self._chosen_symbol(call) if type_ is Type.SYMBOL else self._chosen_term(call)
        if type_ is Type.ANY and call.function in EXTREMES:
            return self._extreme_term(call)
        if type_ is Type.ANY:
            operands = [self.of(argument) for argument in call.arguments]
            first = len(BUILTINS[call.function].parameters)
            first -= BUILTINS[call.function].optional
            made = computed_term(
                call.function,
                [self.parts(one) for one in operands[:first]],
                [self.native(one, Type.INT) for one in operands[first:]],
            )
            struct = self.context.left(number_or_none(made), STRUCT_TYPE)
            return Value(struct, Type.ANY, STRUCT, parts=made)
        if call.function in _CONVERSIONS and self._given_type(call, 0) is Type.ANY:
            return self._converted_term(call, _CONVERSIONS[call.function])
        fixed = fixed_texts(call, functions)
        arguments = [
            text(fixed[place]) if place in fixed else self._argument(call, place)
            for place in range(len(call.arguments))
        ]
        if registered is not None:
            wanted = (
                SQL_TYPES[p] if p is not Type.SYMBOL else "TEXT" for p in registered.parameters
            )
            cast = [exp.cast(a, t) for a, t in zip(arguments, wanted, strict=True)]
            may_lack = any(
                isinstance(argument, Call) or self._given_type(call, place) is Type.ANY
                for place, argument in enumerate(call.arguments)
            )
            sql = (python_call_if_there if may_lack else python_call)(call.function, cast)
        else:
            types = [self._given(call, place) for place in range(len(call.arguments))]
            sql = built(call.function, type_, arguments, types)
        if type_ is Type.SYMBOL:
            return self._left(call, Value(sql, type_, PLAIN))
        positive = registered is None and call.function in POSITIVE
        return self._left(call, Value(typed(type_ or Type.INT, sql, positive), type_))

    def _left(self, call: Call, made: Value) -> Value:
        """What a function makes, left to DuckDB if it gets terms, or if the engine leaves it."""
        leaves = self.context.leaves
        if leaves is None:
            return made
        types = [self._given_type(call, place) for place in range(len(call.arguments))]
        if Type.ANY not in types and not leaves(call.function, types, made.type):
            return made
        type_ = "TEXT" if made.text else SQL_TYPES[made.type or Type.INT]
        return replace(made, sql=self.context.left(made.sql, type_))

    def _chosen_symbol(self, call: Call) -> Value:
        """One of two symbols, by its id unless one of them may have none yet."""
        values, ids = [self.of(one) for one in call.arguments[1:]], self.context.ids
        new = any(v.text or (v.shown is not None and v.shown not in ids) for v in values)
        chosen = [self.shown(v) if new else self.as_id(v) for v in values]
        form = WRITTEN if new and not self.context.spelled else 0
        return Value(choice(self._argument(call, 0), *chosen), Type.SYMBOL, form)

    def _converted_term(self, call: Call, type_: Type) -> Value:
        """The number that a term is, or that it is the text of."""
        value = self.of(call.arguments[0])
        parts = self.parts(value)
        found = [cut_off(parts) if type_ is Type.INT else native(parts, type_)]
        texts = [text_only(parts, self.text(value))]
        found.append(built(call.function, type_, texts, [Type.SYMBOL]))
        number = typed(type_, exp.func("coalesce", *found))
        return Value(self.context.left(number, SQL_TYPES[type_]), type_)

    def _chosen_term(self, call: Call) -> Value:
        """One of two terms of any kind."""
        structs = [self._struct(self.of(one)) for one in call.arguments[1:]]
        chosen = choice(self._argument(call, 0), *structs)
        return Value(self.context.left(chosen, STRUCT_TYPE), Type.ANY, STRUCT)

    def _extreme_term(self, call: Call) -> Value:
        """The least or the greatest of some values, one after the other; of equals the first."""
        build = _built_by(OPERATORS[EXTREMES[call.function]])
        best, *others = map(self.of, call.arguments)
        for other in others:
            best = self._better_term(build, best, other)
        return best

    def _better_term(self, build: Build, first: Value, second: Value) -> Value:
        def chosen(a: exp.Expr, b: exp.Expr) -> exp.Expr:
            sides = ((first, a), (second, b))
            parts = (parts_of_struct(s) if v.text == STRUCT else self.parts(v) for v, s in sides)
            return better(build, next(parts), next(parts), a.copy(), b.copy())

        structs = self._struct(first), self._struct(second)
        made = once(structs, chosen, "list_transform", "list_extract")
        return Value(self.context.left(made, STRUCT_TYPE), Type.ANY, STRUCT)

    def _argument(self, call: Call, place: int) -> exp.Expr:
        """What a function gets: symbols as text, and of terms the values that it takes."""
        value, given = self.of(call.arguments[place]), self._given(call, place)
        if value.type is not Type.ANY:
            return self.text(value) if value.type is Type.SYMBOL else value.sql.copy()
        if given is not Type.SYMBOL:
            assert given is not None
            moment_ = Type.DATE in self._accepted(call, place)
            return any_moment(self.parts(value)) if moment_ else native(self.parts(value), given)
        accepted = self._accepted(call, place)
        meant = self.text(value)
        return meant if len(accepted) > 1 else text_only(self.parts(value), meant)

    def _accepted(self, call: Call, place: int) -> frozenset[Type]:
        builtin = signature(call.function, False, self.context.functions)
        assert builtin is not None
        return builtin.parameter(place, len(call.arguments))

    def _given_type(self, call: Call, place: int) -> Type | None:
        return expression_type(call.arguments[place], self.types, self.context.functions)

    def _given(self, call: Call, place: int) -> Type | None:
        """The type of what a function gets: of terms, the values of one type."""
        type_ = self._given_type(call, place)
        if type_ is not Type.ANY:
            return type_
        accepted = self._accepted(call, place)
        order = (Type.SYMBOL, Type.FLOAT, Type.TIMESTAMP, Type.INT, Type.BOOL, Type.DATE)
        return next(one for one in order if one in accepted)


EXTREMES = {"least": "<=", "greatest": ">="}
"""Functions that choose the first of two values if it compares so with the second."""

_CONVERSIONS = {"int": Type.INT, "float": Type.FLOAT, "decimal": Type.DECIMAL}
"""Functions that make a number of a number or a text."""


def _built_by(kind: type[exp.Binary]) -> Build:
    return lambda a, b: kind(this=a, expression=b)
