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


LONE = "is a variable that occurs once, and its text is"
WRITTEN = 'The symbol is written "{}". Where any value is meant, write _.'


@pytest.fixture
def log() -> KnowledgeBase:
    kb = zodiac_sql.connect()
    kb.insert("log", [("WEA03", "north", 5), ("WEA04", "Ost", 6)])
    return kb


@pytest.mark.parametrize(("rule", "place", "name", "like"), [
    ("mine(Z) :- log(WEA03, Z, _).", "1:16", "WEA03", "a symbol"),
    ("mine(Z) :- log(WEA07, Z, _).", "1:16", "WEA07", "like the symbol WEA03"),
    ("mine(X) :- log(X, Ost, T), T > 1.", "1:19", "Ost", "a symbol"),
    ("mine(X) :- log(X, _, _), not log(X, Ost, _).", "1:37", "Ost", "a symbol"),
    ("mine(Z) :- log(X, Z, _), X = WEA07.", "1:30", "WEA07", "like the symbol WEA03"),
    ("n(N, S) :- AGGREGATE(log(WEA07, _, T)) WITH COUNT(T) AS N, SUM(T) AS S.", "1:26", "WEA07",
     "like the symbol WEA03"),
    ("!- log(WEA9, _, 7).", "1:8", "WEA9", "like the symbol WEA03"),
])  # fmt: skip
def test_a_variable_in_the_place_of_a_constant(
    log: KnowledgeBase, rule: str, place: str, name: str, like: str
) -> None:
    """With strict, it is refused."""
    hint = WRITTEN.format(name)
    with log.preview() as preview:
        preview.add_rules(rule)
    assert preview.change.notes == (f"<rules>:{place}: {name} {LONE} {like}. {hint}",)
    with pytest.raises(ProgramError, match=f"{name} {LONE} {like}"):
        log.add_rules(rule, strict=True)


@pytest.mark.parametrize("rule", [
    "mine(Ost) :- log(_, Ost, _).",  # it occurs twice
    "mine(X) :- log(X, ?Ost, _).",  # it says itself that it is a variable
    "mine(X) :- log(X, Zone, Ost5).",  # no symbol, and a column of numbers
    "mine(X) :- log(X, _, Ost).",
    "mine(X) :- log(X, Z, T1).",
    "mine(X) :- log(X, W12, _).",
    "both(X) :- log(X, Ost, _), log(_, Ost, _).",
])  # fmt: skip
def test_other_variables_that_occur_once(log: KnowledgeBase, rule: str) -> None:
    assert log.add_rules(rule, strict=True).notes == ()


def test_symbols_of_the_same_change_are_known() -> None:
    with zodiac_sql.connect() as kb, kb.update() as update:
        update.add_rules('mine(Z) :- log(WEA07, Z). far(X) :- at(X, Nord). at(x, "Nord").')
        update.insert("log", [("WEA1", "z")])
    assert len(update.change.notes) == 2
    assert f"WEA07 {LONE} like the symbol WEA1" in update.change.notes[0]
    assert f"Nord {LONE} a symbol" in update.change.notes[1]


def test_goals_are_answered_with_a_note(log: KnowledgeBase) -> None:
    said = f"<query>:1:5: WEA07 {LONE} like the symbol WEA03. {WRITTEN.format('WEA07')}"
    for _ in range(2):
        answer = log.query("log(WEA07, Z, T)")
        assert answer.num_rows == 2 and answer.notes == (said,)
        assert str(answer).endswith(f"note: {said}")
        assert log.query("log(Turbine, Zone, _)").notes == ()
    assert log.query('log("WEA07", Z, T)').notes == ()


def test_why_says_which_values_it_found(log: KnowledgeBase) -> None:
    log.add_rules("al(X, T) :- log(X, _, T).")
    told = log.why("al(WEA07, T)")
    lines = str(told).splitlines()
    assert lines[0] == 'al("WEA03", 5)  with WEA07 = "WEA03", T = 5'
    assert lines[-1].startswith(f"note: <query>:1:4: WEA07 {LONE} like the symbol WEA03")
    assert told.to_dict()["nodes"][0]["bound"] == {"WEA07": '"WEA03"', "T": "5"}
    assert "note:" in told._repr_html_()
    assert "with" not in str(log.why('al("WEA03", _)'))

    held = log.why_not("al(WEA99, T)")
    assert 'with WEA99 = "WEA03", T = 5' in str(held) and f"WEA99 {LONE}" in str(held)
    absent = log.why_not("al(WEA99, 7)")
    assert absent.holds is None and f"WEA99 {LONE}" in absent.notes[-1]
    with pytest.raises(zodiac_sql.QueryError, match=f"ask why_not\n.*WEA99 {LONE}"):
        log.why("al(WEA99, 7)")
