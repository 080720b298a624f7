"""Parse tree -> expressions: constants, variables, calls, and the names in a text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

from lark import Token, Tree

from zodiac_sql.errors import Problem, Source, Span, shortened
from zodiac_sql.language import literals, moments, symbols
from zodiac_sql.language.alternatives import MOST_PARTS, parts
from zodiac_sql.language.binding import CUT_DEPTH, DEEPEST
from zodiac_sql.language.binding import depth as height
from zodiac_sql.language.datatypes import (
    as_written,
    float_of,
    former_value_of,
    hint_of,
    value_of,
    written,
    xsd_type,
)
from zodiac_sql.language.decimals import ROOM, fitting
from zodiac_sql.language.edits import Edits
from zodiac_sql.language.escapes import unquoted, wrong_escape
from zodiac_sql.language.places import Places
from zodiac_sql.language.prefixed import WELL_KNOWN_PREFIXES
from zodiac_sql.language.syntax import Call, Constant, Expression, Term, Type, Variable
from zodiac_sql.language.values import ClauseValues


def _is_beyond_ascii(token: Token) -> bool:
    """Whether a variable begins with a capital beyond ASCII."""
    return token[0] > "\x7f"


_FLATTER = "Each operator counts: X + 1 + 1 is two deep. Name a part of it with BIND."


class Expressions(Places):
    """Reads the expressions of one source, and collects their problems.

    If `plain`, no variable stands for a predicate: `?P(X)` is an atom of the predicate "?P". So it
    was once, and so it is in the text of rules that are in a file as rules without such variables.

    If `former`, texts mean what they meant until December 2026 (language/kept_texts.py).
    """

    def __init__(
        self,
        source: Source,
        prefixes: Mapping[str, str],
        *,
        plain: bool = False,
        former: bool = False,
    ) -> None:
        super().__init__(source)
        self.plain = plain
        self.former = former
        self.floats = False
        """Whether values of xsd:decimal are floats, as they once were (language/kept_texts.py)."""
        self.edits = Edits(source.text)
        self.prefixes = {**WELL_KNOWN_PREFIXES, **prefixes}
        self.used_prefixes: dict[str, str] = {}
        self.values = ClauseValues()
        self.anonymous = 0
        self.inexact: list[Problem] = []
        """What is to be said of constants of this clause that are not kept just as written."""
        self.inexact_moments: list[Problem] = []
        """The moments that no timestamp keeps. Every text that is new is refused with them."""

    def _varies(self, token: Token) -> bool:
        """Whether a name in front of parentheses is a variable for a predicate."""
        return token.type == "VARIABLE" and token[0] in "?$" and not self.plain

    def _term(self, tree: Tree[Token]) -> Term:
        expression = self._expression(tree)
        return self.values.name(expression) if isinstance(expression, Call) else expression

    # Expressions

    def _expression(self, tree: Tree[Token], depth: int = 0) -> Expression:
        children = cast("list[Any]", tree.children)
        span, depth = self._span(tree), depth + 1
        if depth > DEEPEST + 1:
            self._problem(f"an expression is more than {DEEPEST} calls deep", span, _FLATTER)
            return Constant(Type.INT, 0, span)
        match tree.data:
            case "variable":
                if self.former and _is_beyond_ascii(children[0]):
                    self._edit(children[0], symbols.quoted(children[0]))
                    return Constant(Type.SYMBOL, str(children[0]), span)
                return self._variable(children[0])
            case "arithmetic":
                left, operator, right = children
                operands = (self._expression(left, depth), self._expression(right, depth))
                return Call(str(operator), operands, span)
            case "sign":
                sign, operand = children
                if operand.data == "number":
                    return self._number(operand.children[0], span, str(sign))
                return self._signed(str(sign), self._expression(operand, depth), span)
            case "range":
                self._problem(
                    "a range stands for several facts, and only in a fact", span,
                    "In a rule, compare: X >= 1, X <= 5.",
                )  # fmt: skip
                return Constant(Type.INT, 0, span)
            case "call":
                given = [child for child in children[1:] if child is not None]
                return self._called(str(children[0]).lower(), given, depth, span)
            case "named":
                self._problem(
                    "this argument has a name",
                    span,
                    "Either all columns of an atom have names, or none.",
                )
                return Constant(Type.INT, 0, span)
            case "compared" | "all" | "either" | "denied":
                self._problem("a condition stands only in if(condition, a, b)", span)
                return Constant(Type.BOOL, False, span)
            case _:
                return self._constant(tree, span)

    def _called(self, function: str, given: list[Tree[Token]], depth: int, span: Span) -> Call:
        """A call of a function. Only the first argument of `if` can be a condition."""
        conditions = [self._condition(child, depth) for child in given[: function == "if"]]
        others = [self._expression(child, depth) for child in given[function == "if" :]]
        call = Call(function, (*conditions, *others), span)
        if function == "if" and height(call) > CUT_DEPTH:
            self._problem(
                f"what stands in an if is more than {CUT_DEPTH} calls deep", span, _FLATTER
            )
            return Call(function, (*conditions, *(Constant(Type.INT, 0) for _ in others)), span)
        return call

    def _condition(self, tree: Tree[Token], depth: int) -> Expression:
        """A condition as an expression: comparisons and what joins them are functions in it."""
        span, children = self._span(tree), cast("list[Any]", tree.children)
        if depth > DEEPEST:
            return self._expression(tree, depth)
        match tree.data:
            case "compared":
                left, operator, right = children
                sides = self._expression(left, depth), self._expression(right, depth)
                return Call(literals.comparison(str(operator)), sides, span)
            case "all" | "either" | "denied":
                name = {"all": "and", "either": "or", "denied": "not"}[tree.data]
                parts = tuple(self._condition(child, depth + 1) for child in children)
                return Call(name, parts, span)
            case _:
                return self._expression(tree, depth)

    def _signed(self, sign: str, operand: Expression, span: Span) -> Expression:
        if sign == "+":
            return operand
        if isinstance(operand, Constant) and operand.type.numeric:
            number = operand.value
            if isinstance(number, Decimal):
                return replace(operand, value=fitting(number.copy_negate()), span=span)
            return self._within(operand.type, 0 - cast("float", number), span)
        return Call("-", (Constant(Type.INT, 0, span), operand), span)

    def _variable(self, token: Token) -> Variable:
        if str(token) == "_":
            self.anonymous += 1
            return Variable(f"_:{self.anonymous}", self._token_span(token))
        if _is_beyond_ascii(token):
            self._edit(token, f"?{token}")
        return Variable(str(token).lstrip("?$"), self._token_span(token))

    def _constant(self, tree: Tree[Token], span: Span) -> Constant:
        token, *more = cast("list[Token]", tree.children)
        match tree.data:
            case "number":
                return self._number(token, span)
            case "boolean":
                return Constant(Type.BOOL, str(token) == "true", span)
            case "text":
                return Constant(Type.SYMBOL, symbols.plain(self._unquoted(token)), span)
            case "tagged":
                text = symbols.literal(self._unquoted(token), language=more[0][1:])
                return Constant(Type.SYMBOL, text, span)
            case "typed":
                return self._typed(self._unquoted(token), self._iri(more[0]), span)
            case _:
                return Constant(Type.SYMBOL, self._symbol(token), span)

    def _symbol(self, token: Token) -> str:
        """A name, an IRI, or a blank node as answers and explanations write it: `_:b0`."""
        is_blank = token.type == "QNAME" and token.startswith("_:") and "_" not in self.prefixes
        if token.type == "NAME" or is_blank:
            return str(token)
        return symbols.iri(self._iri(token))

    def _number(self, token: Token, span: Span, sign: str = "") -> Constant:
        text = sign + token
        if re.fullmatch(r"\d+", token):
            return self._within(Type.INT, literals.integer(token, sign), span)
        value = float_of(text)
        if math.isinf(value):
            self._problem(f"the number {shortened(text)} is too large for a float", span)
        self._exact(text, span)
        return Constant(Type.FLOAT, value, span)

    def _exact(self, text: str, span: Span) -> None:
        if (nearest := literals.rounded(text)) is not None:
            said = f"the number {shortened(text)} would be rounded: floats have 64 bits"
            self.inexact.append(Problem(said, span, f"The nearest one is {nearest!r}."))

    def _within(self, type_: Type, value: float | Decimal, span: Span) -> Constant:
        """A number; an integer must fit into 64 bits."""
        if type_ is Type.INT and not -(2**63) <= value < 2**63:
            self._problem(f"the integer {shortened(value)} has more than 64 bits", span)
        return Constant(type_, value, span)

    def _typed(self, text: str, datatype: str, span: Span) -> Constant:
        type_ = xsd_type(datatype)
        if type_ is None:
            return Constant(Type.SYMBOL, symbols.literal(text, datatype=datatype), span)
        try:
            value = self._value(type_, text, datatype, span)
        except (ValueError, OverflowError) as error:
            name = datatype.removeprefix(symbols.XSD)
            said = f'"{shortened(text)}" is not an xsd:{name}'
            hint = hint_of(datatype)
            if type_ is Type.DECIMAL and isinstance(error, OverflowError):
                said, hint = f"the decimal {shortened(text)} has no room", f"{ROOM.capitalize()}."
            self._problem(said, span, hint)
            return Constant(type_, Decimal(0) if type_ is Type.DECIMAL else 0, span)
        if type_ is Type.TIMESTAMP and moments.is_finer(text.strip()):
            said = f'"{shortened(text)}" is finer than microseconds'
            self.inexact_moments.append(Problem(said, span))
            if self.former:
                self._edit(span, written(value, type_))
        made = self._within(type_, value, span)
        return made if self.former or self.floats else as_written(made, text, datatype)

    def _edit(self, where: Token | Span, text: str) -> None:
        """Note what is written instead of a part of the text where that is kept."""
        span = self._token_span(where) if isinstance(where, Token) else where
        offset = self.source.offset
        start, end = offset(span.line, span.column), offset(span.end_line, span.end_column)
        self.edits.note(start, end, text)

    def _value(self, type_: Type, text: str, datatype: str, span: Span) -> Any:
        """The value of a text. Raises errors as `value_of` does."""
        if self.floats and type_ is Type.DECIMAL:
            value = former_value_of(Type.FLOAT, text)
            self._edit(span, written(value, Type.FLOAT))
            return value
        try:
            return value_of(datatype, text)
        except ValueError:
            if not self.former:
                raise
            value = former_value_of(type_, text)
            self._edit(span, written(value, type_))
            return value

    def _unquoted(self, token: Token) -> str:
        """The text between the quotes, with its escapes read."""
        text, bad = unquoted(token)
        if bad and self.former:
            self._edit(token, symbols.quoted(text))
        elif bad:
            place, escape = bad[0]
            message, hint = wrong_escape(token, escape)
            self._problem(message, self._inside(token, place, len(escape)), hint)
        return text

    # Names and places

    def _predicate(self, token: Token) -> str:
        if token.type == "QUOTED":
            return str(token)[1:-1]
        return str(token) if token.type in ("NAME", "VARIABLE") else self._iri(token)

    def _iri(self, token: Token) -> str:
        if token.type == "IRI":
            return str(token)[1:-1]
        prefix, _, local = str(token).partition(":")
        if prefix not in self.prefixes:
            self._problem(
                f"the prefix `{prefix}:` is not declared",
                token,
                f"Declare it before: @prefix {prefix}: <http://...> .  "
                f"If {prefix} is the name of a rule or of a column, put a space after the colon.",
            )
            return str(token)
        self.used_prefixes[prefix] = self.prefixes[prefix]
        return self.prefixes[prefix] + local

    def _bodies(
        self, choice: Tree[Token], whole: Tree[Token]
    ) -> Iterator[tuple[int, Sequence[Tree[Token]]]]:
        """The literals of each body that alternatives stand for, with its number: 0 of one alone.

        What was made of the body before is forgotten.
        """
        bodies = parts(choice)
        if bodies is None:
            hint = "Let a rule of its own derive what some of the alternatives have in common."
            told = f"a rule with alternatives stands for more than {MOST_PARTS} rules"
            self._problem(told, self._span(whole), hint)
        for number, body in enumerate(bodies or (), 1):
            self.values, self.anonymous = ClauseValues(), 0
            yield (number if len(bodies or ()) > 1 else 0), body
