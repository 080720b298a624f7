"""What CSV has of a column of terms of all kinds is read as the same terms."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import zodiac_sql

XSD = "http://www.w3.org/2001/XMLSchema#"
NOON = dt.datetime(2026, 1, 2, 12)

VALUES: list[Any] = [
    5, 5.0, 5.5, Decimal("5.50"), Decimal("1E+30"), 2**70, -0.0, math.nan, math.inf, True,
    NOON.date(), NOON, NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))),
    f'"05"^^<{XSD}integer>', f'"5"^^<{XSD}byte>', '"x"^^<http://e.org/dt>', '"Haus"@de', '"5"@en',
    '"a\\nb"@en', '"\\"5\\""', "http://e.org/a", "<tag:x>", "<5>", '"<a>"', "_:b0", "_:", "_: x",
]  # fmt: skip
TEXTS = [
    "5", "5.0", " 5", "5 ", "\t5", "+5", "007", "1e5", "1e400", ".5", "5.", "1" + "0" * 22,
    "0.1234567890123456789012345", "2026-01-02", " 2026-01-02", "2026-01-02T03:04:05",
    "2026-01-02 03:04", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.1234567", "2026-13-45",
    "12:30", "NaN", "nan", "-inf", "Infinity", "true", "True", "FALSE", " true ", "t", "NULL", "",
    " ", "\n", "\r\n", "a\nb", "a\rb", "'", "'a'", " 'a'", "\"'", "it's", '"', '""', '"""', 'a"b',
    '""5""', '"5" ', ' "5"', "a,b", "a;b", "a|b", "a\tb", "#a", "\\", "a\\", "\\n", "  a", "a  ",
    ",", ";", "<", "<a b>", "é", "\u2028", "\ufeffx", '{"a":1}', "[1]",
]  # fmt: skip


def round_trip(rows: list[tuple[Any, ...]], declared: bool, directory: Path) -> None:
    width = len(rows[0])
    columns = ", ".join(f"c{place}: any" for place in range(width))
    with zodiac_sql.connect() as kb, zodiac_sql.connect() as other:
        if declared:
            kb.add_rules(f".decl p({columns})")
            other.add_rules(f".decl p({columns})")
        kb.insert("p", rows)
        (file,) = kb.export(directory, "csv").files
        other.load(file, "p")
        assert sorted(map(str, other.table("p"))) == sorted(map(str, kb.table("p")))
        assert len(kb.table("p").fetchall()) == len({str(row) for row in kb.table("p")})


@pytest.mark.parametrize("declared", [True, False])
def test_all_kinds_of_terms(declared: bool, tmp_path: Path) -> None:
    round_trip([(f"x{n}", value) for n, value in enumerate([*VALUES, *TEXTS])], declared, tmp_path)


@pytest.mark.parametrize("seed", range(12))
def test_few_odd_terms_do_not_mislead_the_reader(seed: int, tmp_path: Path) -> None:
    """DuckDB guesses from the first lines how cells are separated and quoted."""
    rng = random.Random(seed)
    width = rng.randint(1, 3)
    rows = [tuple(rng.choice([*VALUES, *TEXTS]) for _ in range(width)) for _ in range(seed % 3 + 1)]
    round_trip(rows, True, tmp_path)


@pytest.mark.parametrize("text", ["5", "'", "'a'", "", '"', "a;b", "\n"])
def test_one_odd_text(text: str, tmp_path: Path) -> None:
    round_trip([(text,)], True, tmp_path)
    round_trip([(text, text)], True, tmp_path)


def test_only_what_could_be_misread_is_in_quotes(tmp_path: Path) -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules(".decl p(i: int, v: any). .decl q(s: symbol)")
        kb.insert("p", [(1, "5"), (2, "wt5"), (3, 5), (4, "5 m")])
        kb.insert("q", [("5",)])
        kb.export(tmp_path, "csv")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    integer = f'"""5""^^<{XSD}integer>"'
    assert sorted(lines) == ['1,"""5"""', "2,wt5", f"3,{integer}", "4,5 m", "i,v"]
    assert (tmp_path / "q.csv").read_text() == "s\n5\n"
