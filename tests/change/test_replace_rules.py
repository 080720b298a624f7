"""A rule in place of another one, in one change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.changing_rules import (
    PATHS,
    added_at,
    come,
    gone,
    moved,
    names,
    on_file,
    predicates,
    set_back,
    texts,
    untouched,
)

from zodiac_sql import ProgramError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase


def test_replacing_is_one_change(paths: KnowledgeBase) -> None:
    change = paths.add_rules("base: path(X, Y) :- edge(Y, X).", replace=True)
    assert change.notes == ()
    assert names(paths) == ["step", "r1", "base"]
    assert texts(paths)["base"] == "path(X, Y) :- edge(Y, X)."
    assert moved(change)["dropped"] and moved(change)["created"]
    assert set(paths.table("path").fetchall()) == {
        ("b", "a"), ("c", "b"), ("d", "c"), ("b", "b"), ("c", "c"), ("d", "d"),
        ("b", "c"), ("c", "d"), ("b", "d"),
    }  # fmt: skip
    assert (change.inserted["path"], change.deleted["path"]) == (6, 3)
    assert gone(change, "path") == {("a", "b"), ("a", "c"), ("a", "d")}
    assert paths.verify()


def test_another_body_under_the_same_name_is_refused(paths: KnowledgeBase) -> None:
    before = on_file(paths)
    with pytest.raises(ProgramError, match="already a rule named base") as caught:
        paths.add_rules("base: path(X, Y) :- edge(Y, X).\nnew(X) :- edge(X, _).")
    (problem,) = caught.value.problems
    assert "path(X, Y) :- edge(X, Y)." in problem.message and "replace" in problem.hint
    assert on_file(paths) == before


def test_replacing_by_an_equal_rule_is_no_change(paths: KnowledgeBase) -> None:
    before = texts(paths), added_at(paths)
    change = paths.add_rules("step: path(A, C) :- edge(B, C), path(A, B).", replace=True)
    assert untouched(paths, change) and len(change.notes) == 1
    assert (texts(paths), added_at(paths)) == before


def test_replacing_what_is_not_there_adds_it(paths: KnowledgeBase) -> None:
    change = paths.add_rules("new: loop(X) :- path(X, X).", replace=True)
    assert names(paths)[-1] == "new" and change.notes == ()


def test_replacing_several(paths: KnowledgeBase) -> None:
    """Also such that rules take each other's names."""
    swapped = PATHS.replace("base:", "x:").replace("step:", "base:").replace("x:", "step:")
    assert paths.add_rules(swapped, replace=True).deleted == {}
    assert texts(paths) == {
        "base": "path(X, Z) :- path(X, Y), edge(Y, Z).",
        "step": "path(X, Y) :- edge(X, Y).",
        "r1": "ends(X) :- path(_, X), not edge(X, _).",
    }
    assert paths.table("path").num_rows == 6 and paths.verify()


def test_replacing_does_not_make_two_of_one_text(paths: KnowledgeBase) -> None:
    before = on_file(paths)
    with pytest.raises(ProgramError, match="already a rule named new"):
        paths.add_rules("new: p(X) :- edge(X, _). new: p(X) :- edge(_, X).", replace=True)
    assert on_file(paths) == before


def test_replacing_a_rule_that_the_update_has_added(paths: KnowledgeBase) -> None:
    with paths.update() as update:
        update.add_rules("new: p(X) :- edge(X, _).")
        update.add_rules("new: p(X) :- edge(_, X).", replace=True)
    assert texts(paths)["new"] == "p(X) :- edge(_, X)."


def test_replacing_by_a_rule_of_another_arity(kb: KnowledgeBase) -> None:
    """Nothing else has the predicate."""
    kb.add_rules("a: p(X, Y) :- e(X, Y). e(a, b).")
    change = kb.add_rules("a: p(X) :- e(X, _).", replace=True)
    assert texts(kb) == {"a": "p(X) :- e(X, _)."}
    assert predicates(kb)["p"] == "s: symbol"
    assert (change.inserted, change.deleted) == ({"p": 1}, {"p": 1})


def test_replacing_by_a_rule_of_another_type(kb: KnowledgeBase) -> None:
    kb.add_rules("a: p(X) :- e(X, _). b: q(X) :- p(X). e(a, 7).")
    change = kb.add_rules("a: p(Y) :- e(_, Y).", replace=True)
    assert predicates(kb)["p"] == predicates(kb)["q"] == "s: int"
    assert kb.table("q").fetchall() == [(7,)]
    assert (change.inserted, change.deleted) == ({"p": 1, "q": 1}, {"p": 1, "q": 1})
    assert (come(change, "q"), gone(change, "q")) == ({(7,)}, {("a",)})
    assert kb.verify()


def test_dropped_and_added_under_one_name(paths: KnowledgeBase) -> None:
    with paths.update() as update:
        update.drop_rules("base")
        update.add_rules("base: path(X, Y) :- edge(Y, X).")
    assert texts(paths)["base"] == "path(X, Y) :- edge(Y, X)."
    assert update.change.inserted["path"] == 6


@pytest.mark.parametrize("given", ["new", "loop(A) :- path(A, A).", "x: loop(Y) :- path(Y, Y)."])
def test_added_and_dropped_leaves_nothing(paths: KnowledgeBase, given: str) -> None:
    before = on_file(paths)
    with paths.update() as update:
        update.add_rules("new: loop(X) :- path(X, X). @prefix ex: <http://e.org/> .")
        update.drop_rules(given)
    assert update.change.notes == () and untouched(paths, update.change)
    assert on_file(paths)[2] == before[2]


def test_dropped_and_added_again_is_no_change(paths: KnowledgeBase) -> None:
    set_back(paths)
    before = on_file(paths)[2]
    with paths.update() as update:
        update.drop_rules("step", "r1")
        update.add_rules("step: path(X, Z) :- path(X, Y), edge(Y, Z).")
        update.add_rules("r1: ends(X) :- path(_, X), not edge(X, _).")
    assert update.change.notes == () and untouched(paths, update.change)
    after = on_file(paths)[2]
    assert sorted(map(str, after)) == sorted(map(str, before))
