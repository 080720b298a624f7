"""The grammar for editors gives the tokens of the page of the language their colours."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from lark import Token
from support.pages import language_page
from support.places import ROOT

from zodiac_sql.language.parse import parser_of_rules

GRAMMAR = json.loads((ROOT / "editors" / "zodiac.tmLanguage.json").read_text(encoding="utf-8"))
PAGE = language_page()

SCOPES = {
    "TEXT": "string", "QUOTED": "entity.name.function", "IRI": "constant.other.iri",
    "QNAME": "constant.other.qname", "NUMBER": "constant.numeric", "LABEL": "entity.name.tag",
    "_ARROW": "keyword.operator.arrow", "OPERATOR": "keyword.operator", "BOOLEAN": "constant.lang",
    "_AGGREGATE": "keyword.control", "_BIND": "keyword.control", "_NOT": "keyword.control",
    "_AND": "keyword.control", "_AS": "keyword.control", "_ON": "keyword.control",
    "_WITH": "keyword.control", "_COMP": "keyword.control", "SIGN": "keyword.operator",
    "DISTINCT": "keyword.control", "STAR": "keyword.operator",
}  # fmt: skip
"""What each token of the language is to be, as far as it is one thing."""


_CAPITALS = "".join(c for c in map(chr, range(0x3000)) if c.isupper() or c.istitle())
"""Python's regular expressions have no name for them, and editors' have."""


def coloured(text: str) -> dict[int, tuple[str, int]]:
    """The scope of each place where a match begins, and where that ends, as in an editor."""
    found: dict[int, tuple[str, int]] = {}
    start = 0
    for line in text.splitlines(keepends=True):
        at = 0
        while at < len(line):
            scope, end = _first(line, at)
            if scope:
                found[start + at] = (scope, start + end)
            at = max(end, at + 1)
        start += len(line)
    return found


def _first(line: str, at: int) -> tuple[str, int]:
    """The pattern that matches first at a place, and where its match ends."""
    patterns: list[dict[str, Any]] = GRAMMAR["patterns"]
    for pattern in patterns:
        whole = pattern.get("match") or f"{pattern['begin']}.*?{pattern['end']}"
        if match := re.compile(whole.replace(r"\p{Lu}\p{Lt}", _CAPITALS)).match(line, at):
            return pattern["name"], match.end()
    return "", at


def tokens(text: str) -> list[Token]:
    """The tokens that the language sees, those without a part in the tree included."""
    lexer = parser_of_rules().parse_interactive(text, start="start")
    return list(lexer.iter_parse())


def test_every_token_of_the_page_is_coloured_as_what_it_is() -> None:
    scopes = coloured(PAGE)
    wrong = []
    for token in tokens(PAGE):
        wanted = SCOPES.get(token.type)
        start = token.start_pos or 0
        if wanted is None or (token.type in ("_NOT", "_AND") and not token.isalpha()):
            continue
        scope, end = scopes.get(start, ("", 0))
        if not scope.startswith(wanted) or end < start + len(token.rstrip()):
            wrong.append((token.type, str(token), scope))
    assert not wrong


@pytest.mark.parametrize(("name", "scopes"), [
    ("NAME", {"entity.name.function", "constant.other.symbol", "support.type"}),
    ("VARIABLE", {"variable.other", "entity.name.function", "keyword.control"}),
])  # fmt: skip
def test_names_and_variables(name: str, scopes: set[str]) -> None:
    found = coloured(PAGE)
    for token in tokens(PAGE):
        if token.type == name:
            scope, _ = found.get(token.start_pos or 0, ("support.type.zodiac", 0))
            assert scope.removesuffix(".zodiac") in scopes, (token, scope)


def test_variables_begin_with_any_capital() -> None:
    scopes = coloured("offen(Ä, ǅx, ä) :- raum(?ä).")
    for place in (6, 9):
        assert scopes[place][0] == "variable.other.zodiac"
    assert scopes[13][0] == "constant.other.symbol.zodiac"


def test_comments_are_comments() -> None:
    scopes = coloured(PAGE)
    for comment in ("% A comment", "// a fact, and twelve", "// r1 is the rule's name"):
        assert scopes[PAGE.index(comment)][0].startswith("comment")
    assert coloured("p(1). /* two */ q(2).")[6] == ("comment.block.zodiac", 15)
