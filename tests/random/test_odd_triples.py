"""Odd lines of N-Triples are loaded if pyoxigraph reads them, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyoxigraph as ox
import pytest
from generators.odd_triples import odd_triple
from support import budget

from zodiac_sql.database import dictionary
from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.store import Store
from zodiac_sql.facts.load import ntriples
from zodiac_sql.facts.load.ntriples import LineFile
from zodiac_sql.facts.load.source import SourceFile

LINES = 3_000


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store() as opened:
        dictionary.prepare(opened)
        yield opened


def _is_read(line: str) -> bool:
    try:
        return len(list(ox.parse(line, format=ox.RdfFormat.N_TRIPLES))) == 1
    except SyntaxError:
        return False


@pytest.mark.fuzz
def test_the_same_lines_as_pyoxigraph(store: Store, tmp_path: Path) -> None:
    rng = Random(budget.seed(2052))
    lines = list(dict.fromkeys(odd_triple(rng) for _ in range(LINES)))
    file = tmp_path / "odd.nt"
    file.write_text("".join(f"{line}\n" for line in lines))
    ntriples.read(store, LineFile(SourceFile(file, file), "nt"), skip_bad=True)
    rows = store.rows(
        "SELECT s <> '' AND p <> '' AND o <> '' FROM temp.zodiac_triple ORDER BY rowid"
    )
    ours = [line for line, (good,) in zip(lines, rows, strict=True) if good]
    assert ours == [line for line in lines if _is_read(line)]
    assert len(ours) > 100
    budget.tried("triples", len(lines))
