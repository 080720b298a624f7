"""The terms of a text of SHACL rules as text of our language, and the problems of the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin

from lark import Token, Tree

from zodiac_sql.errors import Problem, Source, Span
from zodiac_sql.language import symbols
from zodiac_sql.language.escapes import ESCAPES_OF_RDF, unquoted, wrong_escape
from zodiac_sql.language.urns import predicate_name

Node = Tree[Token]


@dataclass(slots=True)
class Terms:
    """Reads terms. `prefixes` and `base` are those that hold where it reads."""

    source: Source
    prefixes: dict[str, str]
    base: str = ""
    problems: list[Problem] = field(default_factory=list)

    def problem(self, message: str, where: Node | Token, hint: str = "") -> None:
        """Note what is wrong, or not supported."""
        self.problems.append(Problem(message, self.span(where), hint))

    def span(self, where: Node | Token) -> Span:
        """The place of a part of the text."""
        meta = where if isinstance(where, Token) else where.meta
        line, column = getattr(meta, "line", None) or 1, getattr(meta, "column", None) or 1
        return Span(
            self.source, line, column,
            getattr(meta, "end_line", None) or line, getattr(meta, "end_column", None) or column,
        )  # fmt: skip

    def iri(self, tree: Node) -> str:
        """The IRI that a part of the text names."""
        (token,) = tree.children
        assert isinstance(token, Token)
        return self.iri_of(token)

    def iri_of(self, token: Token) -> str:
        if token.type == "IRIREF":
            iri = str(token[1:-1])
            return urljoin(self.base, iri) if self.base else iri
        prefix, _, local = str(token).partition(":")
        if prefix not in self.prefixes:
            hint = f"Declare it before: PREFIX {prefix}: <http://...>"
            self.problem(f"the prefix `{prefix}:` is not declared", token, hint)
            return str(token)
        return self.prefixes[prefix] + _ESCAPED.sub(r"\1", local)

    def constant(self, tree: Node) -> str:
        """An IRI or a literal as text of our language."""
        match tree.data:
            case "iri":
                return symbol(self.iri(tree))
            case "text":
                return symbols.quoted(self._string(tree))
            case "tagged":
                return f"{symbols.quoted(self._string(tree))}{tree.children[1]}"
            case "typed":
                datatype = tree.children[1]
                assert isinstance(datatype, Tree)
                text = symbols.quoted(self._string(tree))
                iri = self.iri(datatype)
                return text if iri == f"{symbols.XSD}string" else f"{text}^^<{iri}>"
            case "boolean":
                return str(tree.children[0]).lower()
            case _:
                return number("".join(map(str, tree.children)))

    def _string(self, tree: Node) -> str:
        token = tree.children[0]
        assert isinstance(token, Token)
        marks = 3 if token[:3] in ('"""', "'''") else 1
        text, bad = unquoted(f'"{token[marks:-marks]}"', ESCAPES_OF_RDF)
        if bad:
            place, escape = bad[0]
            message, hint = wrong_escape(token, escape)
            self.problems.append(Problem(message, self._inside(token, marks - 1 + place), hint))
        return text

    def _inside(self, token: Token, place: int) -> Span:
        """The place of an escape in a text, which may have several lines."""
        start = self.source.offset(token.line or 1, token.column or 1) + place
        line, column = self.source.place(start)
        return Span(self.source, line, column, line, column + len(r"\d"))


_ESCAPED = re.compile(r"\\(.)")


def symbol(iri: str) -> str:
    """The symbol of an IRI: one that stands for a plain name is that name."""
    name = predicate_name(iri)
    return f"<{iri}>" if name == iri else symbols.quoted(name)


def number(text: str) -> str:
    """A number. Those with a point are decimals, as in SPARQL."""
    if re.fullmatch(r"[+-]?\d+", text):
        return text.removeprefix("+")
    kind = "double" if "e" in text.lower() else "decimal"
    return f'"{text}"^^<{symbols.XSD}{kind}>'


def variables_in(tree: Node) -> dict[str, Token]:
    """The variables in a part of the text, each where it first stands."""
    found: dict[str, Token] = {}
    for token in tree.scan_values(lambda one: isinstance(one, Token) and one.type == "VAR"):
        found.setdefault(token[1:], token)
    return dict(sorted(found.items(), key=lambda pair: pair[1].start_pos or 0))


Renamed = Mapping[str, str]
"""Other names for variables: those inside of NOT that stand for other values outside."""
