"""How many statements a typical small change takes at most.

Nearly all time of a small change is the planning of its statements, so their number is what it
costs. Each budget is what was reached when it was last set: lower it when a change needs less, and
think twice before raising it. (BEGIN and COMMIT count. The figures are those of a knowledge base
that is alone with its file, once it has prepared the program and met the symbols.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zodiac_sql.database.remembered import TIMES_ASKED

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.update import Update

OpenKb = Callable[..., "KnowledgeBase"]
Verbs = Callable[["Update"], object]
Row = tuple[Any, ...]

RULES = """
    a1(X, Y) :- chain(X, Y).
    a2(X, Y) :- a1(X, Y).
    a3(X, Y) :- a2(X, Y).
    a4(X, Y) :- a3(X, Y).
    a5(X, Y) :- a4(X, Y).

    r1: p11(X, Y) :- p1(X, Y).
    r2: p11(X, Y) :- p11(Y, X).
    r3: p11(X, Y) :- p11(X, Z), p11(Z, Y), X != Y.
    r4: p12(X, Y) :- p2(X, Y).
    r5: p12(X, Y) :- p12(X, Z), p12(Z, Y), X != Y.
    r6: p13(X, Y) :- p3(X, Y).
    r7: p14(X, Y) :- p13(X, Y).
    r8: p13(X, Y) :- p14(Y, X).
    r15: p25(X, Z) :- p11(X, Y), p12(Y, Z), not p5(Y, Z).
    r16: p26(X, Z) :- p12(X, Y), p13(Z, Y), not p5(Z, Y).
    r18: p31(X, Y) :- p25(X, Y), p26(Y, Z).
"""
"""A chain of rules without recursion, and rules like RS2's (tests/benchmarks/workloads.py)."""

MORE_RULES = """
    r9: p20(X, Y) :- p11(X, Y).
    r10: p20(X, Y) :- p12(X, Y).
    r11: p20(X, Y) :- p13(X, Y).
    r12: p21(X, Y) :- p20(X, Y).
    r13: p22(X, Y) :- p21(X, Y).
    r14: p20(X, Y) :- p22(X, Y).
    r17: p30(X, Z) :- p22(X, Y), p21(Y, Z).

    s1: usual(X, A) :- AGGREGATE(hop(X, Y), reading(Y, T)) ON X WITH AVG(T) AS A.
    s2: odd(X) :- usual(X, A), reading(X, T), D = abs(T - A), D > 5.

    m1: member(X, Y) :- memberOf(Y, X).
    m2: memberOf(X, Y) :- member(Y, X).
    m3: Person(X) :- memberOf(X, Y), Organization(Y).
    m4: Organization(Y) :- member(Y, X), Person(X).
"""
"""What RS2 has beside them, rules about readings, and some like those of LUBM for members."""

W = 20
"""The length of the chains of facts."""


def links(first: int) -> list[Row]:
    return [(f"n{i}", f"n{i + 1}") for i in range(first, first + W)]


@pytest.fixture(scope="module")
def kb(open_kb: OpenKb, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """One whose changes DuckDB computes."""
    path = tmp_path_factory.mktemp("budgets") / "budgets.duckdb"
    with open_kb(path, strategy="support") as opened:
        opened.add_rules(RULES)
        fill(opened)
        yield opened


@pytest.fixture(scope="module")
def looking_up(
    open_kb: OpenKb, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeBase]:
    """One whose changes are looked up, with all rules of RS2."""
    path = tmp_path_factory.mktemp("budgets") / "looked_up.duckdb"
    with open_kb(path, strategy="lookups") as opened:
        opened.add_rules(RULES + MORE_RULES)
        fill(opened)
        yield opened


def fill(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        for number in range(3):
            update.insert(
                f"p{number + 1}",
                [(f"n{W * number + i}", f"n{W * number + i + 1}") for i in range(W)],
            )
        update.insert("p5", [(f"n{W}", f"n{W + 1}"), ("n1", "n2")])
        update.insert("memberOf", [(f"n{i}", f"n{i % 3}") for i in range(W)])
        update.insert("Person", [(f"n{i}",) for i in range(W)])
        update.insert("Organization", [(f"n{i}",) for i in range(3)])
        update.insert("chain", [(f"n{i}", f"n{i + 1}") for i in range(W)])
        update.insert("free", [(f"n{i}", f"n{i + 1}") for i in range(W)])
        update.insert("value", [(f"n{i}", float(i)) for i in range(W)])
        update.insert("hop", [(f"n{i}", f"n{i + 1}") for i in range(W)])
        update.insert("reading", [(f"n{i}", 20.0 + i % 3) for i in range(W)])


@dataclass(frozen=True)
class Typical:
    """A change, and one that undoes it, which has a budget, too."""

    do: Verbs
    most: int
    undo: Verbs | None = None
    most_back: int = 0


def inserts(predicate: str, *rows: Row) -> Verbs:
    return lambda update: update.insert(predicate, list(rows))


def deletes(predicate: str, *rows: Row) -> Verbs:
    return lambda update: update.delete(predicate, list(rows))


def both(first: Verbs, second: Verbs) -> Verbs:
    def verbs(update: Update) -> None:
        first(update)
        second(update)

    return verbs


TEN = [(f"n{i}", f"n{i + 5}") for i in range(10)]
FACT = ("n3", "n9")
HALF = ("n3", 0.5)

TYPICAL = {
    "no rule": Typical(inserts("free", FACT), 3, deletes("free", FACT), 3),
    "no rule, a number": Typical(inserts("value", HALF), 3, deletes("value", HALF), 3),
    "no rule, ten facts": Typical(inserts("free", *TEN), 3, deletes("free", *TEN), 3),
    "no rule, two predicates": Typical(
        both(inserts("free", FACT), inserts("value", HALF)), 3,
        both(deletes("free", FACT), deletes("value", HALF)), 3,
    ),
    "no rule, a fact that is there": Typical(inserts("free", ("n1", "n2")), 3),
    "no rule, a fact that is not there": Typical(deletes("free", FACT), 3),
    "a fact of a symbol that nobody knows": Typical(deletes("free", ("n3", "nobody")), 1),
    "no rule, another value": Typical(
        both(deletes("value", ("n3", 3.0)), inserts("value", ("n3", 3.5))), 3,
        both(deletes("value", ("n3", 3.5)), inserts("value", ("n3", 3.0))), 3,
    ),
    "no rule, three verbs": Typical(
        both(both(inserts("free", FACT), deletes("free", *TEN)), inserts("free", ("n1", "n8"))), 4,
        both(deletes("free", FACT), deletes("free", ("n1", "n8"))), 3,
    ),
    "a chain of five rules": Typical(inserts("chain", FACT), 9, deletes("chain", FACT), 9),
    "a chain, ten facts": Typical(inserts("chain", *TEN), 9, deletes("chain", *TEN), 9),
    "a chain, a fact that is there": Typical(inserts("chain", ("n1", "n2")), 1),
    "a chain, a fact that is not there": Typical(deletes("chain", FACT), 1),
    "a negated fact": Typical(deletes("p5", ("n1", "n2")), 6, inserts("p5", ("n1", "n2")), 6),
    "a closure": Typical(inserts("p2", ("n0", "n30")), 11, deletes("p2", ("n0", "n30")), 16),
    "a symmetric closure": Typical(inserts("p1", FACT), 16, deletes("p1", FACT), 24),
    "a recursion of two rules": Typical(inserts("p3", FACT), 11, deletes("p3", FACT), 16),
}  # fmt: skip


def counted(kb: KnowledgeBase, call: Callable[[], object]) -> list[str]:
    """The statements of a call."""
    statements: list[str] = []
    kb.trace(lambda text, _: statements.append(text))
    try:
        call()
    finally:
        kb.trace(None)
    return statements


def changed(kb: KnowledgeBase, verbs: Verbs) -> None:
    with kb.update() as update:
        verbs(update)


@pytest.mark.parametrize("name", TYPICAL)
def test_a_typical_change(kb: KnowledgeBase, name: str) -> None:
    change = TYPICAL[name]
    turns = [(change.do, change.most), (change.undo, change.most_back)]
    for _ in range(3):  # statements that are asked for often become one, or are prepared
        for verbs, _ in turns:
            if verbs:
                changed(kb, verbs)
    for verbs, most in turns:
        if verbs:
            statements = counted(kb, lambda verbs=verbs: changed(kb, verbs))  # type: ignore[misc]
            assert len(statements) <= most, "\n".join(statements)


LOOKED_UP = {
    "no rule": (3, 3),
    "a chain of five rules": (3, 1),
    "a chain, ten facts": (3, 1),
    "a chain, a fact that is there": (0, 0),
    "a chain, a fact that is not there": (0, 0),
    "a negated fact": (3, 1),
    "a closure": (3, 1),
    "p3 of RS2": (3, 1),
    "a member": (3, 1),
    "a chain, and a fact that no rule reads": (4, 1),
    "a reading": (3, 3),
}
"""The budgets of changes that are looked up, if somebody asks after each, and if nobody asks.

DuckDB only writes: one statement between BEGIN and COMMIT, whatever they reach, or one row of the
journal, where a change goes that a rule reads, and that changes the number of explicit facts.
"""

ALONE = {
    "p3 of RS2": Typical(inserts("p3", FACT), 0, deletes("p3", FACT), 0),
    "a member": Typical(inserts("memberOf", FACT), 0, deletes("memberOf", FACT), 0),
    "a reading": Typical(
        both(deletes("reading", ("n3", 20.0)), inserts("reading", ("n3", 40.0))), 0,
        both(deletes("reading", ("n3", 40.0)), inserts("reading", ("n3", 20.0))), 0,
    ),
    "a chain, and a fact that no rule reads": Typical(
        both(inserts("chain", FACT), inserts("free", FACT)), 0,
        both(deletes("chain", FACT), deletes("free", FACT)), 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("name", LOOKED_UP)
def test_a_change_that_is_looked_up(looking_up: KnowledgeBase, name: str, asked: bool) -> None:
    kb, change = looking_up, (TYPICAL | ALONE)[name]
    verbs = [verb for verb in (change.do, change.undo) if verb]
    most = LOOKED_UP[name][0 if asked else 1]
    for turn in range(4):  # a table that is missing, or was emptied, is made another way first
        for verb in verbs:
            if asked:
                kb.sql("SELECT count(*) FROM free").fetchall()
            statements = counted(kb, lambda verb=verb: changed(kb, verb))  # type: ignore[misc]
            assert turn < 3 or len(statements) <= most, "\n".join(statements)
    assert kb.verify()


@pytest.mark.parametrize(
    ("predicate", "rows", "most"), [("value", 1, 3), ("value", 10, 4), ("chain", 1, 9)]
)
def test_new_symbols(kb: KnowledgeBase, predicate: str, rows: int, most: int) -> None:
    for turn in range(TIMES_ASKED + 1):  # until all symbols are remembered
        facts = [(f"new {predicate} {rows} {turn} {n}", float(n)) for n in range(rows)]
        if predicate == "chain":
            facts = [(first, f"n{n}") for n, (first, _) in enumerate(facts)]
        statements = counted(kb, lambda facts=facts: kb.insert(predicate, facts))  # type: ignore[misc]
    assert len(statements) <= most, "\n".join(statements)
    assert kb.delete(predicate, facts).deleted[predicate] == rows


@pytest.mark.parametrize(("name", "most"), [(None, 3), ("with a position", 3)])
def test_a_stream(kb: KnowledgeBase, name: str | None, most: int) -> None:
    """Each update takes back what the one before it has brought."""
    updates = [
        {"insert": {"value": [("n3", 100.0 + n)]}, "delete": {"value": [("n3", 99.0 + n)]}}
        for n in range(8)
    ]
    counts = []
    stream = kb.stream(updates, name=name)
    while True:
        statements = counted(kb, lambda: next(stream, None))
        if not statements:
            break
        counts.append(len(statements))
    assert len(counts) == len(updates) and max(counts[2:]) <= most


def test_with_company(kb: KnowledgeBase, open_kb: OpenKb) -> None:
    """It asks whether the file has changed, and counts the change for others."""
    with open_kb(Path(kb._session.path)):
        for verbs in (inserts("free", FACT), deletes("free", FACT)):
            assert len(counted(kb, lambda verbs=verbs: changed(kb, verbs))) <= 5  # type: ignore[misc]


def test_a_preview(kb: KnowledgeBase) -> None:
    def preview() -> None:
        with kb.preview() as update:
            update.insert("free", [FACT])

    preview()
    assert len(counted(kb, preview)) <= 2


def test_a_query(kb: KnowledgeBase) -> None:
    kb.query("a5(X, Y)")
    assert len(counted(kb, lambda: kb.query("a5(X, Y)"))) <= 1
    assert len(counted(kb, lambda: kb.table("free"))) <= 1


def test_all_is_right_in_the_end(kb: KnowledgeBase) -> None:
    assert kb.verify()
