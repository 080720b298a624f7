"""Limits: a change or a question that takes too long, or grows too much, changes nothing."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.errors import LimitError

ENDLESS = "n(Y) :- n(X), Y = X + 1."
SEVERAL = "n(Y) :- m(X), Y = X + 1. m(X) :- n(X)."


COPIES = {
    "one": "copy: p(X, Y) :- edge(X, Y).",
    "in a circle": "p(X, Y) :- edge(X, Y). q(X, Y) :- p(Y, X). p(X, Y) :- q(Y, X).",
}


def state(kb: KnowledgeBase) -> object:
    return sorted(kb.predicates().fetchall()), kb.rules().fetchall()


@pytest.fixture(params=["memory", "file"])
def kb(request: pytest.FixtureRequest, tmp_path: Path) -> KnowledgeBase:
    path = ":memory:" if request.param == "memory" else tmp_path / "limits.duckdb"
    kb = zodiac_sql.connect(path, threads=1)
    kb.insert("n", [(0,)])
    kb.insert("edge", [(i, i + 1) for i in range(40)])
    kb.add_rules("warm: up(Y) :- up(X), edge(X, Y), X + Y > 0.")  # all that is imported late
    kb.drop_rules("warm")
    return kb


def test_rows_that_never_end(kb: KnowledgeBase) -> None:
    before = state(kb)
    with pytest.raises(LimitError, match="takes longer than 0.3 s"):
        kb.insert("p", ((i,) for i in itertools.count()), timeout=0.3)
    assert state(kb) == before
    kb.close()


@pytest.mark.parametrize("rules", COPIES.values(), ids=COPIES)
def test_copies_are_counted(kb: KnowledgeBase, rules: str) -> None:
    kb.add_rules(rules)
    before = state(kb)
    more = [(i, -i) for i in range(2_000)]
    with pytest.raises(LimitError, match="max_rows"):
        kb.insert("edge", more, max_rows=100)
    assert state(kb) == before
    assert kb.insert("edge", more, max_rows=10_000).inserted["p"] == 2_000
    assert kb.verify()


def test_shortcuts_are_limited_as_well(kb: KnowledgeBase) -> None:
    """One new edge of a closure, and a product of dense relations, take no rounds.

    A change may also derive what was derived before once more.
    """
    kb.add_rules("path(X, Y) :- arc(X, Y). path(X, Z) :- path(X, Y), arc(Y, Z).")
    kb.insert("arc", [(i, i + 1) for i in range(100) if i != 50])
    kb.add_rules("both(X, Z) :- left(X, Y), right(Y, Z).")
    dense = [(a, b) for a in range(120) for b in range(120)]
    kb.insert("left", [(a, b) for a, b in dense if a < 20])
    kb.insert("right", dense)
    with pytest.raises(LimitError, match="more than 10 rows"):
        kb.insert("arc", [(50, 51)], max_rows=10)
    with pytest.raises(LimitError, match="more than 10 rows"):
        kb.insert("left", [(a, b) for a, b in dense if a >= 20], max_rows=10)
    assert kb.insert("arc", [(50, 51)], max_rows=20_000).inserted["path"] == 51 * 50
    more = kb.insert("left", [(a, b) for a, b in dense if a >= 20], max_rows=20_000)
    assert more.inserted["both"] == 100 * 120


@pytest.mark.parametrize("rules", [ENDLESS, SEVERAL])
@pytest.mark.parametrize("limit", [{"max_rows": 50}, {"max_iterations": 20}, {"timeout": 1}])
def test_an_endless_rule_is_ended_and_named(
    kb: KnowledgeBase, rules: str, limit: dict[str, float]
) -> None:
    before = state(kb)
    with pytest.raises(LimitError, match="Nothing was changed") as caught:
        kb.add_rules(rules, **limit)  # type: ignore[arg-type]
    error = caught.value
    assert error.limit in limit
    assert error.hypernode and "r1" in error.rules
    assert "Y = X + 1" in str(error)
    if "timeout" in limit:
        assert "in one statement for" in str(error)
    else:
        assert "a second" in str(error) and error.iterations >= 1 and error.rows >= 1
    if "max_iterations" in limit:
        assert error.iterations == 20
    assert state(kb) == before
    with pytest.raises(LimitError), kb.preview(**limit) as preview:  # type: ignore[arg-type]
        preview.add_rules(rules)
    assert state(kb) == before
    kb.add_rules("p(X) :- n(X).", **limit)  # type: ignore[arg-type]
    assert kb.table("p").fetchall() == [(0,)]
    kb.close()


GROWING = {
    "one": ENDLESS,
    "several": SEVERAL,
    "several atoms": "n(Y) :- n(X), n(Z), X = Z, Y = X + 1.",
    "texts": 'n(X + 1) :- t(X, _). t(X, concat("t", X)) :- n(X).',
}


@pytest.mark.parametrize("limit", ["max_rows", "max_iterations"])
@pytest.mark.parametrize("rules", GROWING.values(), ids=GROWING)
def test_thousands_of_rounds_are_counted_in_few_statements(
    kb: KnowledgeBase, rules: str, limit: str
) -> None:
    before, seen = state(kb), []
    kb.trace(lambda text, _: seen.append(text))
    with pytest.raises(LimitError, match=f"more than 2,000 .*{limit}") as caught:
        kb.add_rules(rules, **{limit: 2_000})  # type: ignore[arg-type]
    kb.trace(None)
    assert caught.value.iterations == 2_000 and len(seen) < 150
    assert caught.value.rows == 2_000 + (limit == "max_rows")
    assert state(kb) == before


@pytest.mark.parametrize("limit", [{"max_rows": 50}, {"max_iterations": 20}, {"timeout": 2}])
def test_facts_that_let_rules_grow_are_refused(kb: KnowledgeBase, limit: dict[str, float]) -> None:
    kb.add_rules("n(Y) :- n(X), Y = X + 1, Y < 5.")
    kb.add_rules("k(Y) :- k(X), Y = X + 1.")
    before = state(kb)
    with pytest.raises(LimitError, match="rule r2"):
        kb.insert("k", [(0,)], **limit)  # type: ignore[arg-type]
    assert state(kb) == before
    kb.insert("n", [(-3,)], **limit)  # type: ignore[arg-type]
    assert len(kb.table("n")) == 8
    assert kb.verify()


def test_a_statement_that_explodes_is_ended_by_its_rows(kb: KnowledgeBase) -> None:
    started = time.perf_counter()
    with pytest.raises(LimitError, match="more than 1,000 rows"):
        kb.add_rules("p(A, B, C, D, E, F) :- edge(A, B), edge(C, D), edge(E, F).", max_rows=1000)
    assert time.perf_counter() - started < 20
    kb.add_rules("p(A, B, C, D) :- edge(A, B), edge(C, D).", max_rows=1600)


def test_limits_of_connect_hold_unless_a_verb_has_its_own() -> None:
    with zodiac_sql.connect(max_iterations=10, timeout=60) as kb:
        kb.insert("n", [(0,)])
        with pytest.raises(LimitError) as caught:
            kb.add_rules(ENDLESS)
        assert caught.value.iterations == 10
        kb.add_rules("n(Y) :- n(X), Y = X + 1, Y < 50.", max_iterations=100)
        assert len(kb.table("n")) == 50
        assert kb.verify()
        for change in kb.stream([{"insert": {"n": [(-1,)]}}], max_rows=70):
            assert list(change.updates) == [1]
        with pytest.raises(LimitError):
            list(kb.stream([{"insert": {"n": [(-30,)]}}]))
        assert kb.verify()


@pytest.mark.parametrize(
    "ask",
    [
        lambda kb: kb.sql("SELECT count(*) FROM range(9999999) a, range(999999) b", timeout=0.3),
        lambda kb: kb.query("edge(A, B), edge(C, D), edge(E, F), edge(G, H), edge(I, J), "
                            "edge(K, L), "
                            "(A * B + C * D + E * F + G * H + I * J + K * L) % 1009 = 7",
                            timeout=0.3),
        lambda kb: kb.why("deep(0, 40)", timeout=0.000001),
        lambda kb: kb.verify(timeout=0.000001),
    ],
    ids=["sql", "query", "why", "verify"],
)  # fmt: skip
def test_questions_have_a_timeout(
    kb: KnowledgeBase, ask: Callable[[KnowledgeBase], object]
) -> None:
    kb.add_rules("deep(X, Y) :- edge(X, Y). deep(X, Z) :- deep(X, Y), edge(Y, Z).")
    started = time.perf_counter()
    with pytest.raises(LimitError, match="the answer takes longer"):
        ask(kb)
    assert time.perf_counter() - started < 5
    assert kb.why("deep(0, 40)", timeout=60)
    assert kb.verify(timeout=60)


def test_a_registered_function_is_not_called_on_and_on() -> None:
    with zodiac_sql.connect(threads=4) as kb:
        kb.insert("n", [(i,) for i in range(2000)])
        kb.register_function("slow", lambda x: time.sleep(0.02) or x, ["int"], "int")
        started = time.perf_counter()
        with pytest.raises(LimitError):
            kb.add_rules("m(Y) :- n(X), Y = slow(X).", timeout=2)
        assert time.perf_counter() - started < 20  # and not 40
        assert kb.query("n(X), Y = slow(X), X < 3").num_rows == 3


def test_answers_have_a_largest_size(kb: KnowledgeBase) -> None:
    for ask in (
        lambda most: kb.table("edge", max_rows=most),
        lambda most: kb.query("edge(X, Y)", max_rows=most),
        lambda most: kb.sql("SELECT * FROM edge", max_rows=most),
    ):
        assert len(ask(40)) == 40
        assert ask(40).column_names == ask(None).column_names
        with pytest.raises(LimitError, match="more than 39 rows"):
            ask(39)
    assert len(kb.query("edge(X, -1)", max_rows=1)) == 0


def test_deriving_once_more_is_no_growth(strategy: str) -> None:
    with zodiac_sql.connect(threads=1, max_rows=900, strategy=strategy) as kb:
        kb.insert("edge", [(i, i + 1) for i in range(40)])
        kb.add_rules("deep(X, Y) :- edge(X, Y). deep(X, Z) :- deep(X, Y), edge(Y, Z).")
        kb.delete("edge", [(39, 40)], max_rows=50)  # 39 of 820 facts go
        assert len(kb.table("deep")) == 39 * 40 / 2
        kb.add_rules("deep(X, X) :- edge(X, Y).", max_rows=50)  # in the same hypernode
        assert kb.verify(max_rows=1)
        with pytest.raises(LimitError, match=r"than 900 rows beyond the \d+ that"):
            kb.insert("edge", [(39, i) for i in range(100, 160)])


def test_no_thread_stays_behind() -> None:
    before = set(threading.enumerate())
    with zodiac_sql.connect(timeout=0.2) as kb:
        kb.insert("n", [(0,)], timeout=60)
        for _ in range(3):
            with pytest.raises(LimitError):
                kb.add_rules(ENDLESS)
            there = set(threading.enumerate()) - before
            assert {thread.name for thread in there} <= {"zodiac-interrupts"}
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(
    "limit", [{"timeout": 0}, {"timeout": "1"}, {"max_rows": 0}, {"max_rows": 1.5},
              {"max_iterations": True}],
)  # fmt: skip
def test_a_limit_is_a_positive_number(limit: dict[str, int]) -> None:
    (name,) = limit
    with pytest.raises(ValueError, match=f"^{name} is a"):
        zodiac_sql.connect(**limit)
    with zodiac_sql.connect() as kb, pytest.raises(ValueError, match=f"^{name} is a"):
        kb.sql("SELECT 1", **limit)


@pytest.mark.parametrize("verb", ["insert", "rules", "update", "stream", "query", "table"])
def test_an_argument_that_is_none_is_refused(kb: KnowledgeBase, verb: str) -> None:
    """A misspelt limit would be no limit."""
    verbs: dict[str, Callable[..., object]] = {
        "insert": partial(kb.insert, "n", [(1,)]), "rules": partial(kb.add_rules, ENDLESS),
        "update": lambda **how: kb.update(**how).__enter__(), "stream": partial(kb.stream, []),
        "query": partial(kb.query, "n(X)"), "table": partial(kb.table, "n"),
    }  # fmt: skip
    before = state(kb)
    with pytest.raises(TypeError, match="no argument 'max_row' here; did you mean max_rows?"):
        verbs[verb](max_row=10)
    with pytest.raises(TypeError, match="no argument 'header' here"):
        verbs[verb](header=False)
    assert state(kb) == before


@pytest.mark.parametrize("timeout", [float("inf"), 1e300])
def test_a_timeout_may_be_longer_than_any_clock(kb: KnowledgeBase, timeout: float) -> None:
    kb.insert("n", [(1,)], timeout=timeout)
    assert kb.query("n(X)", timeout=timeout).num_rows == 2


def test_what_runs_out_of_time_in_another_thread() -> None:
    """A timeout needs no main thread."""

    def work() -> None:
        with zodiac_sql.connect(timeout=0.3) as kb:
            try:
                kb.sql("SELECT count(*) FROM range(9999999) a, range(999999) b")
            except LimitError as error:
                seen.append(error.limit)

    seen: list[str] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["timeout"]


def test_evaluation_errors_name_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "big.rules"
    file.write_text("ok(X) :- p(X).\n\n  big: q(Y) :- p(X), Y = X * 4.\n")
    with zodiac_sql.connect() as kb:
        kb.insert("p", [(2**62,)])
        with pytest.raises(zodiac_sql.EvaluationError) as caught:
            kb.add_rules(file)
        assert str(caught.value).startswith(
            f"{file}:3:3: rule big: q(Y) :- p(X), Y = X * 4. cannot"
        )
        kb.replace("p", [(1,)])
        kb.add_rules(file)
        with pytest.raises(zodiac_sql.EvaluationError) as caught:
            kb.insert("p", [(2**62,)])
        assert str(caught.value).startswith(f"{file}:3:3: rule big:")
