"""Closed relations as people see them: what is in the file, what is told, and what comes and goes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.csv
import pyarrow.parquet
import pytest
from support.agreement import assert_agrees

import zodiac_sql
from zodiac_sql import FunctionError, KnowledgeBase, LockedError
from zodiac_sql.change.change import Change

OpenKb = Callable[..., KnowledgeBase]
Rows = set[tuple[Any, ...]]

TURN, JOIN = "turn: near(X, Y) :- near(Y, X). ", "join: near(X, Z) :- near(X, Y), near(Y, Z). "
UNEQUAL = "join: near(X, Z) :- near(X, Y), near(Y, Z), X != Z. "
NEAR = TURN + JOIN
FED = NEAR + "feed: link(X, Y) :- near(X, Y), strong(X). back: near(X, Y) :- link(X, Y). "
PATH = "copy: path(X, Y) :- edge(X, Y). trans: path(X, Z) :- path(X, Y), path(Y, Z). "
PATH_FED = PATH + "hop: trail(X, Y) :- path(X, Y). home: path(X, Z) :- trail(X, Y), leap(Y, Z). "
ABOVE = "far(X, Y) :- pair(X, Y), not near(X, Y). number(X, N) :- AGGREGATE(near(X, Y)) ON X WITH COUNT(Y) AS N. "

FACTS: dict[str, list[tuple[Any, ...]]] = {
    "near": [("a", "b"), ("b", "c"), ("d", "e"), ("f", "f")],
    "link": [("g", "h")],
    "strong": [("a",), ("g",)],
    "pair": [("a", "c"), ("a", "d"), ("f", "f"), ("z", "z")],
    "edge": [("a", "b"), ("b", "c"), ("x", "y")],
    "leap": [("c", "x"), ("y", "a")],
}


def fill(kb: KnowledgeBase, rules: str) -> None:
    with kb.update() as update:
        update.add_rules(rules)
        for predicate, rows in FACTS.items():
            update.insert(predicate, rows)


def open_with(modules: bool, path: str | Path = ":memory:", **more: Any) -> KnowledgeBase:
    """`open_kb` of conftest.py does not choose whether there are modules."""
    return zodiac_sql.connect(path, modules=modules, **more)


@pytest.fixture
def file(tmp_path: Path, open_kb: OpenKb) -> Path:
    path = tmp_path / "near.duckdb"
    with open_kb(path) as kb:
        fill(kb, NEAR)
    return path


def square(text: str) -> Rows:
    return {(a, b) for a in text for b in text}


NEAR_ROWS = square("abc") | square("de") | square("f")


def shown(table: Any) -> Rows:
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert len(rows) == len(set(rows))
    return set(rows)


def modules_of(kb: KnowledgeBase) -> list[str]:
    return [name for row in kb.hypernodes().to_pylist() for name in row["modules"]]


def in_idb(kb: KnowledgeBase) -> tuple[list[str], list[str]]:
    """The tables, but those set aside, and the views of what is derived."""
    tables = kb.sql(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'idb'"
        " AND NOT starts_with(table_name, 'zodiac$aside_') ORDER BY ALL"
    )
    views = kb.sql("SELECT view_name FROM duckdb_views() WHERE schema_name = 'idb' ORDER BY ALL")
    return [name for (name,) in tables.fetchall()], [name for (name,) in views.fetchall()]


def everything(kb: KnowledgeBase) -> object:
    """All that is in the file."""
    tables = kb.sql(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT temporary UNION ALL"
        " SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary"
        " ORDER BY ALL"
    ).fetchall()
    return [
        (name, sorted(map(str, kb.sql(f'FROM "{name[0]}"."{name[1]}"').fetchall())))
        for name in tables
    ]


def temporary(kb: KnowledgeBase) -> list[tuple[str, ...]]:
    return kb._session.store.rows(
        "SELECT table_name FROM duckdb_tables() WHERE temporary UNION ALL"
        " SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal ORDER BY ALL"
    )


# --- the file -------------------------------------------------------------------------------------


def test_the_file_has_classes_and_a_view_of_pairs(file: Path) -> None:
    with duckdb.connect(file, read_only=True) as connection:

        def rows(statement: str) -> list[tuple[Any, ...]]:
            return connection.sql(statement).fetchall()

        tables = rows("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'idb'")
        views = rows("SELECT view_name FROM duckdb_views() WHERE schema_name = 'idb'")
        assert (tables, views) == ([("h1_near classes",)], [("h1_near",)])
        text = "(SELECT text FROM zodiac.symbol WHERE id = {})"
        pairs = rows(f"SELECT {text.format('s')}, {text.format('o')} FROM idb.h1_near")
        assert set(pairs) == NEAR_ROWS and len(pairs) == len(NEAR_ROWS)
        assert set(rows("SELECT * FROM near")) == NEAR_ROWS
        classes = rows(
            "SELECT string_agg(name, '' ORDER BY name), min(class), max(class)"
            f" FROM (SELECT class, {text.format('node')} AS name"
            ' FROM idb."h1_near classes") GROUP BY class ORDER BY 1'
        )
        assert [names for names, *_ in classes] == ["abc", "de", "f"]


def test_external_facts_have_a_table(open_kb: OpenKb) -> None:
    kb = open_kb()
    fill(kb, FED + PATH_FED)
    tables, views = in_idb(kb)
    (near,), (path,) = (
        [row["hypernode"] for row in kb.hypernodes().to_pylist() if module in row["modules"]]
        for module in ("stc(near)", "tc(path)")
    )
    assert views == [f"{near}_near"]
    assert {f"{near}_link", f"{near}_near classes", f"{near}_near external"} < set(tables)
    assert {f"{path}_path", f"{path}_trail", f"{path}_path external"} < set(tables)
    external = kb.sql(f'SELECT count(*) FROM idb."{near}_near external"').fetchall()
    assert external == [(len(kb.table("link")),)]


def test_the_extension_is_the_same_however_it_is_read(
    file: Path, open_kb: OpenKb, tmp_path: Path
) -> None:
    with open_kb(file) as kb:
        assert set(kb.table("near").fetchall()) == NEAR_ROWS
        assert set(kb.sql("SELECT s, o FROM near").fetchall()) == NEAR_ROWS
        assert kb.sql("SELECT count(*) FROM near").fetchall() == [(14,)]
        assert kb.sql("SELECT o FROM near WHERE s = 'd' ORDER BY o").fetchall() == [("d",), ("e",)]
        assert set(kb.query("near(X, Y)").fetchall()) == NEAR_ROWS
        assert set(kb.query("near(a, X)").fetchall()) == {("a",), ("b",), ("c",)}
        assert kb.query("near(f, f), not near(a, d), near(X, X), X = e").fetchall() == [("e",)]
        assert set(kb.query("pair(X, Y), near(X, Y)").fetchall()) == {("a", "c"), ("f", "f")}
        assert set(kb.query("pair(X, Y), not near(X, Y)").fetchall()) == {("a", "d"), ("z", "z")}
        count = "AGGREGATE(near(X, Y)) ON X WITH COUNT(Y) AS N, X != b, N > 1"
        assert set(kb.query(count).fetchall()) == {("a", 3), ("c", 3), ("d", 2), ("e", 2)}
        row = next(r for r in kb.predicates().to_pylist() if r["predicate"] == "near")
        assert (row["explicit"], row["derived"], row["extension"]) == (4, 14, 14)
        for format_ in ("csv", "parquet", "nt"):
            kb.export(tmp_path / format_, format_, "near")
        assert shown(pyarrow.csv.read_csv(tmp_path / "csv" / "near.csv")) == NEAR_ROWS
        assert shown(pyarrow.parquet.read_table(tmp_path / "parquet" / "near.parquet")) == NEAR_ROWS
        (triples,) = (tmp_path / "nt").iterdir()
        assert len(set(triples.read_text("utf-8").splitlines())) == len(NEAR_ROWS)


@pytest.mark.parametrize(
    ("names", "join"), [("node class", JOIN), ("class loop", UNEQUAL), ("a b", UNEQUAL)]
)
def test_columns_may_be_called_like_those_of_classes(
    open_kb: OpenKb, names: str, join: str
) -> None:
    kb = open_kb()
    first, second = names.split()
    kb.insert("near", pyarrow.table({first: ["a", "b", "d"], second: ["b", "c", "e"]}))
    kb.insert("pair", [("a", "c"), ("a", "d"), ("a", "a")])
    kb.add_rules(TURN + join + "far(X, Y) :- pair(X, Y), not near(X, Y).")
    change = kb.insert("near", [("c", "d")])
    assert kb.table("near").column_names == [first, second]
    loops = 5 if join == JOIN else 0
    assert len(kb.table("near")) == 20 + loops
    assert len(shown(change.inserted_facts("near"))) == change.inserted["near"] == 12
    assert change.deleted == {"far": 1}
    assert kb.verify()


@pytest.mark.parametrize("name", ["zodiac$classes_near", "zodiac$external_near"])
@pytest.mark.parametrize("space", ["", "http://example.org/"], ids=["plain", "iri"])
def test_predicates_may_be_called_like_tables_of_modules(
    open_kb: OpenKb, name: str, space: str
) -> None:
    kb = open_kb()
    kb.add_rules(
        f"{NEAR} f: <{space}{name}>(X) :- near(X, _). b: near(X, X) :- <{space}{name}>(X)."
    )
    kb.insert("near", [("a", "b"), ("b", "c")])
    kb.insert(f"<{space}{name}>", [("d",)])
    assert set(kb.table("near").fetchall()) == square("abc") | square("d")
    assert set(kb.table(f"<{space}{name}>").fetchall()) == {("a",), ("b",), ("c",), ("d",)}
    assert kb.verify()


# --- large changes --------------------------------------------------------------------------------


@contextmanager
def largest_table(kb: KnowledgeBase) -> Iterator[dict[str, int]]:
    """The largest table that there is between any two statements inside: its rows, by its name."""
    seen: dict[str, int] = {}

    def look(text: str, parameters: object) -> None:
        rows = kb._session.store.connection.execute(
            "SELECT table_name, estimated_size FROM duckdb_tables() ORDER BY 2 DESC LIMIT 1"
        ).fetchall()
        if rows and rows[0][1] > max(seen.values(), default=0):
            seen.clear()
            seen.update(rows)

    kb._session.store.tracer = look
    yield seen
    kb._session.store.tracer = None


def chain(start: int, stop: int) -> list[tuple[int, int]]:
    return [(number, number + 1) for number in range(start, stop - 1)]


@pytest.mark.parametrize(
    ("rules", "unequal", "chosen"),
    [
        (NEAR, False, "auto"),
        (TURN + UNEQUAL, True, "auto"),
        (FED, False, "auto"),
        (NEAR, False, "recompute"),
    ],
    ids=["stc", "unequal", "fed", "recompute"],
)
def test_large_splits_and_merges_make_no_pairs(
    open_kb: OpenKb, rules: str, unequal: bool, chosen: str
) -> None:
    kb, size = open_kb(strategy=chosen), 400
    limit = 5 * 2 * size

    def whole(nodes: int) -> int:
        return nodes * (nodes - unequal)

    with largest_table(kb) as largest:
        kb.add_rules(rules)
        first = kb.insert("near", chain(0, size) + chain(size, 2 * size))
        assert first.inserted == {"near": 2 * whole(size)}
        assert first.inserted_facts("near", 10).num_rows == 10

        merged = kb.insert("near", [(7, size + 7)])
        assert (merged.inserted, merged.deleted) == ({"near": 2 * size**2}, {})
        some = shown(merged.inserted_facts("near", 1000))
        assert len(some) == 1000 and all((a < size) != (b < size) for a, b in some)
        assert merged.deleted_facts("near").num_rows == 0
        assert kb.predicates().to_pylist()[-1]["explicit"] in (0, 2 * size - 1)

        split = kb.delete("near", [(7, size + 7)])
        assert (split.inserted, split.deleted) == ({}, {"near": 2 * size**2})
        some = shown(split.deleted_facts("near", 1000))
        assert len(some) == 1000 and all((a < size) != (b < size) for a, b in some)

        with kb.update() as update:  # one is taken from the first, and comes to the second
            update.delete("near", [(size - 2, size - 1)])
            update.insert("near", [(size - 1, size)])
        moved = update.change
        assert moved.inserted == {"near": 2 * size}
        assert moved.deleted == {"near": 2 * (size - 1)}
        assert shown(moved.deleted_facts("near")) == {
            pair for other in range(size - 1) for pair in ((other, size - 1), (size - 1, other))
        }
        assert kb.query(f"near(0, {size - 2}), not near(0, {size - 1})").to_pylist() != []
        assert modules_of(kb) == ["stc(near)"]

        gone = kb.drop_rules("join")
        left = 2 * (2 * size - 2)
        assert gone.deleted == {"near": whole(size - 1) + whole(size + 1) - left}
        back = kb.add_rules(rules)
        assert back.inserted == gone.deleted
    assert max(largest.values()) <= limit, largest
    assert len(kb.table("near")) == whole(size - 1) + whole(size + 1)


def test_the_table_of_classes_has_a_row_for_each_node(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules(FED)
    kb.insert("strong", [(1,)])
    kb.insert("near", chain(0, 200))
    (row,) = kb.hypernodes().to_pylist()
    assert row["rows"] == 200**2 + 200
    sizes = dict(
        kb.sql(
            "SELECT table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'idb'"
        ).fetchall()
    )
    assert sizes == {"h1_near classes": 200, "h1_near external": 200, "h1_link": 200}
    assert kb.verify()


# --- what a change tells --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "chosen"),
    [
        (TURN + UNEQUAL + ABOVE, "dred"),
        (FED + PATH_FED, "auto"),
        (PATH_FED, "bf"),
    ],
)
def test_facts_of_changes(open_kb: OpenKb, rules: str, chosen: str) -> None:
    """Those that a change, and a preview of it, tells are those by which the extensions differ."""
    kb = open_kb(strategy=chosen)
    fill(kb, rules)
    assert modules_of(kb)
    moves: list[tuple[str, str, list[tuple[Any, ...]]]] = [
        ("insert", "near", [("c", "d"), ("k", "k")]),
        ("delete", "near", [("b", "c")]),
        ("insert", "edge", [("y", "z"), ("c", "a")]),
        ("delete", "edge", [("b", "c")]),
        ("delete", "near", [("d", "e"), ("f", "f")]),
        ("delete", "link", [("g", "h")]),
    ]
    before = _extensions(kb)
    for verb, predicate, rows in moves:
        with kb.preview() as preview:
            getattr(preview, verb)(predicate, rows)
        previewed = _told(preview.change)
        change: Change = getattr(kb, verb)(predicate, rows)
        after = _extensions(kb)
        assert previewed == _told(change) == _differences(before, after)
        before = after
    assert kb.verify()


def _extensions(kb: KnowledgeBase) -> dict[str, Rows]:
    names = kb.predicates()["predicate"].to_pylist()
    return {name: set(kb.table(name).fetchall()) for name in names}


def _told(change: Change) -> tuple[dict[str, Rows], dict[str, Rows]]:
    inserted = {name: shown(change.inserted_facts(name)) for name in change.inserted}
    deleted = {name: shown(change.deleted_facts(name)) for name in change.deleted}
    for counts, facts in ((change.inserted, inserted), (change.deleted, deleted)):
        assert counts == {name: len(rows) for name, rows in facts.items()}
    return inserted, deleted


def _differences(
    before: dict[str, Rows], after: dict[str, Rows]
) -> tuple[dict[str, Rows], dict[str, Rows]]:
    names = before.keys() | after.keys()
    came = {name: after.get(name, set()) - before.get(name, set()) for name in names}
    went = {name: before.get(name, set()) - after.get(name, set()) for name in names}
    return ({n: rows for n, rows in came.items() if rows}, {n: r for n, r in went.items() if r})


# --- modules on and off ---------------------------------------------------------------------------


def test_a_file_with_modules_opened_without_and_the_other_way_round(tmp_path: Path) -> None:
    """A hypernode is converted when it is next touched, and what is told is as ever."""
    path = tmp_path / "some.duckdb"
    with open_with(True, path) as kb:
        fill(kb, FED + PATH_FED + ABOVE)
        both = modules_of(kb)
        assert sorted(both) == ["stc(near)", "tc(path)"]
    for number, (modules, strategy) in enumerate(((False, "auto"), (True, "bf"))):
        with open_with(modules, path, strategy=strategy) as kb:
            assert modules_of(kb) == ([] if modules else both)
            kb.insert("elsewhere", [(number,)])
            assert modules_of(kb) == ([] if modules else both)  # nothing has touched them
            before = _extensions(kb)
            change = kb.insert("near", [("c", f"c{number}"), ("k", "k")])
            assert _told(change) == _differences(before, _extensions(kb))
            assert modules_of(kb) == (["stc(near)"] if modules else ["tc(path)"])
            before = _extensions(kb)
            with kb.update() as update:
                update.delete("edge", [("b", "c")])
                update.insert("edge", [("b", f"b{number}")])
            assert _told(update.change) == _differences(before, _extensions(kb))
            assert modules_of(kb) == (both if modules else [])
            assert kb.verify()
            tables, views = in_idb(kb)
            assert any(" " in name for name in tables) == modules
            assert bool(views) == modules


@pytest.mark.parametrize("rules", [FED + ABOVE + PATH_FED], ids=["all"])
def test_a_file_from_before_modules(tmp_path: Path, open_kb: OpenKb, rules: str) -> None:
    path = tmp_path / "old.duckdb"
    with open_with(False, path) as kb:
        fill(kb, rules)
        expected = _extensions(kb)
    with duckdb.connect(path) as connection:
        connection.execute("ALTER TABLE zodiac.hypernode DROP COLUMN modules")
        connection.execute("DROP TABLE zodiac.stream")
        connection.execute("DROP TABLE zodiac.hypertree")
        connection.execute("DROP SCHEMA hd")
        connection.execute("DELETE FROM zodiac.migration WHERE version >= 3")
    with open_kb(path) as kb:
        assert_agrees(kb, expected)
        assert modules_of(kb) == [] and kb.verify()
        kb.insert("elsewhere", [(1,)])
        assert modules_of(kb) == []
        before = _extensions(kb)
        change = kb.insert("near", [("c", "d")])
        assert _told(change) == _differences(before, _extensions(kb))
        assert change.inserted["near"] == 12
        assert modules_of(kb) == ["stc(near)"]
        assert in_idb(kb)[1] == [next(
            f"{row['hypernode']}_near" for row in kb.hypernodes().to_pylist() if row["modules"]
        )]  # fmt: skip
        assert kb.verify()
    with open_kb(path) as kb:
        assert kb.verify() and modules_of(kb) == ["stc(near)"]
        kb.delete("near", [("c", "d")])
        assert_agrees(kb, expected)


def test_reading_a_file_from_before_modules_needs_a_migration(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    with open_with(False, path) as kb:
        fill(kb, NEAR)
    with duckdb.connect(path) as connection:
        connection.execute("ALTER TABLE zodiac.hypernode DROP COLUMN modules")
        connection.execute("DROP TABLE zodiac.stream")
        connection.execute("DROP TABLE zodiac.hypertree")
        connection.execute("DROP SCHEMA hd")
        connection.execute("DELETE FROM zodiac.migration WHERE version >= 3")
    with pytest.raises(zodiac_sql.StoreError, match="without read_only"):
        zodiac_sql.connect(path, read_only=True)
    open_with(True, path).close()
    with zodiac_sql.connect(path, read_only=True) as kb:
        assert set(kb.table("near").fetchall()) == NEAR_ROWS


def test_rules_that_come_and_go_turn_modules_on_and_off(open_kb: OpenKb) -> None:
    kb = open_kb()
    steps: list[tuple[str, str, list[str]]] = [
        ("add", TURN, []),
        ("add", JOIN, ["stc(near)"]),
        ("add", "back: near(X, Y) :- link(X, Y). ", ["stc(near)"]),
        ("add", "feed: link(X, Y) :- near(X, Y), strong(X). ", ["stc(near)"]),
        ("drop", "turn", ["tc(near)"]),
        ("add", TURN, ["stc(near)"]),
        ("drop", "join", []),
        ("add", UNEQUAL, ["stc(near)"]),
        ("drop", "back", ["stc(near)"]),
        ("add", "again: near(X, Z) :- near(Y, Z), near(X, Y). ", ["stc(near)"]),
        ("drop", "join", ["stc(near)"]),
        ("drop", "turn", ["tc(near)"]),
        ("drop", "again", []),
        ("add", JOIN.replace("X, Z", "Z, X", 1), []),
        ("add", JOIN.replace("join", "real"), ["tc(near)"]),
    ]
    for predicate, rows in FACTS.items():
        kb.insert(predicate, rows)
    before = _extensions(kb)
    for verb, what, expected in steps:
        change = kb.add_rules(what) if verb == "add" else kb.drop_rules(what)
        after = _extensions(kb)
        assert _told(change) == _differences(before, after)
        assert modules_of(kb) == expected
        before = after
    assert kb.verify()


def test_hypernodes_tell_their_modules(open_kb: OpenKb) -> None:
    kb = open_kb()
    fill(kb, FED + PATH + "other(X, Z) :- other(X, Y), near(Y, Z). " + ABOVE)
    told = [(" ".join(row["rules"]), row["modules"]) for row in kb.hypernodes().to_pylist()]
    assert sorted(told) == [
        ("copy", []), ("r1", []), ("r2", []), ("r3", []), ("trans", ["tc(path)"]),
        ("turn join feed back", ["stc(near)"]),
    ]  # fmt: skip
    stats = kb.insert("near", [("c", "d")]).stats["hypernodes"]
    (near,) = (one for one in stats.values() if one["modules"])  # type: ignore[attr-defined,index]
    assert near["modules"] == ["stc(near)"]


def test_two_modules_in_one_hypernode(open_kb: OpenKb) -> None:
    kb = open_kb()
    fill(kb, NEAR + "copy: path(X, Y) :- near(X, Y). m: near(X, Y) :- path(X, Y), strong(X). "
         "trans: path(X, Z) :- path(X, Y), path(Y, Z). ")  # fmt: skip
    assert modules_of(kb) == ["stc(near)", "tc(path)"]
    kb.insert("path", [("a", "d")])
    assert ("c", "e") in set(kb.table("near").fetchall())
    assert kb.verify()
    kb.delete("strong", [("a",)])
    assert ("c", "e") not in set(kb.table("near").fetchall())
    assert kb.verify()


def test_all_rules_go(open_kb: OpenKb) -> None:
    kb = open_kb()
    fill(kb, FED + PATH_FED + ABOVE)
    before = _extensions(kb)
    change = kb.drop_rules(*kb.rules()["name"].to_pylist())
    assert _told(change) == _differences(before, _extensions(kb))
    assert in_idb(kb) == ([], [])
    assert_agrees(kb, {name: set(rows) for name, rows in FACTS.items()})
    assert kb.verify()
    assert kb.insert("near", [("x", "y")]).inserted == {"near": 1}
    assert kb.add_rules(NEAR).inserted == {"near": len(NEAR_ROWS) + 4 - 5}
    assert kb.verify()


def test_no_facts_are_left(open_kb: OpenKb) -> None:
    kb = open_kb()
    fill(kb, FED + PATH_FED + ABOVE)
    for predicate, rows in FACTS.items():
        kb.delete(predicate, rows)
    assert kb.verify()
    assert not any(_extensions(kb).values())
    assert kb.insert("near", [("a", "b")]).inserted == {"near": 4, "number": 2}


def test_the_strategy_is_told(open_kb: OpenKb, strategy: str) -> None:
    kb = open_kb(strategy=strategy)
    fill(kb, FED + PATH_FED)
    for verb, row in ((kb.insert, ("c", "d")), (kb.delete, ("b", "c"))):
        for predicate, module in (("near", "stc"), ("edge", "tc")):
            (told,) = (
                dict(one) for one in verb(predicate, [row]).stats["hypernodes"].values()
                if one["modules"]
            )  # fmt: skip
            assert told["modules"][0].startswith(module)
            if strategy == "recompute":
                assert told["strategy"] == "recompute"
            elif module == "stc" and strategy != "auto":
                assert told["strategy"] == "dred"
            elif strategy in ("dred", "bf"):
                assert told["strategy"] == strategy
    assert kb.verify()


# --- nothing half done ----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [FED + PATH_FED], ids=["all"])
def test_an_update_that_fails_above_a_closure_changes_nothing(
    file: Path, open_kb: OpenKb, rules: str
) -> None:
    with open_kb(file) as kb:
        fill(kb, rules)
        kb.register_function("failing", _fails_at_d, ["symbol"], "symbol")
        kb.add_rules("above(X, Z) :- near(X, Y), Y != e, Z = failing(Y), near(X, a).")
        before, left = everything(kb), temporary(kb)
        for verb in (kb.update, kb.preview):
            with (
                pytest.raises(FunctionError, match="a registered function failed"),
                verb() as update,
            ):
                update.insert("near", [("c", "d"), ("new", "symbol")])
                update.delete("edge", [("a", "b")])
            assert everything(kb) == before
            assert len(temporary(kb)) <= len(left)
        assert kb.verify()
        change = kb.delete("near", [("b", "c")])
        assert change.deleted["near"] == 5
        assert kb.verify()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = open_kb(file)
    with again:
        assert set(again.table("near").fetchall()) >= square("ab") | square("de")
        assert ("a", "c") not in set(again.table("near").fetchall())


def _fails_at_d(text: str) -> str:
    if text == "d":
        raise ValueError(text)
    return text


class Stopped(Exception):
    """What happens in the middle of a change."""


@pytest.mark.parametrize("rules", [NEAR, FED], ids=["stc", "fed"])
def test_a_change_that_stops_anywhere_changes_nothing(
    tmp_path: Path, open_kb: OpenKb, rules: str
) -> None:
    """Stopped at every seventh statement, and every third one of its publication."""
    kb = open_kb(tmp_path / "some.duckdb")
    fill(kb, rules)
    before, at, publishing, stops = everything(kb), 1, False, 0
    while True:
        statements: list[str] = []

        def stop(text: str, parameters: object) -> None:
            statements.append(text)  # noqa: B023
            if len(statements) == at and "COMMIT" not in statements:  # noqa: B023
                raise Stopped

        kb.trace(stop)
        try:
            with kb.update() as update:
                update.delete("near", [("b", "c")])
                update.insert("near", [("c", "d"), ("new", "symbol")])
                update.insert("edge", [("c", "a")])
        except Stopped:
            kb.trace(None)
            assert everything(kb) == before
            publishing = "BEGIN TRANSACTION" in statements
            at += 3 if publishing else 7
            stops += 1
        else:
            break
    kb.trace(None)
    assert publishing and stops > 5
    assert update.change.inserted["near"] == 8 and update.change.deleted["near"] == 4
    assert kb.verify()


# --- previews -------------------------------------------------------------------------------------


def test_a_preview_tells_and_changes_nothing(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as kb:
        before = everything(kb)
        with kb.preview() as preview:
            preview.insert("near", [("c", "d")])
            preview.delete("near", [("a", "b")])
        change = preview.change
        came = square("bcde") - square("bc") - square("de")
        went = {("a", "a"), ("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")}
        assert (change.inserted, change.deleted) == ({"near": 8}, {"near": 5})
        assert shown(change.inserted_facts("near")) == came
        assert shown(change.deleted_facts("near")) == went
        assert everything(kb) == before
        assert kb.verify()
        with kb.preview() as preview:
            preview.drop_rules("turn", "join")
        assert preview.change.deleted == {"near": 10}
        assert shown(preview.change.deleted_facts("near")) == NEAR_ROWS - set(FACTS["near"])
        assert everything(kb) == before


def test_a_preview_of_the_rules_themselves(open_kb: OpenKb) -> None:
    kb = open_kb()
    for predicate, rows in FACTS.items():
        kb.insert(predicate, rows)
    before = everything(kb)
    with kb.preview() as preview:
        preview.add_rules(FED + PATH_FED)
    assert preview.change.inserted["near"] == len(NEAR_ROWS) + 4 - 4
    assert everything(kb) == before
    assert kb.add_rules(FED + PATH_FED).inserted == preview.change.inserted


# --- two connections ------------------------------------------------------------------------------


def test_two_connections(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as first, open_kb(file) as second:
        assert first.insert("near", [("c", "d")]).inserted == {"near": 12}
        assert second.delete("near", [("b", "c")]).deleted == {"near": 12}
        assert first.insert("near", [("f", "a")]).inserted == {"near": 4}
        second.drop_rules("join")
        assert modules_of(first) == []
        assert first.add_rules(UNEQUAL)
        assert second.insert("near", [("x", "y"), ("y", "z")]).inserted == {"near": 6}
        assert second.verify() and first.verify()
        assert set(first.table("near").fetchall()) == set(second.table("near").fetchall())


def test_one_with_modules_and_one_without(file: Path) -> None:
    with open_with(True, file) as first, open_with(False, file) as second:
        for number in range(2):
            for kb, expected in ((second, []), (first, ["stc(near)"])):
                before = _extensions(kb)
                change = kb.insert("near", [(f"x{number}", f"y{number}"), ("a", f"x{number}")])
                change = change or kb.delete("near", [("a", f"x{number}")])
                assert _told(change) == _differences(before, _extensions(kb))
                assert modules_of(first) == modules_of(second) == expected
        assert first.verify() and second.verify()


def test_a_change_from_elsewhere_during_an_update(file: Path, open_kb: OpenKb) -> None:
    with open_kb(file) as first, open_kb(file) as second:
        with pytest.raises(LockedError), first.update() as update:
            update.insert("near", [("c", "d")])
            second.insert("near", [("e", "f")])
        assert set(first.table("near").fetchall()) == square("abc") | square("def")
        assert first.verify()
        assert first.insert("near", [("c", "d")]).inserted == {"near": 18}
