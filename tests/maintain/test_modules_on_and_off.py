"""Modules come and go: with the option, with older files, and with rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from support.agreement import assert_agrees
from support.closed_relations import (
    ABOVE,
    FACTS,
    FED,
    JOIN,
    NEAR,
    NEAR_ROWS,
    PATH,
    PATH_FED,
    TURN,
    UNEQUAL,
    differences,
    extensions,
    facts_told,
    fill,
    in_idb,
    modules_of,
    open_with,
)
from support.old_files import BEFORE_THE_FEED

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.change import choose_rewrites
from zodiac_sql.maintain.registry import LOOKUPS

OpenKb = Callable[..., KnowledgeBase]


def test_a_file_with_modules_opened_without_and_the_other_way_round(tmp_path: Path) -> None:
    """A hypernode is converted when a strategy next touches it, and what is told is as ever."""
    path = tmp_path / "some.duckdb"
    with open_with(True, path) as kb:
        fill(kb, FED + PATH + ABOVE)
        both = modules_of(kb)
        assert sorted(both) == ["stc(near)", "tc(path)"]
    for number, (modules, strategy) in enumerate(((False, "support"), (True, "bf"))):
        with open_with(modules, path, strategy=strategy) as kb:
            assert modules_of(kb) == ([] if modules else both)
            kb.insert("elsewhere", [(number,)])
            assert modules_of(kb) == ([] if modules else both)  # nothing has touched them
            before = extensions(kb)
            change = kb.insert("near", [("c", f"c{number}"), ("k", "k")])
            assert facts_told(change) == differences(before, extensions(kb))
            assert modules_of(kb) == (["stc(near)"] if modules else ["tc(path)"])
            before = extensions(kb)
            with kb.update() as update:
                update.delete("edge", [("b", "c")])
                update.insert("edge", [("b", f"b{number}")])
            assert facts_told(update.change) == differences(before, extensions(kb))
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
        expected = extensions(kb)
    with duckdb.connect(path) as connection:
        connection.execute("ALTER TABLE zodiac.hypernode DROP COLUMN modules")
        connection.execute(BEFORE_THE_FEED)
        connection.execute("DROP TABLE zodiac.rule_set; DROP TABLE zodiac.rule_member")
        connection.execute("DROP TABLE zodiac.template; ALTER TABLE zodiac.rule DROP template")
        connection.execute("ALTER TABLE zodiac.rule DROP predicates")
        connection.execute("DROP TABLE zodiac.stream")
        connection.execute("DROP TABLE zodiac.hypertree")
        connection.execute("DROP SCHEMA hd")
        connection.execute("DELETE FROM zodiac.migration WHERE version >= 3")
    with open_kb(path) as kb:
        assert_agrees(kb, expected)
        assert modules_of(kb) == [] and kb.verify()
        kb.insert("elsewhere", [(1,)])
        assert modules_of(kb) == []
        before = extensions(kb)
        change = kb.insert("near", [("c", "d")])
        assert facts_told(change) == differences(before, extensions(kb))
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
        connection.execute(BEFORE_THE_FEED)
        connection.execute("DROP TABLE zodiac.rule_set; DROP TABLE zodiac.rule_member")
        connection.execute("DROP TABLE zodiac.template; ALTER TABLE zodiac.rule DROP template")
        connection.execute("ALTER TABLE zodiac.rule DROP predicates")
        connection.execute("DROP TABLE zodiac.stream")
        connection.execute("DROP TABLE zodiac.hypertree")
        connection.execute("DROP SCHEMA hd")
        connection.execute("DELETE FROM zodiac.migration WHERE version >= 3")
    with pytest.raises(zodiac_sql.StoreError, match="without read_only"):
        zodiac_sql.connect(path, read_only=True)
    open_with(True, path).close()
    with zodiac_sql.connect(path, read_only=True) as kb:
        assert set(kb.table("near").fetchall()) == NEAR_ROWS


def test_a_file_whose_transitive_closure_was_fed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such modules were taken once: they are right, until a change reaches them."""
    path = tmp_path / "some.duckdb"
    with monkeypatch.context() as patch:
        patch.setattr(choose_rewrites, "worthwhile", lambda forms: forms.modules)
        with open_with(True, path) as kb:
            fill(kb, FED + PATH_FED + ABOVE)
            assert sorted(modules_of(kb)) == ["stc(near)", "tc(path)"]
    with open_with(True, path) as kb:
        assert kb.verify()
        kb.insert("elsewhere", [(1,)])
        assert sorted(modules_of(kb)) == ["stc(near)", "tc(path)"]
        before = extensions(kb)
        change = kb.delete("edge", [("b", "c")])
        assert facts_told(change) == differences(before, extensions(kb))
        assert modules_of(kb) == ["stc(near)"]
        assert not [name for name in in_idb(kb)[0] if name.endswith("path external")]
        assert kb.verify()


def test_rules_that_come_and_go_turn_modules_on_and_off(open_kb: OpenKb) -> None:
    kb = open_kb()
    steps: list[tuple[str, str, list[str]]] = [
        ("add", TURN, []),
        ("add", JOIN, ["stc(near)"]),
        ("add", "back: near(X, Y) :- link(X, Y). ", ["stc(near)"]),
        ("add", "feed: link(X, Y) :- near(X, Y), strong(X). ", ["stc(near)"]),
        ("drop", "turn", []),
        ("add", TURN, ["stc(near)"]),
        ("drop", "join", []),
        ("add", UNEQUAL, ["stc(near)"]),
        ("drop", "back", ["stc(near)"]),
        ("add", "again: near(X, Z) :- near(Y, Z), near(X, Y). ", ["stc(near)"]),
        ("drop", "join", ["stc(near)"]),
        ("drop", "turn", ["tc(near)"]),
        ("drop", "again", []),
        ("add", JOIN.replace("X, Z", "Z, X", 1), []),
        ("add", JOIN.replace("join", "real"), []),
    ]
    for predicate, rows in FACTS.items():
        kb.insert(predicate, rows)
    before = extensions(kb)
    for verb, what, expected in steps:
        change = kb.add_rules(what) if verb == "add" else kb.drop_rules(what)
        after = extensions(kb)
        assert facts_told(change) == differences(before, after)
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


def test_a_module_beside_a_transitive_rule(open_kb: OpenKb) -> None:
    kb = open_kb()
    fill(kb, NEAR + "copy: path(X, Y) :- near(X, Y). m: near(X, Y) :- path(X, Y), strong(X). "
         "trans: path(X, Z) :- path(X, Y), path(Y, Z). ")  # fmt: skip
    assert modules_of(kb) == ["stc(near)"]  # near feeds path
    kb.insert("path", [("a", "d")])
    assert ("c", "e") in set(kb.table("near").fetchall())
    assert kb.verify()
    kb.delete("strong", [("a",)])
    assert ("c", "e") not in set(kb.table("near").fetchall())
    assert kb.verify()


def test_all_rules_go(open_kb: OpenKb) -> None:
    kb = open_kb()
    fill(kb, FED + PATH_FED + ABOVE)
    before = extensions(kb)
    change = kb.drop_rules(*kb.rules()["name"].to_pylist())
    assert facts_told(change) == differences(before, extensions(kb))
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
    assert not any(extensions(kb).values())
    assert kb.insert("near", [("a", "b")]).inserted == {"near": 4, "number": 2}


def test_the_strategy_is_told(open_kb: OpenKb, strategy: str) -> None:
    kb = open_kb(strategy=strategy)
    fill(kb, FED + PATH)
    for verb, row in ((kb.insert, ("c", "d")), (kb.delete, ("b", "c"))):
        for predicate, module in (("near", "stc"), ("edge", "tc")):
            (told,) = (
                dict(one) for one in verb(predicate, [row]).stats["hypernodes"].values()
                if one["modules"]
            )  # fmt: skip
            assert told["modules"][0].startswith(module)
            if strategy == "recompute":
                assert told["strategy"] == "recompute"
            elif module == "stc" and strategy not in LOOKUPS:
                assert told["strategy"] == "dred"
            elif strategy in ("dred", "bf"):
                assert told["strategy"] == strategy
    assert kb.verify()
