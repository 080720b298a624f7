"""What in new rules looks like a mistake, although it is none by the language.

- A predicate in a body that nothing derives, declares or states. Its facts may come later, so this
  is told once, with the change that brings the rule.
- A function in the place of a predicate.
- Names where other Datalogs have variables: `path(x, z) :- edge(x, y), path(y, z).`
- Variables in the place of constants: `seen(T) :- log(WEA07, T).` (lone_variables.py)
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zodiac_sql.errors import Problem
from zodiac_sql.language.binding import constants_of, variables_of
from zodiac_sql.language.functions import Functions, signature
from zodiac_sql.language.schema import Predicate, local_name
from zodiac_sql.language.syntax import Atom, Constant, Literal, Rule, Type, atoms_of
from zodiac_sql.language.templates import fixed_atoms
from zodiac_sql.language.written import spelled_predicate
from zodiac_sql.names import is_constraint
from zodiac_sql.program.lone_variables import (
    Symbols,
    first_few,
    lone_variables,
    meant_as_constants,
    with_stated,
)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that looks like a mistake.

    `predicate` is one without facts, and `unlike` tells that no other has a similar name. `lone`
    tells that it is of a variable that occurs once.
    """

    problem: Problem
    predicate: str = ""
    unlike: bool = False
    lone: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What new rules are compared with.

    `rules` are all rules after the change, `explicit` the predicates that have explicit facts then,
    and `facts` those that the texts state. If nobody knows which `symbols` there are, it is None.
    """

    rules: Sequence[Rule]
    facts: Sequence[Atom]
    explicit: Collection[str]
    schema: Mapping[str, Predicate]
    functions: Functions
    symbols: Symbols | None = None

    def known(self) -> set[str]:
        """The predicates that rules derive, and those that are declared or stated."""
        found = {rule.head.predicate for rule in self.rules}.union(self.explicit)
        found |= {fact.predicate for fact in self.facts}
        return found | {name for name, known in self.schema.items() if known.declared}


def doubts(new: Iterable[Rule], around: Surroundings) -> list[Doubt]:
    """What looks like a mistake in new rules. Rules that no user has written are passed over."""
    written = [rule for rule in new if rule.span is not None and rule.origin is None]
    if not written:
        return []
    found = list(_unknown(written, around))
    if around.symbols is not None:
        symbols = with_stated(around.facts, around.symbols)
        found += _like_variables(written, symbols)
        found += _like_constants(written, around.schema, symbols)
    return found


def notes(found: Sequence[Doubt]) -> Iterator[str]:
    """Doubts as remarks on a change: predicates without facts share one, some variables another."""
    unknown = [spelled_predicate(doubt.predicate) for doubt in found if doubt.unlike]
    for doubt in found:
        if not doubt.unlike and not doubt.lone:
            yield note(doubt.problem)
    yield from first_few([note(doubt.problem) for doubt in found if doubt.lone])
    if unknown:
        shown = ", ".join(unknown[:_MOST_SHOWN])
        more = f" and {len(unknown) - _MOST_SHOWN} more" if len(unknown) > _MOST_SHOWN else ""
        yield f"{_NOTHING} {shown}{more}"


def note(problem: Problem) -> str:
    """A problem on one line."""
    where = f"{problem.span}: " if problem.span else ""
    return f"{where}{problem.message}. {problem.hint}".strip()


_MOST_SHOWN = 10
_NOTHING = "nothing derives, declares or states"


# --- predicates -----------------------------------------------------------------------------------


def _unknown(rules: Sequence[Rule], around: Surroundings) -> Iterator[Doubt]:
    """Each predicate of which no fact can be."""
    known = around.known().union(rule.head.predicate for rule in rules)
    first: dict[str, Atom] = {}
    for rule in rules:
        for atom in fixed_atoms(rule):
            if atom.predicate not in known:
                first.setdefault(atom.predicate, atom)
    similar = _Similar(known) if len(first) <= _MOST_COMPARED else None
    for name, atom in first.items():
        spelled = spelled_predicate(name)
        near = similar.to(name) if similar else None
        if function := _function(name, around.functions):
            yield Doubt(Problem(f"{name} is a function, but stands here as a predicate of which "
                                "there are no facts", atom.span, function), name)  # fmt: skip
        elif near:
            hint = f"Did you mean {spelled_predicate(near)}?"
            yield Doubt(Problem(f"{_NOTHING} {spelled}", atom.span, hint), name)
        else:
            hint = "State a fact of it, or declare its columns with .decl before."
            yield Doubt(Problem(f"{_NOTHING} {spelled}", atom.span, hint), name, unlike=True)


def _function(name: str, functions: Functions) -> str:
    """How to write a function that stands in the place of a predicate; "" if it is none."""
    builtin = signature(name.lower(), False, functions)
    if builtin is not None:
        value = "true" if builtin.returns is Type.BOOL else "V"
        return f"A function stands in a comparison: {name}(...) = {value}."
    if signature(name.lower(), True, functions) is not None:
        return f"An aggregate is written AGGREGATE(...) WITH {name.upper()}(V) AS W."
    return ""


class _Similar:
    """Finds the known name that is most like another one, by local names in lower case."""

    def __init__(self, known: Iterable[str]) -> None:
        self._by_local = {local_name(name).lower(): name for name in sorted(known, reverse=True)}

    def to(self, name: str) -> str | None:
        """The most similar name, if any is similar."""
        local = local_name(name).lower()
        if local in self._by_local:
            return self._by_local[local]
        close = difflib.get_close_matches(local, self._by_local, n=1, cutoff=_SIMILAR)
        return self._by_local[close[0]] if close else None


def absent(name: str, known: Iterable[str]) -> list[str]:
    """A remark on a predicate that is to lose facts and is not there, if that may be a mistake."""
    close = _Similar(known).to(name)
    return [f"{name} has no facts; did you mean {close}?"] if close else []


def made(new: Sequence[str], known: Iterable[str]) -> Iterator[str]:
    """Remarks on predicates that facts have made: one of them may be another one, mistyped."""
    similar = _Similar(known) if len(new) <= _MOST_COMPARED else None
    near = {name: close for name in new if similar and (close := similar.to(name))}
    for name, close in near.items():
        spelled = spelled_predicate(name)
        yield f"makes the predicate {spelled}; did you mean {spelled_predicate(close)}?"
    others = [spelled_predicate(name) for name in new if name not in near]
    if others:
        more = f" and {len(others) - _MOST_SHOWN} more" if len(others) > _MOST_SHOWN else ""
        predicates = "predicate" if len(others) == 1 else "predicates"
        yield f"makes the {predicates} {', '.join(others[:_MOST_SHOWN])}{more}"


_SIMILAR = 0.75
"""Two names of which at least so much is the same may be one name, mistyped."""

_MOST_COMPARED = 50
"""If more predicates have no facts, that is no slip of the fingers."""


# --- names in the place of variables --------------------------------------------------------------


def _like_variables(rules: Sequence[Rule], symbols: Symbols) -> Iterator[Doubt]:
    """Each rule with names that join its atoms as variables do, but are in no fact."""
    suspects = [found for rule in rules if (found := _joining(rule))]
    if not suspects:
        return
    texts = {str(constant.value) for found in suspects for constant in found}
    there = symbols.in_data(texts)
    for found in suspects:
        left = [constant for constant in found if str(constant.value) not in there]
        if left:
            names = ", ".join(str(constant.value) for constant in left)
            capitals = ", ".join(str(constant.value).capitalize() for constant in left)
            told = "is a constant that" if len(left) == 1 else "are constants that"
            yield Doubt(
                Problem(
                    f"{names} {told} no fact has", left[0].span,
                    f"Variables begin with a capital letter: {capitals}.",
                )
            )  # fmt: skip


def _like_constants(
    rules: Sequence[Rule], schema: Mapping[str, Predicate], symbols: Symbols
) -> Iterator[Doubt]:
    """Each variable that occurs once and looks like a symbol."""
    lone = [
        variable
        for rule in rules
        for variable in lone_variables(
            None if is_constraint(rule.head.predicate) else rule.head, rule.body, schema
        )
    ]
    for problem in dict.fromkeys(meant_as_constants(lone, symbols)):
        yield Doubt(problem, lone=True)


def _joining(rule: Rule) -> list[Constant]:
    """Names that stand in two parts of a rule, where that can be meant as a variable.

    That is so if the rule has no variable at all, or if the name is a single letter.
    """
    parts: list[tuple[Literal, ...]] = [(rule.head,), *((literal,) for literal in rule.body)]
    seen: Counter[str] = Counter()
    first: dict[str, Constant] = {}
    for part in parts:
        names = {str(one.value): one for one in constants_of(part) if _is_name(one)}
        seen.update(names.keys())
        for text, constant in names.items():
            first.setdefault(text, constant)
    if not any(atoms_of(rule.body)):
        return []
    ground = not any(not v.anonymous for part in parts for v in variables_of(part))
    return [
        constant
        for text, constant in first.items()
        if seen[text] > 1 and (ground or _LETTER.fullmatch(text))
    ]


_LETTER = re.compile(r"[a-z]\d?")


def _is_name(constant: Constant) -> bool:
    """Whether a constant is written as a name, not in quotes or as an IRI."""
    span = constant.span
    if constant.type is not Type.SYMBOL or span is None:
        return False
    source, start = span.source, span.source.offset(span.line, span.column)
    return source.text[start : start + len(str(constant.value))] == constant.value
