"""Several values of an aggregate, and values of groups without solutions, through changes."""

from __future__ import annotations

from pathlib import Path

import pytest

import zodiac_sql
from zodiac_sql import ProgramError

RULES = """
some: some(X, N, T, P) :- AGGREGATE(r(X, V, K)) ON X WITH COUNT(V) AS N, SUM(V) AS T, MAX(V * K) AS P, N > 0.
every: every(X, N, S) :- t(X), AGGREGATE(r(X, V, _)) ON X WITH COUNT(V) AS N ELSE 0, SUM(V) AS S ELSE -1.
total: total(N, C) :- AGGREGATE(r(_, V, _)) WITH COUNT(V) AS N ELSE 0, COUNT(DISTINCT V) AS C ELSE 0.
idle: idle(X) :- every(X, 0, _), not r(X, _, _).
"""  # noqa: E501
Rows = list[tuple[object, ...]]


def expected(readings: set[tuple[str, float, int]], there: set[str]) -> dict[str, Rows]:
    groups = {x: [(v, k) for y, v, k in readings if y == x] for x in {y for y, *_ in readings}}
    values = {x: [v for v, _ in pairs] for x, pairs in groups.items()}
    return {
        "some": sorted(
            (x, len(pairs), sum(v for v, _ in pairs), max(v * k for v, k in pairs))
            for x, pairs in groups.items()
        ),
        "every": sorted((x, len(values.get(x, ())), sum(values.get(x, [-1.0]))) for x in there),
        "total": [(len(readings), len({v for _, v, _ in readings}))],
        "idle": sorted((x,) for x in there if x not in groups),
    }


def test_through_changes(tmp_path: Path, strategy: str) -> None:
    readings: set[tuple[str, float, int]] = set()
    there: set[str] = set()
    steps = [
        ({("a", 1.5, 1), ("a", 2.5, 2), ("b", 7.0, 3), ("z", 1.0, 1)}, {"a", "b", "c"},
         set(), set()),
        ({("c", 5.0, 5)}, set(), {("a", 1.5, 1), ("a", 2.5, 2)}, set()),
        (set(), {"d", "z"}, {("b", 7.0, 3)}, {"a"}),
        ({("b", 1.0, 1)}, {"a"}, {("z", 1.0, 1), ("c", 5.0, 5)}, {"b"}),
        (set(), set(), {("b", 1.0, 1)}, set()),
    ]  # fmt: skip
    path = tmp_path / "values.duckdb"
    with zodiac_sql.connect(path, strategy=strategy) as kb:
        kb.add_rules(".decl r(x: symbol, v: float, k: int) .decl t(x: symbol)")
        kb.add_rules(RULES)
    for come, named, go, unnamed in steps:
        with zodiac_sql.connect(path, strategy=strategy) as kb:
            with kb.update() as update:
                update.delete("r", sorted(go))
                update.insert("r", sorted(come))
                update.delete("t", [(x,) for x in sorted(unnamed)])
                update.insert("t", [(x,) for x in sorted(named)])
            readings, there = (readings - go) | come, (there - unnamed) | named
            for name, rows in expected(readings, there).items():
                assert sorted(kb.table(name).fetchall()) == rows, name
            assert kb.verify()


def test_several_values_read_the_body_once() -> None:
    statements: list[str] = []
    with zodiac_sql.connect() as kb:
        kb.insert("r", [("a", 1), ("a", 2), ("b", 5)])
        kb.trace(lambda statement, _: statements.append(statement))
        kb.add_rules("""
            n(X, N, S, M) :- AGGREGATE(r(X, V)) ON X WITH COUNT(V) AS N, SUM(V) AS S, MAX(V) AS M.
            one(X) :- AGGREGATE(r(X, V)) ON X WITH MIN(V) AS W, MAX(V) AS W.
        """)
        assert all(text.count('"edb"."r"') < 2 for text in statements)
        assert set(kb.table("n").fetchall()) == {("a", 2, 3, 2), ("b", 1, 5, 5)}
        kb.trace(None)
        kb.delete("r", [("a", 2)])
        assert set(kb.table("n").fetchall()) == {("a", 1, 1, 1), ("b", 1, 5, 5)}
        assert set(kb.table("one").fetchall()) == {("a",), ("b",)}
        assert kb.verify()


def test_why() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules(f"t(a). t(b). r(a, 1.5, 2). {RULES}")
        assert "N = 0 = count(V) of 0 solutions with X = b" in str(kb.why("every(b, 0, -1)"))
        assert "P = 3.0 = max(V * K) of 1 solution with X = a" in str(kb.why("some(a, 1, 1.5, 3)"))
        assert "N would be 0, and not 1" in str(kb.why_not("every(b, 1, 1)"))
        assert "no t(q)" in str(kb.why_not("every(q, 0, -1)"))
        query = "t(X), AGGREGATE(r(X, V, _)) ON X WITH COUNT(V) AS N ELSE 0"
        assert sorted(kb.query(query).fetchall()) == [("a", 1), ("b", 0)]


@pytest.mark.parametrize(("rule", "message"), [
    ("x(X, N) :- AGGREGATE(r(X, V)) ON X WITH COUNT(V) AS N ELSE 0.",
     "nothing says for which X there is an ELSE"),
    ("x(X, N) :- t(X), AGGREGATE(r(X, V)) ON X WITH COUNT(V) AS N ELSE 0.5.",
     "the AGGREGATE gives int, but ELSE gives 0.5 of type float"),
    ("x(X, N) :- t(X), AGGREGATE(r(X, V)) ON X WITH MAX(V) AS N ELSE none.",
     "what follows ELSE is no number"),
    ("x(X, N) :- t(X), COUNT(X) AS N.", "AS stands only in an AGGREGATE and in BIND"),
    ("x(N, M) :- AGGREGATE(r(_, V)) WITH MAX(V) AS N, t(_), MAX(V) AS M.", "AS stands only"),
    ("x(N, M) :- AGGREGATE(r(_, V)) WITH MAX(V) AS N, AGGREGATE(t(V)) WITH MAX(V) AS M.",
     "over different bodies or groups"),
    ("x(N, M) :- AGGREGATE(r(X, V)) WITH MAX(V) AS N, MIN(W) AS M.", "W has no value inside"),
])  # fmt: skip
def test_what_is_refused(rule: str, message: str) -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules(".decl t(x: symbol) .decl r(x: symbol, v: int)")
        with pytest.raises(ProgramError, match=message):
            kb.add_rules(rule)
