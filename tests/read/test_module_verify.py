"""`verify` tells when tables of modules are not as they should be."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.tampering import found, id_of, tamper

from zodiac_sql import KnowledgeBase, StoreError
from zodiac_sql.rewrite.closures.transitive import Transitive

OpenKb = Callable[..., KnowledgeBase]

RULES = """
turn: near(X, Y) :- near(Y, X).
join: near(X, Z) :- near(X, Y), near(Y, Z), X != Z.
feed: link(X, Y) :- near(X, Y), strong(X).
back: near(X, Y) :- link(X, Y).
copy: path(X, Y) :- edge(X, Y).
trans: path(X, Z) :- path(X, Y), path(Y, Z).
hop: trail(X, Y) :- path(X, Y).
home: path(X, Z) :- trail(X, Y), leap(Y, Z).
"""
NEAR, NEAR_EXTERNAL = 'idb."h1_near classes"', 'idb."h1_near external"'
PATH_EXTERNAL = 'idb."h3_path external"'


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, open_kb: OpenKb) -> Path:
    """A file as earlier versions made it: they kept external facts of `tc`, too."""
    path = tmp_path_factory.mktemp("verify") / "some.duckdb"
    with pytest.MonkeyPatch.context() as patch, open_kb(path, strategy="support") as kb:
        patch.setattr(Transitive, "gains", lambda *_: True)
        kb.add_rules(RULES)
        kb.insert("near", [("a", "b"), ("b", "c"), ("d", "e")])
        kb.insert("strong", [("a",)])
        kb.insert("link", [("a", "a")])
        kb.insert("edge", [("a", "b"), ("b", "c"), ("x", "y")])
        kb.insert("leap", [("c", "x")])
        told = {tuple(row["derives"]): row["hypernode"] for row in kb.hypernodes().to_pylist()}
        assert told == {("near", "link"): "h1", ("path",): "h2", ("path", "trail"): "h3"}
    return path


@pytest.fixture
def file(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(written, tmp_path / "some.duckdb"))


def test_a_file_as_it_should_be(file: Path) -> None:
    result = found(file)
    assert result, result


def test_the_numbers_of_classes_do_not_matter(file: Path) -> None:
    tamper(file, f"UPDATE {NEAR} SET class = 1000 - class")
    assert found(file)


A, D = id_of("a"), id_of("d")

FAULTS = {
    "a node is in another class": (
        f"UPDATE {NEAR} SET class = (SELECT class FROM {NEAR} WHERE node = {D}) WHERE node = {A}",
        {"near": 4}, {"near": 4},
    ),
    "a node is in a class of its own": (
        f"UPDATE {NEAR} SET class = 1000 WHERE node = {A}", {"near": 4}, {},
    ),
    "two classes are one": (f"UPDATE {NEAR} SET class = 1000", {}, {"near": 12}),
    "a node is missing": (f"DELETE FROM {NEAR} WHERE node = {D}", {"near": 2}, {}),
    "all are missing": (f"DELETE FROM {NEAR}", {"near": 9}, {}),
    "a node is not related to itself": (
        f"UPDATE {NEAR} SET loop = false WHERE node = {A}", {"near": 1}, {},
    ),
    "a node is related to itself": (
        f"UPDATE {NEAR} SET loop = true WHERE node = {D}", {}, {"near": 1},
    ),
    "a node is surplus": (
        f"INSERT INTO {NEAR} SELECT {id_of('x')}, class, false FROM {NEAR} WHERE node = {D}",
        {}, {"near": 4},
    ),
}  # fmt: skip
"""Also facts that are explicit, for the view shows the pairs alone."""


@pytest.mark.parametrize(("statement", "missing", "surplus"), FAULTS.values(), ids=FAULTS)
def test_classes(
    file: Path, statement: str, missing: dict[str, int], surplus: dict[str, int]
) -> None:
    tamper(file, statement)
    result = found(file)
    assert not result
    assert (result.missing, result.surplus) == (missing, surplus)
    assert result.tables.keys() - {"main.near"} == {"idb.h1_near"}


def test_classes_that_are_gone(file: Path) -> None:
    """A view without the table that it is made of is not ours: nothing in the file is read."""
    tamper(file, f"DROP TABLE {NEAR}")
    with pytest.raises(StoreError, match="it has the view idb.h1_near"):
        found(file)


@pytest.mark.parametrize("number", ["class", "1000"])
def test_a_node_that_stands_twice(file: Path, number: str) -> None:
    tamper(file, f"INSERT INTO {NEAR} SELECT node, {number}, loop FROM {NEAR} WHERE node = {A}")
    result = found(file)
    assert not result
    assert result.tables == {"idb.h1_near classes": (0, 1)}


@pytest.mark.parametrize("statement", [
    "DROP VIEW idb.h1_near",
    "CREATE OR REPLACE VIEW idb.h1_near AS SELECT 1 AS s, 2 AS o",
])  # fmt: skip
def test_the_view_of_pairs(file: Path, statement: str) -> None:
    tamper(file, statement)
    result = found(file)
    assert not result
    assert "idb.h1_near" in result.tables


EXTERNAL = {
    "a fact is missing": ("DELETE FROM {} WHERE rowid = 0", (1, 0)),
    "a fact stands twice": ("INSERT INTO {} SELECT * FROM {} LIMIT 1", (0, 1)),
    "a fact is surplus": ("INSERT INTO {} BY NAME SELECT 1000 AS s, 1000 AS o", (0, 1)),
    "another fact": ("UPDATE {} SET o = 1000 WHERE rowid = 0", (1, 1)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "statement", "rows"),
    [
        *((PATH_EXTERNAL, *fault) for fault in EXTERNAL.values()),
        (NEAR_EXTERNAL, *EXTERNAL["another fact"]),
    ],
    ids=[*EXTERNAL, "of a partition"],
)
def test_external_facts(file: Path, table: str, statement: str, rows: tuple[int, int]) -> None:
    tamper(file, statement.format(table, table))
    result = found(file)
    assert not result
    assert result.tables == {table.replace('"', ""): rows}
    assert (result.missing, result.surplus) == ({}, {})


@pytest.mark.parametrize("table", [NEAR_EXTERNAL, PATH_EXTERNAL], ids=["stc", "tc"])
def test_external_facts_are_gone(file: Path, table: str) -> None:
    tamper(file, f"DROP TABLE {table}")
    result = found(file)
    assert not result
    assert result.tables.keys() == {table.replace('"', "")}


def test_ranks_of_external_facts(file: Path) -> None:
    tamper(file, f'UPDATE {PATH_EXTERNAL} SET "$rank" = -1000')
    result = found(file)
    assert not result
    assert result.unsupported.keys() == {"idb.h3_path external"}
    tamper(file, f'UPDATE {PATH_EXTERNAL} SET "$rank" = 1000')
    result = found(file)
    assert not result
    assert result.unsupported.keys() == {"idb.h3_path"}


def test_tables_of_modules_that_are_not_at_work(file: Path) -> None:
    tamper(file, 'CREATE TABLE idb."h2_path external" AS SELECT 1 AS s, 2 AS o')
    result = found(file)
    assert result.tables == {"idb.h2_path external": (0, 1)}


@pytest.mark.parametrize("hypernode", [1, 3])
def test_modules_that_the_catalog_does_not_tell(file: Path, hypernode: int) -> None:
    tamper(file, f"UPDATE zodiac.hypernode SET modules = [] WHERE id = {hypernode}")
    result = found(file)
    assert not result
    assert any(" " in name for name in result.tables)
