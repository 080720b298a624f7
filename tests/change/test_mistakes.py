"""What looks like a mistake in new rules is told in notes; with strict, it is refused."""

from __future__ import annotations

import pytest

import zodiac_sql
from zodiac_sql import KnowledgeBase, ProgramError

NO_FACTS = "nothing derives, declares or states"


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = zodiac_sql.connect()
    kb.insert("parent", [("ann", "bob"), ("bob", "x1")])
    return kb


@pytest.mark.parametrize(("rule", "note"), [
    ("g(X, Z) :- parent(X, Y), parnet(Y, Z).",
     f"<rules>:1:26: {NO_FACTS} parnet. Did you mean parent?"),
    ("g(X, Y) :- parent(X, Y), not Parent(Y, _).",
     f"<rules>:1:30: {NO_FACTS} Parent. Did you mean parent?"),
    ("g(X) :- parent(X, _), contains(X, \"a\").",
     ("<rules>:1:23: contains is a function, but stands here as a predicate of which there are no "
     "facts. A function stands in a comparison: contains(...) = true.")),
    ("g(X) :- parent(X, _), length(X, 3).",
     ("<rules>:1:23: length is a function, but stands here as a predicate of which there are no "
     "facts. A function stands in a comparison: length(...) = V.")),
    ("grand(x, z) :- parent(x, y), parent(y, z).",
     ("<rules>:1:7: x, z, y are constants that no fact has. Variables begin with a capital letter: "
     "X, Z, Y.")),
    ("old(p, Y) :- parent(p, Y).",
     "<rules>:1:5: p is a constant that no fact has. Variables begin with a capital letter: P."),
    ("old(X) :- parent(X, _), dead(X), buried(X).", f"{NO_FACTS} dead, buried"),
    ("n(N) :- AGGREGATE(parnet(X, Y)) WITH COUNT(X) AS N.",
     f"<rules>:1:19: {NO_FACTS} parnet. Did you mean parent?"),
])  # fmt: skip
def test_a_note_or_with_strict_an_error(kb: KnowledgeBase, rule: str, note: str) -> None:
    with pytest.raises(ProgramError) as refused:
        kb.add_rules(rule, strict=True)
    for problem in refused.value.problems:
        assert problem.span is not None and problem.message.split()[-1] in note
    assert kb.add_rules(rule).notes == (note,)
    assert kb.insert("parent", [("cat", "dan")]).notes == ()  # it is told once


@pytest.mark.parametrize("rules", [
    "old(X) :- parent(X, _).",
    "old(ann) :- parent(ann, bob).",  # constants that facts have
    "old(x1) :- parent(x1, _).",
    "on(a). off(a) :- not on(a).",
    ".decl dead(x: symbol) old(X) :- parent(X, _), not dead(X).",
    "dead(ann). old(X) :- parent(X, _), not dead(X).",
    "old(X) :- parent(X, _), not dead(X). dead(X) :- parent(X, _).",
    "level(X, high) :- parent(X, high).",  # a word among variables
    "contains(a, b). old(X) :- contains(X, _).",
    "?P(X, Y) :- symmetric(P), ?P(Y, X). symmetric(parent).",
])  # fmt: skip
def test_no_false_alarm(kb: KnowledgeBase, rules: str) -> None:
    assert kb.add_rules(rules, strict=True).notes == ()


def test_facts_of_the_same_change_count(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.add_rules("path(a, c) :- edge(a, b), edge(b, c).", strict=True)
        update.insert("edge", [("a", "b"), ("b", "c")])
    assert update.change.notes == () and kb.table("path").fetchall() == [("a", "c")]


def test_a_predicate_that_was_told_is_not_told_again(kb: KnowledgeBase) -> None:
    assert kb.add_rules("p(X) :- parnet(X, _).").notes != ()
    assert kb.add_rules("q(X) :- parnet(X, _).").notes == ()


def test_many_predicates_without_facts_share_a_note(kb: KnowledgeBase) -> None:
    rules = " ".join(f"head{n}(X) :- `strange {n} {'z' * n}`(X)." for n in range(60))
    (note,) = kb.add_rules(rules).notes
    assert note.endswith(" and 50 more")


def test_a_preview_tells_it_too(kb: KnowledgeBase) -> None:
    with kb.preview() as preview:
        preview.add_rules("p(X) :- parnet(X, _).")
    assert "Did you mean parent?" in preview.change.notes[0]


def test_a_variable_for_a_predicate_that_nothing_names(kb: KnowledgeBase) -> None:
    """`?P(X)` was once a predicate of that name."""
    with pytest.raises(ProgramError, match="nothing says which predicates P stands for"):
        kb.add_rules("p(X) :- ?P(X).")


def test_a_fact_that_is_refused_has_no_say_in_types() -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules("p(X, MAX(T)) :- r(X, T). p(X, MAX(T + 1)) :- q(X, T).")
        kb.insert("r", [("a", 1)])
        kb.insert("q", [("a", 4.5)])
        with pytest.raises(ProgramError, match="has no facts of its own") as refusal:
            kb.add_rules("p(a, 4).")
        assert len(refusal.value.problems) == 1
