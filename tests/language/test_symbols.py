"""The two readings of symbols' texts, in Python and in SQL macros, are one."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from zodiac_sql import KnowledgeBase
from zodiac_sql.database.open_store import open_store
from zodiac_sql.language import symbols

ODD = [
    *map(chr, range(0xA1)),
    *"\xad\u0300\u0338\u0600\u1100\u1161\u11a8\u0130\u0131\u1e9e\u212a\u200b\u200c\u200d\u2028\u2029",
    *"\u202e\u2066\ufe0f\ufeff\ufffd\ufffe\uffff\U0001f1e6\U0001f468\U0001f3fd\U000e0001\U0010ffff",
]
PIECES = [
    "urn:",
    "http://",
    "tag:",
    "_:",
    "<",
    ">",
    '"',
    '"@en',
    "^^",
    "<urn:x>",
    "\\",
    "\\n",
    "a:/",
]


def test_random_texts_are_read_alike() -> None:
    draw = random.Random(12)
    texts = {
        "".join(draw.choice(draw.choice((ODD, PIECES))) for _ in range(draw.randrange(7)))
        for _ in range(20_000)
    }
    with open_store() as store:
        found = store.rows(
            "SELECT t, q, zodiac.looks_like_iri(t), zodiac.kind(q), zodiac.lexical(q), c,"
            " zodiac.canonical(c) FROM (SELECT t, zodiac.quote_where_needed(t) AS q,"
            " zodiac.canonical(t) AS c FROM (SELECT unnest($1) AS t))",
            [sorted(texts)],
        )
    assert len(found) == len(texts)
    for text, quoted, is_iri, kind, lexical, canonical, again in found:
        assert quoted == symbols.plain(text)
        assert is_iri == (symbols.iri(text) == text)
        assert (kind, lexical) == ("plain", text)
        assert canonical == again


@pytest.mark.parametrize("text", ["urn:a\vb", "urn:a\x01b", "http://x\x1f", "tag:\v"])
def test_control_characters_in_iris(
    open_kb: Callable[..., KnowledgeBase], tmp_path: Path, text: str
) -> None:
    kb = open_kb()
    kb.insert("e", [(text,)])
    kb.register_function("same", lambda text: text, ["symbol"], "symbol")
    kb.add_rules('m(Y) :- e(X), Y = concat(X, "").  n(Y) :- e(X), Y = same(X).')
    assert kb.table("m").to_pylist() == kb.table("n").to_pylist() == [{"s": symbols.plain(text)}]
    kb.export(tmp_path, "nt", "e")
    (file,) = tmp_path.iterdir()
    other = open_kb()
    other.load(file)
    assert other.table("e").to_pylist() == [{"s": text}]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_line_ends_of_rules(open_kb: Callable[..., KnowledgeBase], end: str) -> None:
    lines = ["% one", "p(X) :- q(X). // two", "r(X) :- q(X).", "# three", "s(X) :- q(X).  % four"]
    kb = open_kb()
    kb.add_rules(end.join(lines))
    assert len(kb.rules()) == 3
