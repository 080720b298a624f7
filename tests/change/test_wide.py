"""Wide programs: as many tables and rules as large ontologies have, in one file."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from support.wide import make

import zodiac_sql
from zodiac_sql.language import types as infer
from zodiac_sql.program import state as catalog


def test_1200_properties_are_loaded_opened_changed_and_shown(tmp_path: Path) -> None:
    """From 1,000 tables on, no file could be opened again; loading looked at all for each.

    Beside what it does not touch, a change runs no statement more.
    """
    path, statements = tmp_path / "wide.duckdb", []
    make(path, 1200, 50)
    with zodiac_sql.connect(path) as kb:
        shown = kb.predicates()
        assert shown.num_rows == 1250
        assert shown["extension"].to_pylist() == [3] * 1250
        kb.insert("p0", [("urn:n0", "urn:first")])
        kb.trace(lambda statement, _: statements.append(statement))
        assert kb.insert("p0", [("urn:n0", "urn:second")]).inserted["urn:p0"] == 1
        assert len(statements) < 40
        kb.drop_rules("w49")
        assert kb.predicates().num_rows == 1249


def test_many_predicates_are_verified_together_and_a_wrong_one_is_found(tmp_path: Path) -> None:
    """It took five statements for each predicate, and more for each rule."""
    path, statements = tmp_path / "wide.duckdb", []
    make(path, 120, 40)
    with zodiac_sql.connect(path) as kb:
        kb.trace(lambda statement, _: statements.append(statement))
        assert kb.verify().facts == 3 * 160
        assert len(statements) < 120
    with duckdb.connect(str(path)) as file:
        file.execute("INSERT INTO edb.p7 SELECT * FROM edb.p7 LIMIT 1")
        file.execute("CREATE OR REPLACE VIEW main.p10 AS SELECT s, s AS o FROM main.p8")
        file.execute("CREATE OR REPLACE VIEW main.p110 AS SELECT 1 AS s, 2 AS o FROM main.p8")
        file.execute("DROP VIEW main.p111")
        ((table,),) = file.execute(
            "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'h%\\_d39' ESCAPE '\\'"
        ).fetchall()
        file.execute(f"DELETE FROM idb.{table} WHERE rowid = 0")
    with zodiac_sql.connect(path) as kb:
        verification = kb.verify()
    assert verification.tables == {
        "edb.p7": (0, 1),
        "main.p111": (3, 0),
        "main.triple": (360, 0),  # it reads the view that is gone
        f"idb.{table}": (1, 0),
    }
    wrong = {"urn:p10": 3, "urn:p110": 3, "urn:p111": 3, "d39": 1}
    assert verification.missing == wrong
    assert verification.surplus == {"urn:p7": 1, "urn:p10": 3, "urn:p110": 3}
    assert verification.facts == 3 * 160


def test_names_of_many_that_are_called_alike(tmp_path: Path) -> None:
    source = tmp_path / "twins.nt"
    lines = [f"<urn:a> <http://example.org/{n}/label> <urn:b> ." for n in range(300)]
    source.write_text("\n".join(lines) + "\n")
    with zodiac_sql.connect() as kb:
        kb.load(source)
        names = kb.predicates()["sql_name"].to_pylist()
        assert set(names) == {"label", *(f"label_{n}" for n in range(2, 301))}


def test_a_chain_of_rules_is_typed_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last comes first: in each round all rules were looked at, for one that had news."""
    count, looks = 60, []
    body_types = infer.body_types
    monkeypatch.setattr(infer, "body_types", lambda *a: looks.append(1) or body_types(*a))
    chain = [f"d{n}(X, Y) :- d{n - 1}(X, Y), e(X, Y)." for n in range(count, 0, -1)]
    with zodiac_sql.connect() as kb:
        kb.add_rules("\n".join([*chain, "d0(X, Y) :- e(X, Y).", ".decl e(a: int, b: float)"]))
        shown = [kb.predicates()[name].to_pylist() for name in ("predicate", "columns")]
        assert dict(zip(*shown, strict=True))[f"d{count}"] == "s: int, o: float"
        assert len(looks) < 5 * count


def test_a_rule_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Showing and verifying parsed all, each time."""
    path, parsed = tmp_path / "some.duckdb", []
    make(path, 20, 10)
    from zodiac_sql.language import parse

    reads = parse.parse
    catalog.parsed.cache_clear()
    monkeypatch.setattr(parse, "parse", lambda *a, **k: parsed.append(a[0]) or reads(*a, **k))
    with zodiac_sql.connect(path) as kb:
        kb.hypernodes()
        kb.hypernodes()
        assert kb.verify()
        assert len(parsed) == len(set(parsed)) == 10
