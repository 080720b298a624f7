"""`explain`: which operators evaluated hypernodes or maintained them, and what that took."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from support.as_if_large import as_if_large
from support.command_line import digest

from zodiac_sql.errors import LimitError, MissingFunctionError, MissingFunctionWarning, StoreError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.read.query import Answer

OpenKb = Callable[..., "KnowledgeBase"]

RULES = """
copied: link(X, Y) :- arc(X, Y).
begun: path(X, Y) :- link(X, Y).
prolonged: path(X, Z) :- path(X, Y), link(Y, Z).
even(0).
odd: odd(Y) :- even(X), next(X, Y).
even: even(Y) :- odd(X), next(X, Y).
near: near(X, Y) :- link(X, Y).
turned: near(X, Y) :- near(Y, X).
joined: near(X, Z) :- near(X, Y), near(Y, Z).
shortest: far(Y, MIN(D)) :- far(X, E), link(X, Y), D = E + 1.
start: far("n0", MIN(D)) :- arc("n0", _), D = 0.
many: many(X, N) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS N.
lonely: lonely(X) :- arc(X, _), not path(X, X).
cycle: cycle(X, Y, Z) :- link(X, Y), link(Y, Z), link(Z, X).
told: told(T) :- arc(X, _), T = concat("from ", X).
nothing: nothing(X) :- unheard(X).
"""
"""Rules that copy, closures of both kinds, several predicates, best values, groups, texts."""

ARCS = [(f"n{i}", f"n{i + 1}") for i in range(30)] + [("n9", "n3"), ("n7", "n5")]
NEXT = [(i, i + 1) for i in range(20)]


def fill(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules(RULES)
        update.insert("arc", ARCS)
        update.insert("next", NEXT)


def by(answer: Answer, key: str, value: str) -> dict[object, object]:
    return {row[key]: row[value] for row in answer.to_pylist()}


@pytest.mark.parametrize("large", [False, True])
def test_every_hypernode_derives_again_what_it_holds(open_kb: OpenKb, large: bool) -> None:
    """However it is evaluated, also with trees and components at work."""
    with as_if_large(really=large), open_kb(hypertree=large or "auto") as kb:
        fill(kb)
        found = kb.explain()
        assert by(found.hypernodes, "hypernode", "inserted") == by(
            kb.hypernodes(), "hypernode", "rows"
        )
        rules = found.rules.to_pylist()
        assert {row["rule"] for row in rules} == set(kb.rules()["name"].to_pylist())
        assert all((row["ms"] is None) is (row["measured"] == "module") for row in rules)
        assert kb.verify()


def test_what_ran_and_what_else_was_considered(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        fill(kb)
        found = kb.explain()
        assert not found.is_change and found.seconds > 0
        work = {tuple(row["derives"]): row for row in found.hypernodes.to_pylist()}
        assert work["odd", "even"]["operator"] in ("tagged", "loop")
        assert work["odd", "even"]["expected_ms"] > 0 and work["odd", "even"]["factor"] > 0
        assert work[("near",)]["operator"] in ("rules", "classes")
        assert work[("far",)]["operator"] == "best"
        assert work[("cycle",)]["expected_ms"] is None  # nothing else could do it
        assert all(row["deleted"] == 0 for row in work.values())
        took = found.hypernodes["took_ms"].to_pylist()
        assert took == sorted(took, reverse=True) and took[-1] >= 0
        name = work["odd", "even"]["hypernode"]
        operators = [row for row in found.operators.to_pylist() if row["hypernode"] == name]
        assert {"tagged", "loop"} <= {row["operator"] for row in operators}
        assert [row["took_ms"] is not None for row in operators].count(True) == 1
        assert {row["work"] for row in operators} == {"evaluate"}


def test_what_each_rule_takes(open_kb: OpenKb) -> None:
    """Of several rules of a hypernode, each is measured by itself, over all that holds."""
    with open_kb() as kb:
        fill(kb)
        rules = {row["rule"]: row for row in kb.explain().rules.to_pylist()}
        assert rules["copied"]["measured"] == rules["prolonged"]["measured"] == "evaluation"
        assert rules["odd"]["measured"] == rules["even"]["measured"] == "body"
        assert (rules["odd"]["facts"], rules["even"]["facts"]) == (10, 10)
        assert rules["cycle"]["facts"] == kb.table("cycle").num_rows
        assert rules["turned"]["measured"] == rules["joined"]["measured"] == "module"
        times = [row["ms"] for row in kb.explain().rules.to_pylist()]
        known = [ms for ms in times if ms is not None]
        assert known == sorted(known, reverse=True) and times[: len(known)] == known


def test_rules_that_others_are_evaluated_for(open_kb: OpenKb) -> None:
    """Those of a module that leaves rules, and those of a tree."""
    triangle = "tri: t(X, Y, Z) :- a(X, Y), b(Y, Z), c(Z, X), t2(X).\nlow: t2(X) :- t(X, _, _)."
    with open_kb(hypertree=True) as kb:
        pairs = list(combinations(range(6), 2))
        for name in "abc":
            kb.insert(name, [*pairs, *((y, x) for x, y in pairs)])
        kb.insert("t2", [(1,), (2,)])
        kb.add_rules(triangle)
        rules = {row["rule"]: row for row in kb.explain().rules.to_pylist()}
        assert rules["tri"]["measured"] == rules["low"]["measured"] == "body"
        assert rules["tri"]["facts"] == kb.table("t").num_rows
    with open_kb() as kb:
        kb.add_rules("c: p(X, Z) :- p(X, Y), p(Y, Z), X != Z.  d: p(Y, X) :- q(X, Y, Z), p(X, Z).")
        kb.insert("p", [(i, i + 1) for i in range(5)])
        kb.insert("q", [(0, 4, 3), (1, 7, 2)])
        rules = {row["rule"]: row for row in kb.explain().rules.to_pylist()}
        assert {row["measured"] for row in rules.values()} == {"body"}


def test_a_preview_and_a_change(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        fill(kb)
        with kb.preview() as preview:
            preview.delete("arc", [("n9", "n3")])
        found = kb.explain(preview.change)
        assert found.is_change and found.seconds == preview.change.seconds
        work = {tuple(row["derives"]): row for row in found.hypernodes.to_pylist()}
        stats = preview.change.stats.hypernodes[work[("link",)]["hypernode"]]
        assert work[("link",)]["operator"] == stats.strategy
        assert (work[("link",)]["deleted"], work[("link",)]["inserted"]) == (1, 0)
        assert work[("link",)]["expected_deleted"] == pytest.approx(1)
        assert {row["work"] for row in found.operators.to_pylist()} >= {"maintain"}
        assert by(found.rules, "rule", "measured")["copied"] == "change"
        assert by(found.rules, "rule", "measured")["turned"] in ("statements", "together")
        change = kb.insert("arc", [("n30", "n31")])
        work = {tuple(row["derives"]): row for row in kb.explain(change).hypernodes.to_pylist()}
        assert (work[("link",)]["inserted"], work[("link",)]["deleted"]) == (1, 0)
        added = kb.explain(kb.add_rules("odd2: odd(Y) :- next(Y, 3)."))
        (row,) = (row for row in added.rules.to_pylist() if row["rule"] == "odd2")
        assert (row["measured"], row["facts"]) == ("change", None) and row["ms"] > 0


def test_only_read(open_kb: OpenKb, tmp_path: Path) -> None:
    """A file that is open for reading, and facts of a change, which can still be asked for."""
    file = tmp_path / "explained.duckdb"
    with open_kb(file) as kb:
        fill(kb)
        change = kb.insert("arc", [("n30", "n31")])
        kb.explain()
        assert change.inserted_facts("link").num_rows == 1
    before = digest(file)
    with open_kb(file, read_only=True) as kb:
        assert len(kb.explain().hypernodes) == len(kb.hypernodes())
    assert digest(file) == before
    assert duckdb.connect(str(file)).sql("FROM path").fetchall()


def test_tables_without_rows(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        found = kb.explain()
        assert [len(one) for one in (found.hypernodes, found.operators, found.rules)] == [0] * 3
        assert found.hypernodes.schema.field("derives").type == pa.list_(pa.string())
        assert found.operators.schema.field("factor").type == pa.float64()
        assert found.rules.schema.field("facts").type == pa.int64()
        assert "0 hypernodes evaluated from scratch" in str(found)


def test_it_prints_and_is_json(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with open_kb() as kb:
        fill(kb)
        found = kb.explain()
        assert "prolonged" in found._repr_html_()
        assert "prolonged" in str(found) and repr(found) == str(found)
        assert f"{len(found.hypernodes)} hypernodes evaluated from scratch" in str(found)
        assert json.loads(json.dumps(found.to_dict()))["rules"] == found.rules.to_pylist()
        with kb.preview() as preview:
            preview.delete("arc", ARCS[:3])
        assert "moved / expected" in str(kb.explain(preview.change))


LONG = "a_predicate_whose_name_is_longer_than_any_column_of_the_table_can_be"


@pytest.mark.parametrize("columns", [80, 120])
def test_it_fits_a_terminal(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """No heading and no number is broken, and of names only those that fit no column."""
    monkeypatch.setenv("COLUMNS", str(columns))
    with open_kb() as kb:
        fill(kb)
        kb.add_rules(f"""
            @prefix wind: <http://wind.example/with/quite/a/long/path#> .
            l: {LONG}(X) :- link(X, _).
            w: wind:Turbine(X) :- link(X, _).
            s1: s(X) :- s(Y), link(Y, X). s2: s(X) :- u(X), link(X, X). u: u(X) :- s(X), v(X).
            v: v(X) :- u(X). t: t(X) :- v(X). o: s(X) :- t(X), not lonely(X).
        """)
        shown = str(kb.explain())
        with kb.preview() as preview:
            preview.delete("arc", ARCS[:3])
        changed = str(kb.explain(preview.change))
    lines = shown.splitlines() + changed.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum("┃ hypernode" in line and "┃ facts / expected" in line for line in lines) == 1
    assert sum("┃ hypernode" in line and "┃ moved / expected" in line for line in lines) == 1
    assert sum("┃ operator" in line and "ms / expected ┃ outcome" in line for line in lines) == 2
    assert "wind:Turbine" in shown and "s, u, v and 1 more" in shown
    folded = "".join(line.split("│")[1].strip() for line in shown.splitlines() if "│" in line)
    assert LONG in folded
    assert "rounds" in shown and "did it" in shown and "/ " in changed


def test_limits_and_errors(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "limited.duckdb"
    with open_kb(file) as kb:
        kb.register_function("twice", lambda n: 2 * n, parameters=["int"], returns="int")
        kb.add_rules("t: t(Y) :- n(X), Y = twice(X).  p(X, Z) :- p(X, Y), p(Y, Z).")
        kb.insert("n", [(1,), (2,)])
        kb.insert("p", [(i, i + 1) for i in range(2_000)])
        with pytest.raises(LimitError, match="takes longer"):
            kb.explain(timeout=0.001)
        assert kb.explain(max_rows=10**7)
        with pytest.raises(TypeError, match="max_row"):
            kb.explain(max_row=1)  # type: ignore[call-arg]
        kb.insert("n", [(3,)])
    with pytest.warns(MissingFunctionWarning):
        kb = open_kb(file, read_only=True)
    with kb, pytest.raises(MissingFunctionError, match="twice"):
        kb.explain()


def test_another_connection_changes_the_file_meanwhile(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "changed.duckdb"
    with open_kb(file) as kb, open_kb(file) as other:
        fill(kb)
        done = []

        def change(statement: str, _: object) -> None:
            if not done and "path" in statement and "CREATE" in statement:
                done.append(other.insert("next", [(20, 21)]))

        kb.trace(change)
        with pytest.raises(StoreError, match="explained"):
            kb.explain()
        kb.trace(None)
        assert done and len(kb.explain().hypernodes) == len(kb.hypernodes())
