"""What is written as CSV with some options, and loaded with them, is the same facts."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import zodiac_sql

Row = tuple[str, int, float]

# A text in single quotation marks may be read without them, and one that begins with < or " may be
# another spelling of a symbol: both are not of interest here.
LETTERS = st.sampled_from('ab1#;,|. \t/"-äß€\u00a0')
TEXTS = st.text(LETTERS, max_size=6).filter(lambda text: not text.startswith('"'))
NUMBERS = st.integers(-(10**9), 10**9)
ROWS = st.lists(
    st.tuples(TEXTS, NUMBERS, NUMBERS.map(lambda number: number / 1000)), min_size=1, max_size=6
)
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-be", "iso8859-15"])
MARKS = st.sampled_from([
    (".", None), (",", None), (",", "."), (".", ","), (",", " "), (".", "'"), (",", "\u00a0"),
])  # fmt: skip
LINES = st.lists(st.text(LETTERS, max_size=8), max_size=3)


class Written:
    """A writer in plain Python: the options, and how a table is written by them."""

    def __init__(self, draw: Any) -> None:
        self.encoding: str = draw(ENCODINGS)
        self.decimal, self.thousands = draw(MARKS)
        self.delimiter: str = draw(st.sampled_from(";,\t|"))
        self.comment: str | None = draw(st.sampled_from([None, "#", "//"]))
        self.before: list[str] = draw(LINES)
        self.end: str = draw(st.sampled_from(["\n", "\r\n"]))
        self.header: bool = draw(st.booleans())
        self.quotes_all: bool = draw(st.booleans())

    @property
    def options(self) -> dict[str, Any]:
        return {
            "encoding": self.encoding, "decimal": self.decimal, "thousands": self.thousands,
            "delimiter": self.delimiter, "comment": self.comment, "skip": len(self.before),
            "header": self.header,
        }  # fmt: skip

    def text(self, draw: Any, rows: Sequence[Row]) -> str:
        lines = [*self.before]
        if self.header:
            lines += self.some_comments(draw)
            lines.append(self.delimiter.join(("name", "n", "x")))
        for text, whole, real in rows:
            lines += self.some_comments(draw)
            cells = (self.cell(text), self.number(str(whole)), self.number(repr(real)))
            lines.append(self.delimiter.join(cells))
        return self.end.join([*lines, *self.some_comments(draw)]) + self.end

    def some_comments(self, draw: Any) -> list[str]:
        return [f"{self.comment}{line}" for line in draw(LINES)] if self.comment else []

    def cell(self, text: str) -> str:
        special = (self.delimiter, '"', "\n", "\r", " ", "#", "/", "\u00a0", "\t")
        if text and not self.quotes_all and not any(one in text for one in special):
            return text
        return '"' + text.replace('"', '""') + '"'

    def number(self, text: str) -> str:
        sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
        whole, point, rest = text.partition(".")
        if self.thousands:
            whole = f"{int(whole):,}".replace(",", self.thousands)
        return self.quoted(f"{sign}{whole}{self.decimal if point else ''}{rest}")

    def quoted(self, number: str) -> str:
        return f'"{number}"' if self.quotes_all or self.delimiter in number else number


@settings(max_examples=60, deadline=None)
@given(st.data(), ROWS)
def test_the_same_facts(data: st.DataObject, rows: list[Row]) -> None:
    written = Written(data.draw)
    rows = [(text.replace("-", written.end), whole, real) for text, whole, real in rows]
    text = written.text(data.draw, rows)
    with tempfile.TemporaryDirectory() as folder, zodiac_sql.connect() as kb:
        file = Path(folder, "p.csv")
        file.write_bytes(text.encode(written.encoding))
        kb.add_rules(".decl p(name: symbol, n: int, x: float)")
        kb.load(file, **written.options)
        assert set(kb.table("p").fetchall()) == set(rows), text
        assert kb.unload(file, **written.options).deleted == {"p": len(set(rows))}
