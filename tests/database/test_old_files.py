"""Files that older versions wrote open, hold what they held, and go on; also after a kill
meanwhile.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.contents import extensions
from support.old_files import FOLDER, LOG, PRICES, STREAMED, fill, unpacked

from zodiac_sql import (
    ConstraintError,
    KnowledgeBase,
    OtherMeaningWarning,
    ProgramError,
    QueryError,
    connect,
)

OpenKb = Callable[..., KnowledgeBase]

FILES = sorted(FOLDER.glob("[0-9]*.xz"))
(AGGREGATES,) = FOLDER.glob("aggregates_*.xz")
(DECIMALS,) = FOLDER.glob("decimals_*.xz")
FIRST_WITH_STREAMS = "08"

KILLED = """
import os, sys, zodiac_sql
from zodiac_sql.database.store import Store
run, left = Store.run, [int(sys.argv[2])]
def counted(self, *args):
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)
    return run(self, *args)
Store.run = counted
zodiac_sql.connect(sys.argv[1]).close()
"""


def test_there_is_one_of_each() -> None:
    assert [file.name[:2] for file in FILES] == [f"{number:02}" for number in range(1, 20)]


Extensions = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def expected() -> dict[bool, tuple[Extensions, Extensions]]:
    """What a file holds, and what after a change, with what came by a stream and without."""
    found = {}
    with connect(threads=1) as kb:
        fill(kb)
        for streamed in (True, False):
            if not streamed:
                kb.delete("edge", STREAMED)
            before = extensions(kb)
            change(kb)
            found[streamed] = before, extensions(kb)
            with kb.update() as update:
                update.drop_rules("back")
                update.delete("edge", [("f", "g"), ("g", "b")])
                update.insert("alike", [("q", "r")])
    return found


def change(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.insert("edge", [("f", "g"), ("g", "b")])
        update.add_rules("back: near(X, Y) :- edge(Y, X).")
        update.delete("alike", [("q", "r")])


def test_migrations_lead_to_the_catalog_that_new_files_get(tmp_path: Path) -> None:
    """Newest and oldest differ in nothing but what has been written there."""
    made, kept = tmp_path / "new.duckdb", unpacked(FILES[-1], tmp_path)
    for file in (made, kept):
        connect(file).close()
    assert _catalog_of(made) == _catalog_of(kept)


TABLES = """
    SELECT sql FROM duckdb_tables()
    WHERE database_name = $1 AND schema_name = 'zodiac'
      AND NOT regexp_full_match(table_name, 'feed_[0-9]+') ORDER BY 1
"""
MACROS = """
    SELECT function_name, parameters,
      replace(
        replace(macro_definition, '(NOT (t[1] IN (''<'', ''"'')))', '(t[1] NOT IN (''<'', ''"''))'),
        '(lambda piece: ', '(piece -> '
      )
    FROM duckdb_functions() WHERE database_name = $1 AND schema_name = 'zodiac' ORDER BY 1
"""
SCHEMAS = "SELECT schema_name FROM duckdb_schemas() WHERE database_name = $1 ORDER BY 1"


def _catalog_of(file: Path) -> list[Any]:
    """What makes the schemas, tables and macros of the catalog."""
    with duckdb.connect(str(file)) as connection:
        asked = (SCHEMAS, TABLES, MACROS)
        return [connection.execute(one, [file.stem]).fetchall() for one in asked]


@pytest.mark.parametrize("packed", FILES, ids=lambda file: file.name.partition(".")[0])
def test_a_file_of_an_older_version(
    packed: Path,
    tmp_path: Path,
    open_kb: OpenKb,
    expected: dict[bool, tuple[Extensions, Extensions]],
) -> None:
    file = unpacked(packed, tmp_path)
    streamed = packed.name >= FIRST_WITH_STREAMS
    before, after = expected[streamed]
    with open_kb(file) as kb:
        assert extensions(kb) == before
        assert kb.position("feed") == (len(STREAMED) if streamed else None)
        change(kb)
    with open_kb(file) as kb:
        assert extensions(kb) == after
        kb.drop_rules("back")
        kb.insert("alike", [("r", "z")])
        assert kb.verify()


def test_the_catalog_has_no_keys(tmp_path: Path) -> None:
    """A table with a key that cannot be committed ends the process (database/migrations/0006)."""
    for file in (tmp_path / "new.duckdb", unpacked(FILES[0], tmp_path)):
        with connect(file) as kb:
            keys = kb.sql("SELECT * FROM duckdb_constraints() WHERE constraint_type <> 'NOT NULL'")
            assert not keys.num_rows


@pytest.mark.parametrize("statements", [8, 9, 16, 24, 26])
def test_a_kill_while_a_file_is_brought_up_to_date(
    statements: int, tmp_path: Path, open_kb: OpenKb
) -> None:
    file = unpacked(FILES[4], tmp_path)
    command = [sys.executable, "-c", KILLED, str(file), str(statements)]
    assert subprocess.run(command, check=False).returncode == 9
    with open_kb(file) as kb:
        assert kb.verify()
        assert kb.insert("edge", [("d", "a")]).inserted["edge"] == 1


# --- rules that mean something else since ---------------------------------------------------------

FORMERLY = {
    "usual": [("wt1", 25.0), ("wt2", 7.0)],
    "readings": [(3,)],
    "named": [("wt1", 3), ("wt2", 1)],
    "highest": [("wt1", 40), ("wt2", 7)],
    "summary": [("wt1", 2, 50), ("wt2", 0, 0), ("wt3", 0, 0)],
    "warm": [("wt1",)],
}
"""What rules derived when `_`, and columns without names, told no solutions apart."""

NOW = FORMERLY | {
    "usual": [("wt1", 20.0), ("wt2", 7.0)],
    "readings": [(4,)],
    "summary": [("wt1", 3, 60), ("wt2", 0, 0), ("wt3", 0, 0)],
    "warm": [],
}

OTHERWISE = r"mean something else now: usual, readings, summary\. "
ANEW = "evaluated anew, because the aggregates mean something else now: usual, readings, summary"


def told(file: Path, **settings: Any) -> KnowledgeBase:
    """The file, opened with a warning of its rules."""
    with pytest.warns(OtherMeaningWarning, match=OTHERWISE):
        return connect(file, **settings)


def derived(kb: KnowledgeBase) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(kb.table(name).fetchall()) for name in FORMERLY}


def test_rules_whose_aggregates_mean_something_else(tmp_path: Path) -> None:
    """They are told whenever the file is opened, until a change has evaluated them anew."""
    file = unpacked(AGGREGATES, tmp_path)
    for _ in range(2):
        with told(file) as kb:
            assert derived(kb) == FORMERLY
            assert kb.verify().missing == {"readings": 1, "summary": 1, "usual": 1}
            with pytest.raises(QueryError, match=OTHERWISE):
                kb.why("warm(wt1)")
            assert kb.why("named(wt1, N)").goals[0].values == ("wt1", 3)
            with kb.preview() as preview:
                preview.insert("turbine", [("wt1",)])
            assert derived(kb) == FORMERLY
    kb = told(file)
    change = kb.insert("turbine", [("wt1",)])  # it is there already
    for one in (preview.change, change):
        assert one.inserted == {"readings": 1, "summary": 1, "usual": 1}
        assert one.deleted == {"readings": 1, "summary": 1, "usual": 1, "warm": 1}
        assert one.notes == (ANEW,)
    assert derived(kb) == NOW and kb.verify()
    assert kb.why("usual(wt1, M)").goals[0].values == ("wt1", 20.0)
    assert kb.insert("reading", [("wt2", 7, 2)]).notes == ()
    kb.close()
    with connect(file) as kb:  # no warning is an error any more
        assert kb.table("usual").fetchall() and kb.verify()


def test_one_of_them_goes_and_comes_back(tmp_path: Path) -> None:
    file = unpacked(AGGREGATES, tmp_path)
    with told(file) as kb:
        change = kb.drop_rules("usual")
        assert change.notes == (ANEW.replace(" usual,", ""),)
        assert kb.table("readings").fetchall() == NOW["readings"]
        kb.add_rules(LOG)
        assert derived(kb) == NOW and kb.verify()


@pytest.mark.parametrize("way", ["auto", "lookups", "recompute", "support", "dred", "bf"])
def test_they_are_evaluated_anew_by_every_strategy(tmp_path: Path, way: str) -> None:
    file = unpacked(AGGREGATES, tmp_path)
    with told(file, strategy=way) as kb:
        kb.delete("reading", [("wt2", 7, 1)])
        with_one = [("wt1", 20.0)]
        assert kb.table("usual").fetchall() == with_one and kb.verify()
        kb.insert("reading", [("wt2", 7, 1)])
        assert derived(kb) == NOW and kb.verify()


# --- xsd:decimal was a float ----------------------------------------------------------------------

PRICES_THEN: dict[str, list[tuple[Any, ...]]] = {
    "cheap": [("apple",)],
    "dear": [("fig", 3.1), ("pear", 2.6)],
    "fixed": [(0.25,)],
    "says": [("pear",)],
    "text": [("apple",), ("fig",), ("pear",)],
    "http://e/weight": [("http://e/a", 1.5), ("http://e/b", 2.0)],
}


def test_what_was_a_float_stays_one(tmp_path: Path) -> None:
    """Columns of floats, and rules with values of xsd:decimal, mean the same as then."""
    file = unpacked(DECIMALS, tmp_path)
    for _ in range(2):
        with connect(file) as kb:
            assert {p: sorted(kb.table(p).fetchall()) for p in PRICES_THEN} == PRICES_THEN
            texts = dict(row[:2] for row in kb.rules().fetchall())
            assert '"2.5"^^<http://www.w3.org/2001/XMLSchema#double>' in texts["cheap"]
            assert '\\"2.5\\"^^xsd:decimal' in texts["text"]  # in quotes, it is a text
            assert kb.verify()
    with connect(file) as kb:
        with pytest.raises(ConstraintError):
            kb.insert("price", [("yacht", 1000.5)])
        kb.insert("price", [("plum", Decimal("0.5"))])
        assert sorted(kb.table("cheap").fetchall()) == [("apple",), ("plum",)] and kb.verify()


def test_they_become_decimals_when_asked_to(tmp_path: Path) -> None:
    with connect(unpacked(DECIMALS, tmp_path)) as kb:
        with pytest.raises(ProgramError, match="kb.alter"):
            kb.add_rules(PRICES)
        kb.alter("price", {"euro": "decimal"})
        kb.alter("http://e/weight", {"o": "decimal"})
        assert min(kb.table("price").fetchall()) == ("apple", Decimal("1.25"))
        assert kb.table("dear").fetchall() and kb.verify()
        kb.add_rules(".decl price(item: symbol, euro: decimal)")
        assert kb.verify()
