"""Where names stand in a text: those of predicates, columns, variables, labels and functions.

Of a text whose syntax is wrong, the clauses are read that can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from lark import Token, Tree, UnexpectedInput

from zodiac_sql.language.clauses import clauses
from zodiac_sql.language.parse import parser_of_rules
from zodiac_sql.language.prefixed import WELL_KNOWN_PREFIXES
from zodiac_sql.language.symbols import RDF_TYPE
from zodiac_sql.language.templates import TRIPLE


class Kind(StrEnum):
    """What a name is the name of."""

    PREDICATE = "predicate"
    COLUMN = "column"
    VARIABLE = "variable"
    LABEL = "label"
    FUNCTION = "function"


class Role(StrEnum):
    """What the place of a predicate says of it."""

    DECLARED = "declared"
    DERIVED = "derived"
    STATED = "stated"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text, from `start` to `end`.

    The `name` of a predicate is as problems tell it: an IRI in full. That of a variable has no ? or
    $, that of a function is in lower case. A column is one `of` a predicate.
    """

    kind: Kind
    name: str
    start: int
    end: int
    clause: int
    role: Role = Role.READ
    of: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a text: a rule, a constraint, a fact, a declaration, or a prefix."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """The clauses of a text, the names in them in their order, and the prefixes it declares.

    It is `whole` if all its clauses could be read.
    """

    clauses: Sequence[Clause]
    names: Sequence[Mention]
    prefixes: Mapping[str, str]
    whole: bool

    def at(self, offset: int) -> Mention | None:
        """The name at a place, or just before it."""
        touching = (name for name in self.names if name.start <= offset <= name.end)
        return max(touching, key=lambda name: name.start, default=None)

    def of_clause(self, clause: int) -> list[Mention]:
        return [name for name in self.names if name.clause == clause]


def mentions(text: str, prefixes: Mapping[str, str] | None = None) -> Mentions:
    """The names in a text. `prefixes` are known beforehand."""
    reading = _Reading({**WELL_KNOWN_PREFIXES, **(prefixes or {})})
    try:
        reading.text(text, 0)
    except UnexpectedInput:
        reading.whole = False
        for start, end in clauses(text):
            try:
                reading.text(text[start:end], start)
            except UnexpectedInput:
                continue
    names = sorted(dict.fromkeys(reading.names), key=lambda name: name.start)
    return Mentions(reading.clauses, names, reading.declared, reading.whole)


@dataclass(slots=True)
class _Reading:
    """Reads clauses, one after the other."""

    prefixes: dict[str, str]
    declared: dict[str, str] = field(default_factory=dict)
    clauses: list[Clause] = field(default_factory=list)
    names: list[Mention] = field(default_factory=list)
    whole: bool = True
    offset: int = 0

    def text(self, text: str, offset: int) -> None:
        """Read a part of the text that begins at some place."""
        tree = parser_of_rules().parse(text, start="start")
        self.offset = offset
        for clause in tree.children:
            self._clause(clause)

    def _clause(self, clause: Any) -> None:
        (part,) = clause.children
        kind = str(part.data)
        if kind == "statement":
            kind = "fact" if part.children[2] is None else "rule"
        start, end = clause.meta.start_pos + self.offset, clause.meta.end_pos + self.offset
        self.clauses.append(Clause(kind, start, end))
        if kind == "prefix":
            prefix, iri = (str(child) for child in part.children)
            self.prefixes[prefix[:-1]] = self.declared[prefix[:-1]] = iri[1:-1]
        elif kind == "declaration":
            self._declaration(part)
        elif kind == "window":
            self._window(part)
        else:
            self._label(part.children[0])
            if kind != "constraint":
                self._atom(part.children[1], Role.STATED if kind == "fact" else Role.DERIVED)
            self._inside(part.children[2])

    def _declaration(self, part: Any) -> None:
        name, *columns = part.children
        predicate = self._predicate(name.children[0], Role.DECLARED)
        for column in columns:
            if column is not None:
                self._column(column.children[0], predicate, Role.DECLARED)

    def _window(self, part: Any) -> None:
        name, first, *_ = part.children
        predicate = self._predicate(name.children[0], Role.READ)
        if first.children[0] is not None:
            self._column(first.children[0], predicate)

    def _label(self, label: Token | None) -> None:
        if label is not None:
            name = label.rstrip().removesuffix(":").rstrip()
            self._note(Kind.LABEL, name, label, len(name))

    def _column(self, token: Token, predicate: str, role: Role = Role.READ) -> None:
        written = token.rstrip().removesuffix(":").rstrip()
        self._note(Kind.COLUMN, written.strip("`"), token, len(written), role, predicate)

    def _inside(self, tree: Any) -> None:
        """Read what a body or an expression is made of, however deep it is."""
        left = [tree]
        while left:
            part = left.pop()
            if isinstance(part, Token) and part.type == "VARIABLE":
                self._variable(part)
            if not isinstance(part, Tree):
                continue
            children: list[Any] = list(part.children)
            match part.data:
                case "positive" | "negation":
                    self._atom(children.pop(), Role.READ)
                case "aggregate":
                    self._function(children.pop(2))
                case "call" | "distinct":
                    self._function(children.pop(0))
                case "named":
                    children.pop(0)
            left += children

    def _atom(self, tree: Any, role: Role) -> None:
        if tree.data not in ("call", "symbol", "variable"):
            self._inside(tree)
            return
        children: list[Any] = list(tree.children)
        token, *given = children
        if token.type == "VARIABLE" and token[0] in "?$":
            self._variable(token)
            predicate = ""
        else:
            predicate = self._predicate(token, role)
        for argument in given:
            if isinstance(argument, Tree) and argument.data == "named" and predicate:
                self._column(cast("Token", argument.children[0]), predicate)
            self._inside(argument)
        if (predicate, len(given)) in ((RDF_TYPE, 2), (TRIPLE, 3)):
            self._meant(given[1], role)

    def _meant(self, argument: Any, role: Role) -> None:
        """Note the predicate that rdf:type(X, c) or triple(X, p, Y) is about."""
        if argument.data == "symbol" and argument.children[0].type in ("IRI", "QNAME"):
            self._predicate(argument.children[0], role)

    def _predicate(self, token: Token, role: Role) -> str:
        text = str(token)
        if token.type in ("IRI", "QUOTED"):
            name = text[1:-1]
        elif token.type == "QNAME":
            prefix, _, local = text.partition(":")
            name = self.prefixes[prefix] + local if prefix in self.prefixes else text
        else:
            name = text
        self._note(Kind.PREDICATE, name, token, len(text), role)
        return name

    def _variable(self, token: Token) -> None:
        if token != "_":
            self._note(Kind.VARIABLE, token.lstrip("?$"), token, len(token))

    def _function(self, token: Token) -> None:
        self._note(Kind.FUNCTION, token.lower(), token, len(token))

    def _note(
        self, kind: Kind, name: str, token: Token, length: int, role: Role = Role.READ, of: str = ""
    ) -> None:
        start = (token.start_pos or 0) + self.offset
        clause = len(self.clauses) - 1
        self.names.append(Mention(kind, str(name), start, start + length, clause, role, of))
