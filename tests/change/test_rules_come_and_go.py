"""Rules come and go: names, times, views and predicates follow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.changing_rules import added_at, moved, names, predicates, set_back, views

from zodiac_sql import ProgramError, QueryError
from zodiac_sql.change.temporary_tables import MOST_RENAMINGS

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]


# --- names and times ------------------------------------------------------------------------------


OLD = "2020-02-02T02:02:02Z"


def test_when_a_rule_was_added(open_kb: OpenKb, tmp_path: Path) -> None:
    """Other changes, merges and splits of its hypernode and reopening leave it alone."""
    file = tmp_path / "some.duckdb"
    with open_kb(file) as kb:
        kb.add_rules("a: p(X) :- e(X). b: q(X) :- p(X). c: r(X) :- q(X). q(X) :- f(X).")
        set_back(kb)
        every = dict.fromkeys(("a", "b", "c", "r1"), OLD)
        kb.insert("e", [("x",)])
        assert added_at(kb) == every
        change = kb.add_rules("d: p(X) :- r(X). e(X) :- f(X).")
        assert moved(change)["merged"] and moved(change)["created"]
    with open_kb(file) as kb:
        times = added_at(kb)
        assert names(kb) == ["a", "b", "c", "r1", "d", "r2"]
        assert {name: times.pop(name) for name in every} == every
        assert min(times.values()) > OLD
        assert moved(kb.drop_rules("d", "r2"))["split"]
        assert added_at(kb) == every
        kb.add_rules("a: p(X) :- e(X), f(X). c: r(Y) :- q(Y).", replace=True)
        assert {name for name, time in added_at(kb).items() if time == OLD} == {"b", "c", "r1"}
        last = kb.rules().to_pylist()
    with open_kb(file) as kb:
        assert kb.rules().to_pylist() == last
        assert last[-1]["name"] == "a"
        shown = kb.sql("SELECT strftime(added_at, '%Y-%m-%dT%H:%M:%SZ') FROM zodiac.rule")
        assert sorted(time for (time,) in shown.fetchall()) == sorted(r["added_at"] for r in last)


def test_names_that_a_change_frees_are_not_given_by_it(kb: KnowledgeBase) -> None:
    kb.add_rules("p(X) :- e(X). q(X) :- e(X). r(X) :- e(X).")
    assert names(kb) == ["r1", "r2", "r3"]
    with kb.update() as update:
        update.drop_rules("r1", "r2")
        update.add_rules("s(X) :- e(X). r5: t(X) :- e(X). u(X) :- e(X).")
    assert names(kb) == ["r3", "r4", "r5", "r6"]
    kb.add_rules("v(X) :- e(X). w(X) :- e(X).")  # free for a while
    assert names(kb)[-2:] == ["r1", "r2"]


# --- views and predicates -------------------------------------------------------------------------


def test_predicates_appear_and_disappear(paths: KnowledgeBase) -> None:
    assert predicates(paths).keys() == views(paths) == {"edge", "path", "ends"}
    paths.add_rules(
        "three(X, Y, Z) :- path(X, Y), path(Y, Z). new() :- other(_). one(X) :- edge(X, _)."
    )
    assert predicates(paths) == {
        "edge": "s: symbol, o: symbol",
        "path": "s: symbol, o: symbol",
        "ends": "s: symbol",
        "three": "c0: symbol, c1: symbol, c2: symbol",
        "new": "",
        "other": "s: open",
        "one": "s: symbol",
    }
    assert views(paths) == predicates(paths).keys()
    rows = paths.sql("SELECT c0, c2 FROM three WHERE c1 = 'b' ORDER BY ALL").fetchall()
    assert rows == [("a", "c"), ("a", "d")]
    paths.insert("other", [(1,)])
    assert paths.sql("FROM new").fetchall() == [(True,)]
    change = paths.drop_rules("r2", "r3", "r4")
    assert change.deleted == {"three": 4, "new": 1, "one": 3}
    assert predicates(paths).keys() == views(paths) == {"edge", "path", "ends", "other"}
    with pytest.raises(QueryError):
        paths.sql("FROM three")
    assert paths.verify()
    paths.delete("other", [(1,)])
    assert predicates(paths).keys() == views(paths) == {"edge", "path", "ends"}


def test_a_predicate_stays_with_its_facts_its_readers_or_its_declaration(kb: KnowledgeBase) -> None:
    kb.add_rules(
        "a: p(X) :- e(X). b: q(X) :- e(X). c: r(X) :- q(X). d: s(Celsius) :- e(Celsius). p(x)."
        ".decl s(celsius: symbol)"
    )
    kb.drop_rules("a", "b", "d")
    assert predicates(kb) == {
        "p": "s: symbol", "q": "s: open", "r": "s: open", "s": "celsius: symbol"
    }  # fmt: skip
    kb.drop_rules("c")
    assert predicates(kb).keys() == views(kb) == {"p", "s"}
    kb.add_rules("s(X) :- p(X).")
    assert kb.sql("SELECT celsius FROM s").fetchall() == [("x",)] and kb.verify()


def test_a_name_that_has_disappeared_may_be_another_predicate(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X, Y) :- e(X, Y). e(1, 2).")
    kb.drop_rules("a")
    kb.add_rules('a: P(X) :- e(X, _). b: p(X, "text", Y) :- e(X, Y).')
    shown = {row["predicate"]: row["sql_name"] for row in kb.predicates().to_pylist()}
    assert shown == {"e": "e", "P": "P", "p": "p_2"}
    assert kb.sql("FROM p_2").fetchall() == [(1, "text", 2)]
    kb.drop_rules("a")
    kb.add_rules("c: q(X) :- p(_, X, _).")
    assert kb.sql("FROM p_2").fetchall() == [(1, "text", 2)]  # SQL names stay


def test_predicates_of_prefixes(kb: KnowledgeBase) -> None:
    kb.add_rules(
        "@prefix ex: <http://e.org/> . ex:size(X) :- e(X, _). size(X) :- e(_, X). e(a, b)."
    )
    shown = {row["predicate"]: row["sql_name"] for row in kb.predicates().to_pylist()}
    assert shown == {"http://e.org/size": "size", "size": "size_2", "e": "e"} or shown == {
        "http://e.org/size": "ex_size", "size": "size", "e": "e"
    }  # fmt: skip
    for name, rows in (("http://e.org/size", [("a",)]), ("size", [("b",)])):
        assert kb.sql(f"FROM main.{shown[name]}").fetchall() == rows


# --- found by reading -----------------------------------------------------------------------------


def test_a_preview_of_the_first_rules(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("p", [("a",), ("b",)])
    for _ in range(2):
        with kb.preview() as preview:
            preview.add_rules("r1: q(X) :- p(X).")
        assert preview.change.inserted == {"q": 2}
        with kb.update():
            pass
        assert len(kb.rules()) == 0
        assert kb.drop_rules("q(X) :- p(X).").notes == ("there is no rule q(X) :- p(X).",)
    assert kb.add_rules("r1: q(X) :- p(X).").inserted == {"q": 2}


def test_what_left_is_counted_before_the_next_change(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules("r1: q(X) :- p(X). r2: q(X) :- s(X).")
    kb.insert("p", [("a",), ("b",)])
    kb.insert("s", [("a",)])
    change = kb.drop_rules("r1")
    kb.insert("s", [("c",)])
    assert change.deleted == {"q": 1} and change
    change = kb.drop_rules("r2")
    kb.close()
    assert change.deleted == {"q": 2}


def test_facts_of_a_predicate_with_an_odd_name(open_kb: OpenKb, tmp_path: Path) -> None:
    name = "http://example.org/zodiac$aside_x"
    with open_kb(tmp_path / "odd.duckdb") as kb:
        kb.insert(name, [("a",)])
    with open_kb(tmp_path / "odd.duckdb") as kb:
        kb.insert(name, [("b",)])
        assert sorted(kb.table(name)) == [("a",), ("b",)] and kb.verify()


def test_facts_to_delete_keep_a_predicate_as_it_is(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules("r1: p(X) :- s(X).")
    kb.insert("s", [("a",)])
    with pytest.raises(ProgramError, match="p is used with 2 columns"), kb.update() as update:
        update.delete("p", [("a",)])
        update.drop_rules("r1")
        update.add_rules("r2: p(X, X) :- s(X).")


def test_another_arity_beside_a_name_that_differs_in_case(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules("r1: z(X) :- P(X).")
    with kb.update() as update:
        update.drop_rules("r1")
        update.add_rules("r2: z(X) :- p(X). r3: z(X) :- P(X, Y). P(a, b). p(c).")
    assert sorted(kb.table("z")) == [("a",), ("c",)] and kb.verify()


def test_columns_that_get_other_names(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules("r1: p(X, Y) :- s(X, Y). r2: p(X, Y) :- t(X, Y). r3: q(X) :- p(X, Y).")
    kb.insert("s", [("a", "b"), ("c", "d")])
    kb.insert("t", [("c", "d"), ("e", "f")])
    with kb.update() as update:
        update.add_rules(".decl p(x: symbol, y: symbol)")
        update.drop_rules("r1")
    assert (update.change.inserted, update.change.deleted) == ({}, {"p": 1, "q": 1})
    assert kb.table("p").column_names == ["x", "y"] and kb.verify()


def test_nothing_temporary_piles_up(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("e", [("a", "b"), ("b", "c")])

    def temporary() -> int:
        tables = "SELECT count(*) FROM duckdb_{}() WHERE temporary"
        return sum(kb._session.store.count(tables.format(kind)) for kind in ("tables", "views"))

    seen = []
    for _ in range(2 * MOST_RENAMINGS):  # three changes each: all is looked through six times
        kb.add_rules("b: p(X, Y) :- e(Y, X).")
        kb.add_rules("c: e(X, Y) :- p(Y, X). d: p(X, Z) :- p(X, Y), p(Y, Z).")
        kb.drop_rules("b", "c", "d")
        seen.append(temporary())
    assert max(seen[MOST_RENAMINGS:]) <= max(seen[:MOST_RENAMINGS])
