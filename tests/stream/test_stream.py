"""Streams of updates, `kb.stream`: what an update is, and the position of a named stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.edge_streams import edge, facts, gone, numbers, start

from zodiac_sql import DataError, KnowledgeBase, StreamError, UpdateQueue

OpenKb = Callable[..., KnowledgeBase]
Given = dict[str, Any]


# --- what an update is ----------------------------------------------------------------------------


def test_each_update_is_a_change(kb: KnowledgeBase) -> None:
    updates = [edge("cd"), {}, {**gone("ab", "cd"), **edge("cd")}]
    first, second, third = kb.stream(updates)
    assert [first.updates, second.updates, third.updates] == [range(n, n + 1) for n in (1, 2, 3)]
    assert first.inserted == {"edge": 1, "path": 3}
    assert not second
    assert third.deleted == {"edge": 1, "path": 3}  # what is deleted and inserted is there
    assert facts(kb, "edge") == {("b", "c"), ("c", "d")}


def test_rules_come_and_go(kb: KnowledgeBase) -> None:
    back = "back: back(X, Y) :- edge(Y, X)."
    updates: list[Given] = [
        {"add_rules": back},
        {
            "drop_rules": "back",
            "add_rules": ["back: back(Y) :- edge(X, Y).", "a(X) :- edge(X, _)."],
        },
        {"drop_rules": ["back"], **edge("cd")},
    ]
    sizes = [(len(kb.rules()), len(change.inserted)) for change in kb.stream(updates)]
    assert sizes == [(3, 1), (4, 2), (3, 3)]


def test_rule_sets_come_and_go(kb: KnowledgeBase) -> None:
    updates: list[Given] = [
        {"set": "heat", "add_rules": ["r1: back(X, Y) :- edge(Y, X).", "a(X) :- edge(X, _)."]},
        {"set": "heat", "replace_rules": "back(X, Y) :- edge(Y, X).\nb(X) :- edge(_, X). b(z)."},
        {"set": "heat", "drop_rules": "r1", "add_rules": "c(X) :- b(X)."},
        {"set": "heat", "replace_rules": ""},
    ]
    sizes = [(dict(change.inserted), dict(change.deleted)) for change in kb.stream(updates)]
    assert sizes == [
        ({"a": 2, "back": 2}, {}),
        ({"b": 3, "b@heat": 1}, {"a": 2}),
        ({"c": 3}, {"back": 2}),
        ({}, {"b": 3, "b@heat": 1, "c": 3}),
    ]
    assert [row["set"] for row in kb.rule_sets().to_pylist()] == ["main"]


def test_a_bad_update_says_what_would_be_right(kb: KnowledgeBase) -> None:
    bad: list[tuple[Any, str]] = [
        ({"inserts": {}}, "no 'inserts': its keys are delete, insert, drop_rules, add_rules"),
        ({"insert": [("a", "b")]}, "insert gives rows by predicate"),
        ({"delete": {"edge": "ab"}}, "delete: edge needs a list of rows"),
        ({"delete": {7: []}}, "a predicate is a text; not 7 (int)"),
        ({"set": 7}, "set is the name of a rule set; not 7 (int)"),
        ({"set": "heat", "replace_rules": 7}, "replace_rules is a text; not 7 (int)"),
        ({"replace_rules": "p(a)."}, "replace_rules needs the name of the rule set: set"),
        ({"set": "7", "add_rules": "p(a)."}, "a rule set cannot be called '7'"),
        ({"add_rules": 7}, "add_rules is a text or a list of texts; not 7 (int)"),
        (["a", "b"], "an update is an object such as"),
        ({"insert": {"edge": [("a",)]}}, "edge: row 1 has 1 values"),
        ({"add_rules": "p(X) :- "}, "<rules>:1"),
    ]
    for update, said in bad:
        stream = kb.stream([{}, update, edge("de")])
        assert not next(stream)
        with pytest.raises(StreamError) as caught:
            next(stream)
        assert str(caught.value).startswith("update 2: ") and said in str(caught.value)
        assert caught.value.update == 2 and str(caught.value.__cause__) in str(caught.value)
        assert list(stream) == []  # it has ended
    assert len(facts(kb, "edge")) == 2


@pytest.mark.parametrize("coalesce", [1, 4])
def test_an_update_that_overflows_is_refused_by_number(kb: KnowledgeBase, coalesce: int) -> None:
    kb.add_rules("twice: twice(Y) :- n(X), Y = X * 2.")
    updates = [{"insert": {"n": [(number,)]}} for number in (1, 2**62, 3)]
    with pytest.raises(StreamError, match="update 2: .*rule twice: .* more than 64 bits") as caught:
        list(kb.stream(updates, coalesce=coalesce))
    assert caught.value.update == 2
    last = list(kb.stream(updates, coalesce=coalesce, skip_bad=True))[-1]
    assert last.updates.stop == 4 and facts(kb, "twice") == {(2,), (6,)}


def test_what_is_no_source_is_refused_at_once(kb: KnowledgeBase, tmp_path: Path) -> None:
    for source in ({"insert": {}}, 7, b"{}", tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(DataError):
            kb.stream(source)  # type: ignore[call-overload]
    for options in ({"coalesce": 0}, {"queue": 0}):
        with pytest.raises(ValueError, match="is at least 1"):
            kb.stream([], **options)
    with pytest.raises(ValueError, match="size of its own"):
        kb.stream(UpdateQueue(), queue=3)


def test_other_errors_pass_as_they_are(kb: KnowledgeBase) -> None:
    def rows() -> Iterator[tuple[str, str]]:
        yield "c", "d"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        list(kb.stream([{"insert": {"edge": rows()}}]))
    assert len(facts(kb, "edge")) == 2


# --- names ----------------------------------------------------------------------------------------


def test_a_named_stream_goes_on(open_kb: OpenKb, tmp_path: Path) -> None:
    updates = [edge("cd"), edge("de"), gone("cd"), edge("ef")]
    with open_kb(tmp_path / "kb.duckdb") as kb:
        start(kb)
        stream: Any = kb.stream(updates, name="s")
        next(stream), next(stream)
        stream.close()
        assert kb.position("s") == 2
    with open_kb(tmp_path / "kb.duckdb") as kb:
        assert numbers(kb.stream(iter(updates), name="s")) == [(3, 3), (4, 4)]
        assert kb.position("s") == 4
        assert not list(kb.stream(updates, name="s"))
        assert len(list(kb.stream(updates, name="t", queue=1))) == 4
        with pytest.raises(StreamError) as caught:
            list(kb.stream(updates[:3], name="s"))
        assert str(caught.value) == (
            "stream s has come to update 4, but this source has only 3: is it another one?"
        )


def test_positions_of_what_is_passed_over_and_coalesced(kb: KnowledgeBase) -> None:
    updates: list[Any] = [edge("cd"), edge("de"), {"insert": 7}, edge("ef"), edge("fg")]
    changes = []
    for change in kb.stream(updates, name="s", skip_bad=True, coalesce=2):
        changes.append(change)
        assert kb.position("s") == change.updates[-1]
    assert numbers(changes) == [(1, 2), (3, 3), (4, 5)]
    with pytest.raises(StreamError, match="^update 6: "):
        list(kb.stream([*updates, {"insert": 7}], name="s"))
    assert kb.position("s") == 5
