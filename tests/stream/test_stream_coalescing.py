"""Several updates that have arrived are one change: looking ahead, and their net."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.edge_streams import edge, facts, gone, numbers, waiting

from zodiac_sql import KnowledgeBase, StreamError
from zodiac_sql.change.streamed_update import StreamedUpdate
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.stream.coalesce import Net
from zodiac_sql.stream.updates import step_of

OpenKb = Callable[..., KnowledgeBase]
Given = dict[str, Any]


# --- looking ahead --------------------------------------------------------------------------------


def test_looking_ahead_at_what_has_arrived(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(StreamedUpdate, "look_ahead", lambda update, deletes: seen.append(deletes))
    updates: list[Any] = [
        edge("cd"), gone("cd"), edge("de"), {**gone("de"), "add_rules": "q(X) :- edge(X, _)."},
        gone("ab"), {"delete": {"edge": iter([("b", "c")])}},
    ]  # fmt: skip
    list(kb.stream(updates))
    assert [id(deletes) for deletes in seen] == [id(updates[at]["delete"]) for at in (1, 4)]
    assert facts(kb, "edge") == set()
    seen.clear()
    list(kb.stream(iter([edge("cd"), gone("cd")])))  # nothing has arrived
    list(kb.stream([edge("cd"), gone("cd")], coalesce=2))
    list(kb.stream([edge("cd"), 7], skip_bad=True))  # type: ignore[list-item]
    assert seen == []


# --- coalescing -----------------------------------------------------------------------------------


def test_the_net_of_what_has_arrived(kb: KnowledgeBase) -> None:
    updates = [edge("cd"), gone("cd", "ab"), edge("ab", "xy"), gone("bc"), edge("zz")]
    (change,) = kb.stream(updates, coalesce=10)
    assert change.updates == range(1, 6) and waiting(change) == 0
    assert (change.inserted["edge"], change.deleted["edge"]) == (2, 1)
    assert facts(kb, "edge") == {("a", "b"), ("x", "y"), ("z", "z")}
    assert numbers(kb.stream(updates, coalesce=2)) == [(1, 2), (3, 4), (5, 5)]


def test_rules_and_new_predicates_stand_alone(kb: KnowledgeBase) -> None:
    updates: list[Given] = [
        edge("cd"), edge("de"), {"add_rules": "q(X) :- edge(X, _)."}, edge("ef"), edge("fg"),
        {"insert": {"new": [(1,)]}}, {"insert": {"new": [(2,)]}}, {"delete": {"new": [(1,)]}},
        {"insert": {"edge": iter([("g", "h")])}}, edge("hi"),
    ]  # fmt: skip
    expected = [(1, 2), (3, 3), (4, 5), (6, 6), (7, 8), (9, 10)]
    assert numbers(kb.stream(updates, coalesce=10)) == expected
    assert facts(kb, "new") == {(2,)}


def test_a_predicate_that_vanishes_is_another_one_afterwards(kb: KnowledgeBase) -> None:
    kb.insert("n", [(1.5,)])
    updates = [{"delete": {"n": [(1.5,)]}}, {"insert": {"n": [(1,)]}}]
    assert numbers(kb.stream(updates, coalesce=2)) == [(1, 1), (2, 2)]
    assert [type(value) for (value,) in kb.table("n")] == [int]


def test_an_error_in_a_batch_has_its_own_number(kb: KnowledgeBase) -> None:
    kb.add_rules(".decl n(x: int) n(1).")
    updates = [edge("cd"), edge("de"), {"insert": {"n": [(2**70,)]}}, edge("ef")]
    with pytest.raises(StreamError, match="^update 3: n: .* beyond 64 bits"):
        list(kb.stream(updates, coalesce=4))
    assert len(facts(kb, "edge")) == 4
    changes = list(kb.stream(updates, coalesce=4, skip_bad=True))
    assert numbers(changes) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert "was passed over" in changes[2].notes[0]


TYPED = ".decl f(x: float)\n.decl n(x: int)\n.decl b(x: bool)\n.decl s(x: symbol)\n"
WAYS = ("a", '"a"', "<a>", "urn:a", "<urn:a>", '"urn:a"', '"a"@de', '"a"@DE', "_:a", '"_:a"', "",
        '"a"^^<http://www.w3.org/2001/XMLSchema#string>', '"a\\n"', '"', "<", '"<a>"',
        "é", "e\u0301")  # fmt: skip
FLOATS = (1, 1.0, 0.0, -0.0, 0, 0.5, float("nan"), 2**53 + 1, float(2**53), 2**53)


def test_the_net_is_that_of_one_after_the_other(open_kb: OpenKb) -> None:
    """Also where facts can be written in several ways, and where types are free again: `v` is not
    declared, so that its type is another one after it was empty."""
    choose = random.Random(5)
    among = {"f": FLOATS, "n": range(3), "b": (True, False), "s": WAYS, "v": (1, 2, 1.5, 2.0, "a")}

    def some() -> dict[str, Any]:
        names = choose.choices("fnbsssvv", k=choose.randint(0, 2))
        return {n: choose.choices([(v,) for v in among[n]], k=choose.randint(1, 2)) for n in names}

    updates = [{"delete": some(), "insert": some()} for _ in range(60)]
    with open_kb() as one, open_kb() as other:
        for opened in (one, other):
            opened.add_rules(TYPED)
        alone = list(one.stream(updates, skip_bad=True))
        together = list(other.stream(updates, skip_bad=True, coalesce=8))
        assert len(alone) == 60 and len(together) < 50
        notes = [
            [note for change in changes for note in change.notes] for changes in (alone, together)
        ]
        assert notes[0] == notes[1] and len(notes[0]) > 1
        for name in among:
            there = [sorted(map(repr, facts(opened, name))) for opened in (one, other)]
            assert there[0] == there[1], name


def test_the_same_fact_in_other_words_is_seen(kb: KnowledgeBase) -> None:
    def nets(first: str, second: str) -> bool:
        with kb.update():
            net = Net(kb._session.state, Hypergraph)
            inserted = net.add(step_of({"insert": {"edge": [(first, "x")]}}))
            return inserted and net.add(step_of({"delete": {"edge": [(second, "x")]}}))

    assert nets("a", "b") and nets("a", "a") and nets("<urn:a>", "<urn:a>") and nets("<a>", "b")
    assert not nets("a", '"a"') and not nets("<urn:a>", "urn:a") and not nets('"a"@de', '"a"@DE')
    assert not nets("a", '"a\\t"')
