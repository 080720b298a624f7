"""A capital where a constant was meant: `seen(T) :- log(WEA07, T).` reads what all turbines log.

A variable that occurs once may be one if its text is a symbol, or differs from one in its digits.
Nothing is told of short names, such as X or T1: everybody means variables by them, and values such
as Y and N are common. Nor is it of ?WEA07, which says itself what it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.errors import Problem
from zodiac_sql.language.binding import variables, variables_of
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.symbols import quoted
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Constant,
    Literal,
    Type,
    Variable,
    atoms_of,
)
from zodiac_sql.names import VARIES


@dataclass(frozen=True, slots=True)
class Symbols:
    """What can be asked about the symbols that are known.

    `in_data` finds those of some texts that are symbols; `alike` finds a symbol that begins in the
    same way as another text, and goes on with digits.
    """

    in_data: Callable[[Collection[str]], Collection[str]] = lambda _: ()
    alike: Callable[[str], str | None] = lambda _: None


NO_SYMBOLS = Symbols()
"""No symbol is known but those in texts of rules."""


def with_stated(facts: Iterable[Atom], symbols: Symbols) -> Symbols:
    """The symbols that are known, and those in facts that texts state."""
    stated = {str(term.value) for fact in facts for term in fact.terms
              if isinstance(term, Constant)}  # fmt: skip

    def in_data(texts: Collection[str]) -> Collection[str]:
        there = stated.intersection(texts)
        left = [text for text in texts if text not in there]
        return there.union(symbols.in_data(left) if left else ())

    def alike(beginning: str) -> str | None:
        form = re.compile(rf"{re.escape(beginning)}[0-9]+")
        found = min(filter(form.fullmatch, stated), default=None)
        return symbols.alike(beginning) if found is None else found

    return Symbols(in_data, alike)


def lone_variables(
    head: Atom | None,
    body: Sequence[Literal],
    schema: Mapping[str, Predicate],
) -> list[Variable]:
    """The variables that occur once, in a column that may have symbols, or in a comparison."""
    literals = tuple(body)
    found = (*_occurrences(literals), *(variables(*head.terms) if head else ()))
    count = Counter(name for name, _ in {(one.name, _place(one)) for one in found})
    return [
        variable
        for variable in _constants_may_be_meant(literals, schema)
        if count[variable.name] == 1 and _is_candidate(variable)
    ]


def meant_as_constants(lone: Collection[Variable], symbols: Symbols) -> Iterator[Problem]:
    """What is said of the variables whose text is a symbol, or is like one."""
    if not lone:
        return
    known = symbols.in_data({variable.name for variable in lone})
    for variable in lone:
        name = variable.name
        like = name if name in known else _like(name, symbols)
        if like is not None:
            told = "a symbol" if like == name else f"like the symbol {like}"
            yield Problem(
                f"{name} is a variable that occurs once, and its text is {told}", variable.span,
                f"The symbol is written {quoted(name)}. Where any value is meant, write _.",
            )  # fmt: skip


def _like(name: str, symbols: Symbols) -> str | None:
    return symbols.alike(name.rstrip(_DIGITS)) if name[-1] in _DIGITS else None


_DIGITS = "0123456789"


def _place(variable: Variable) -> tuple[int, int] | None:
    """Where a variable stands: what several values of an aggregate are of stands there once."""
    span = variable.span
    return (span.line, span.column) if span else None


def _occurrences(body: tuple[Literal, ...]) -> Iterator[Variable]:
    """All variables in a body, as often as they occur."""
    yield from variables_of(body)
    for literal in body:
        if isinstance(literal, Aggregate):
            yield from (*literal.group, literal.argument, literal.result)
            yield from _occurrences(
                tuple(x for x in literal.body if isinstance(x, Comparison | Binding))
            )


def _constants_may_be_meant(
    body: tuple[Literal, ...], schema: Mapping[str, Predicate]
) -> Iterator[Variable]:
    for atom in atoms_of(body):
        yield from _in_columns_of_symbols(atom, schema)
    for literal in body:
        if isinstance(literal, Comparison):
            sides = (literal.left, literal.right)
            yield from (side for side in sides if isinstance(side, Variable))
        elif isinstance(literal, Aggregate):
            yield from _constants_may_be_meant(
                tuple(x for x in literal.body if isinstance(x, Comparison)), schema
            )


def _in_columns_of_symbols(atom: Atom, schema: Mapping[str, Predicate]) -> Iterator[Variable]:
    """The variables of an atom, without those of columns that are known to have other values."""
    known = schema.get(atom.predicate) if not atom.names and atom.predicate != VARIES else None
    for place, term in enumerate(atom.terms):
        type_ = known.columns[place].type if known and place < len(known.columns) else None
        if isinstance(term, Variable) and type_ in (None, Type.SYMBOL):
            yield term


_SHORT = re.compile(r"\w\d?")


def _is_candidate(variable: Variable) -> bool:
    """Whether a constant may have been meant: by a name that is not short, nor has a mark."""
    span = variable.span
    if not variable.written or span is None or _SHORT.fullmatch(variable.name):
        return False
    text = span.source.text
    start = span.source.offset(span.line, span.column)
    return text[start : start + len(variable.name)] == variable.name
