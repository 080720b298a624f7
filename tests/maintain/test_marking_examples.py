"""What an update marks for the next one, on examples small enough to be worked out by hand.

Paper 4, examples 1 to 3: what comes out of them is in cases/papers, too. Here are the marks. The
predicates are declared, as a first fact of a column's type would have their rules start over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]
Update = dict[str, Any]
Facts = dict[str, set[tuple[Any, ...]]]

MARKING = ("bf_marking", "dred_marking")
marking = pytest.mark.parametrize("chosen", MARKING)
whoever = pytest.mark.parametrize("chosen", [*MARKING, "bf", "dred", "auto", "support"])

DECLARED = "".join(f".decl p{number}(x: symbol) " for number in range(1, 6))

EXAMPLE_1 = f"{DECLARED} R1: q(X) :- p1(X), p2(X). p1(c)."
UPDATES_1: list[Update] = [{"insert": {"p2": [("c",)]}}, {"delete": {"p1": [("c",)]}}]

EXAMPLE_2 = f"""{DECLARED}
    R1: q(X) :- p1(X), p2(X).  R2: q(X) :- p3(X).  R3: r(X) :- q(X).
    p1(c). p2(c). p3(c).
"""

EXAMPLE_3 = f"{EXAMPLE_2} R4: s(X) :- q(X), p4(X)."
UPDATES_3: list[Update] = [
    {"delete": {"p1": [("c",)]}, "insert": {"p4": [("c",)]}},
    {"delete": {"p4": [("c",)]}},
]

PASSED_ON = f"{DECLARED} R1: q(X) :- p1(X), p2(X).  R2: r(X) :- q(X), p5(X).  p1(c). p5(c)."

PATHS = "path(X, Y) :- edge(X, Y). path(X, Z) :- edge(X, Y), path(Y, Z). edge(z, a). edge(b, c)."
UPDATES_OF_PATHS: list[Update] = [
    {"insert": {"edge": [("a", "b")]}},
    {"delete": {"edge": [("a", "b")]}},
]


@dataclass(frozen=True)
class Seen:
    """A change, and what it tells as long as the next has not begun."""

    change: Change
    facts: Facts
    marked: Facts

    def work(self, counter: str) -> int:
        """A counter of all hypernodes."""
        nodes = self.change.stats["hypernodes"].values()
        return sum(node[counter] for node in nodes)  # type: ignore[index]

    @property
    def marks(self) -> tuple[object, object]:
        """How many explicit facts are marked, and how many derived ones."""
        marks = self.change.stats["marks"]
        return marks["explicit"], marks["implicit"]


def seen(
    open_kb: OpenKb, strategy: str, program: str, updates: object, **options: Any
) -> Iterator[Seen]:
    with open_kb(strategy=strategy) as kb:
        kb.add_rules(program)
        names = [row["predicate"] for row in kb.predicates().arrow().to_pylist()]
        for change in kb.stream(updates, **options):
            facts = {name: set(kb.table(name).fetchall()) for name in names}
            marked = {name: _rows(change, name) for name in names}
            yield Seen(
                change,
                {name: rows for name, rows in facts.items() if rows},
                {name: rows for name, rows in marked.items() if rows},
            )
        assert kb.verify()


def _rows(change: Change, predicate: str) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in change.marked_facts(predicate).to_pylist()}


def only(*predicates: str) -> Facts:
    """Facts about c."""
    return {predicate: {("c",)} for predicate in predicates}


# --- the paper ------------------------------------------------------------------------------------


@marking
def test_example_1_marks_what_the_next_update_may_delete(open_kb: OpenKb, chosen: str) -> None:
    first, second = seen(open_kb, chosen, EXAMPLE_1, UPDATES_1)
    assert first.marked == only("p1", "q") and first.marks == (1, 1)
    assert first.work("marked") == 1
    assert first.facts == only("p1", "p2", "q")
    assert not second.marked and second.marks == (0, 0)
    assert second.facts == only("p2")


@marking
def test_example_1_does_not_apply_the_rule_again(open_kb: OpenKb, chosen: str) -> None:
    _, marked = seen(open_kb, chosen, EXAMPLE_1, UPDATES_1)
    _, alone = seen(open_kb, chosen, EXAMPLE_1, iter(UPDATES_1))
    assert (marked.work("deletions"), alone.work("deletions")) == (0, 1)
    assert marked.work("checked") == alone.work("checked") == 1


@marking
def test_example_2_has_no_next_update(open_kb: OpenKb, chosen: str) -> None:
    (outcome,) = seen(open_kb, chosen, EXAMPLE_2, [{"delete": {"p1": [("c",)]}}])
    assert outcome.change.deleted == {"p1": 1}
    assert outcome.facts == only("p2", "p3", "q", "r")
    assert not outcome.marked and outcome.marks == (0, 0)
    assert outcome.work("marked") == 0


@marking
def test_example_3_marks_neither_q_nor_r(open_kb: OpenKb, chosen: str) -> None:
    """What this update deletes is not marked, but what the next one does: p4(c), and so s(c)."""
    first, second = seen(open_kb, chosen, EXAMPLE_3, UPDATES_3)
    assert first.marked == only("p4", "s") and first.marks == (1, 1)
    assert first.facts == only("p2", "p3", "p4", "q", "r", "s")
    assert not second.marked
    assert second.facts == only("p2", "p3", "q", "r")
    assert second.work("deletions") == 0 and second.work("checked") == 1


@whoever
@pytest.mark.parametrize("arrived", [list, iter], ids=["at once", "when asked for"])
@pytest.mark.parametrize(
    ("program", "updates"), [(EXAMPLE_1, UPDATES_1), (EXAMPLE_3, UPDATES_3)], ids=["1", "3"]
)
def test_the_outcome_is_the_same_without_marks(
    open_kb: OpenKb,
    chosen: str,
    arrived: Callable[[list[Update]], object],
    program: str,
    updates: list[Update],
) -> None:
    last = list(seen(open_kb, chosen, program, arrived(updates)))[-1]
    assert last.facts == (only("p2") if program is EXAMPLE_1 else only("p2", "p3", "q", "r"))


# --- what marks go through ------------------------------------------------------------------------


def test_by_bf_a_derived_fact_passes_no_mark_on(open_kb: OpenKb) -> None:
    """q(c) may have another proof when p1(c) has gone: nothing is known of r(c)."""
    first, second = seen(open_kb, "bf_marking", PASSED_ON, UPDATES_1)
    assert first.marked == only("p1", "q") and first.marks == (1, 1)
    assert second.work("deletions") == 1  # r(c) is found when q(c) goes
    assert second.facts == only("p2", "p5")


def test_by_dred_a_derived_fact_passes_its_mark_on(open_kb: OpenKb) -> None:
    first, second = seen(open_kb, "dred_marking", PASSED_ON, UPDATES_1)
    assert first.marked == only("p1", "q", "r") and first.marks == (1, 2)
    assert second.work("deletions") == 0
    assert second.facts == only("p2", "p5")


@pytest.mark.parametrize(
    ("chosen", "passed"),
    [("bf_marking", set()), ("dred_marking", {("z", "b"), ("z", "c")})],
    ids=MARKING,
)
def test_marks_in_a_recursion(open_kb: OpenKb, chosen: str, passed: set[tuple[str, str]]) -> None:
    """edge(a, b) is in the bodies of path(a, b) and path(a, c); these are in those of two more."""
    first, second = seen(open_kb, chosen, PATHS, UPDATES_OF_PATHS)
    assert first.marked == {"edge": {("a", "b")}, "path": {("a", "b"), ("a", "c")} | passed}
    assert second.facts["path"] == {("z", "a"), ("b", "c")}


@marking
def test_a_mark_is_no_deletion(open_kb: OpenKb, chosen: str) -> None:
    """q(c) is marked, but has another proof, which the next update brings itself."""
    program = f"{EXAMPLE_1} R2: q(X) :- p3(X)."
    updates = [UPDATES_1[0], {"delete": {"p1": [("c",)]}, "insert": {"p3": [("c",)]}}]
    first, second = seen(open_kb, chosen, program, updates)
    assert first.marked == only("p1", "q")
    assert second.facts == only("p2", "p3", "q")
    assert second.change.deleted == {"p1": 1} and second.change.inserted == {"p3": 1}


def test_a_derived_fact_that_was_there_is_not_derived_again(open_kb: OpenKb) -> None:
    """p(b, c) has a second proof now, whose fact is marked: but for q(b, c) nothing is new."""
    program = "p(X, Y) :- e(X, Y). p(X, Y) :- f(X, Y). q(X, Y) :- p(X, Y), not f(Y, X)."
    program += " e(b, c). f(b, b)."
    updates: list[Update] = [
        {"insert": {"f": [("b", "c"), ("c", "c")]}},
        {"delete": {"f": [("b", "c")]}},
    ]
    for strategy in MARKING:
        with open_kb(strategy=strategy) as kb:
            kb.add_rules(program)
            for change in kb.stream(updates):
                assert "q" not in change.inserted and "q" not in change.deleted
                assert kb.table("q").fetchall() == [("b", "c")]
                assert kb.verify()


@marking
def test_ranks_are_right_after_an_update_that_marks(open_kb: OpenKb, chosen: str) -> None:
    """Also of facts derived from others that are new: `support` would rely upon them."""
    updates: list[Update] = [
        {"insert": {"edge": [("c", "b")]}},
        {"insert": {"edge": [("b", "a")]}},
        {"delete": {"edge": [("b", "a")]}},
    ]
    with open_kb(strategy=chosen) as kb:
        kb.add_rules("path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z). edge(a, c).")
        for _ in kb.stream(updates):
            found = kb.verify()
            assert found, found


# --- when there are none --------------------------------------------------------------------------


@marking
@pytest.mark.parametrize(
    ("updates", "options"),
    [
        (iter(UPDATES_1), {}),
        (UPDATES_1, {"coalesce": 2}),
        ([UPDATES_1[0], {**UPDATES_1[1], "add_rules": "t(X) :- q(X)."}], {}),
        ([UPDATES_1[0], {"delete": {"p1": [("d",)], "p9": [("c",)]}}], {}),
        ([UPDATES_1[0], {"delete": {"q": [("c",)]}}], {}),
    ],
    ids=["not arrived", "coalesced", "with rules", "not there", "of a derived predicate"],
)
def test_nothing_is_marked(
    open_kb: OpenKb, chosen: str, updates: object, options: dict[str, Any]
) -> None:
    updates = iter(UPDATES_1) if isinstance(updates, Iterator) else updates
    for one in seen(open_kb, chosen, EXAMPLE_1, updates, **options):
        assert not one.marked and one.marks == (0, 0)


@pytest.mark.parametrize("chosen", ["bf", "dred", "auto", "support", "recompute"])
def test_other_strategies_mark_nothing(open_kb: OpenKb, chosen: str) -> None:
    for one in seen(open_kb, chosen, EXAMPLE_1, UPDATES_1):
        assert not one.marked and "marks" not in one.change.stats


# --- when the next update is not what was seen ----------------------------------------------------


@marking
@pytest.mark.parametrize(
    "between",
    [
        lambda kb: kb.insert("p3", [("c",)]),
        lambda kb: kb.delete("p2", [("c",)]),
        lambda kb: kb.add_rules("R2: q(X) :- p2(X)."),
        lambda kb: kb.drop_rules("R1"),
        lambda kb: kb.insert("p1", [("d",), ("e",)]),
    ],
    ids=["a proof more", "a proof less", "a rule more", "a rule less", "facts more"],
)
def test_others_change_the_file_before_the_next_update(
    open_kb: OpenKb, chosen: str, between: Callable[[KnowledgeBase], Change]
) -> None:
    with open_kb(strategy=chosen) as kb:
        kb.add_rules(f"{EXAMPLE_1} R3: q(X) :- p3(X). R4: t(X) :- q(X).")
        changes = kb.stream(UPDATES_1)
        next(changes)
        between(kb)
        assert next(changes).updates == range(2, 3)
        assert kb.verify()


@marking
def test_the_next_update_is_refused_and_the_one_after_it_is_another(
    open_kb: OpenKb, chosen: str
) -> None:
    refused = {"delete": {"p1": [("c",)]}, "insert": {"p2": [("c", "d")]}}
    updates = [UPDATES_1[0], refused, {"insert": {"p1": [("d",)], "p2": [("d",)]}}]
    _, second, third = seen(open_kb, chosen, EXAMPLE_1, updates, skip_bad=True)
    assert not second.change and second.facts == only("p1", "p2", "q")
    assert all(third.facts[name] == {("c",), ("d",)} for name in ("p1", "p2", "q"))


@marking
def test_the_stream_is_left_before_the_next_update(open_kb: OpenKb, chosen: str) -> None:
    with open_kb(strategy=chosen) as kb:
        kb.add_rules(EXAMPLE_1)
        changes = kb.stream(UPDATES_1, name="left")
        next(changes)
        changes.close()
        kb.delete("p2", [("c",)])
        assert kb.verify()
        assert [change.updates for change in kb.stream(UPDATES_1, name="left")] == [range(2, 3)]
        assert kb.verify() and not kb.table("q").fetchall()


@marking
def test_marks_are_told_until_the_next_change(open_kb: OpenKb, chosen: str) -> None:
    from zodiac_sql.errors import QueryError

    with open_kb(strategy=chosen) as kb:
        kb.add_rules(EXAMPLE_1)
        changes = kb.stream(UPDATES_1)
        first = next(changes)
        assert len(first.marked_facts("q")) == 1
        next(changes)
        with pytest.raises(QueryError):
            first.marked_facts("q")
