"""The checkers of `why_not` and `change.why` against claims written by hand, right and wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from generators.programs import Aggregate, Atom, Bind, Compare, Not, Var
from generators.programs import Rule as R
from support.change_checker import check_change
from support.proof_checker import WrongProof
from support.proof_world import World
from support.why_not_checker import check_why_not

from zodiac_sql.change.explained import Cause, ChangeExplanation, Event
from zodiac_sql.read.why.absence import Attempt, WhyNot

X, Y, N, L = map(Var, ("X", "Y", "N", "L"))
HOT = R(
    "hot", Atom("hot", (X,)), (Atom("reading", (X, N)), Compare(N, ">", 30), Not(Atom("off", (X,))))
)
SEEN = R("seen", Atom("seen", (X,)), (Atom("hot", (X,)), Atom("near", (X, Y))))
MANY = R("many", Atom("many", (X, N)),
         (Aggregate((Atom("near", (X, Y)), Atom("hot", (Y,))), (X,), "COUNT", Y, N),))  # fmt: skip
FREE = R("free", Atom("free", (X,)), (Atom("hot", (X,)), Not(Atom("near", (L, L)))))
TYPES = {"reading": ("symbol", "int"), "off": ("symbol",), "hot": ("symbol",),
         "near": ("symbol", "symbol"), "seen": ("symbol",), "many": ("symbol", "int"),
         "free": ("symbol",)}  # fmt: skip
FACTS = {
    "reading": [("a", 40), ("b", 20), ("c", 50)],
    "off": [("c",)],
    "near": [("b", "a"), ("d", "a"), ("d", "c")],
}
RULES = (HOT, SEEN, MANY, FREE)
WORLD = World.of(RULES, FACTS, TYPES)


# --- why_not --------------------------------------------------------------------------------------

COLD = Attempt(
    "hot", "", "comparison", "N > 30", "20 > 30 is false",
    ("reading(b, 20)", "not off(b)"), (("X", "b"), ("N", 20)),
)  # fmt: skip
BLOCKED = Attempt(
    "hot", "", "blocked", "not off(X)", "blocked by off(c)",
    ("reading(c, 50)", "50 > 30"), (("X", "c"), ("N", 50)),
)  # fmt: skip
ALONE = Attempt(
    "seen", "", "no fact", "near(X, Y)", "no near(a, _)", ("hot(a)",), (("X", "a"),)
)  # fmt: skip


def hot(value: str, attempt: Attempt, depth: int = 1) -> None:
    check_why_not(WhyNot(f"hot({value})", (attempt,)), WORLD, Atom("hot", (value,)), depth)


def test_right_reasons_are_accepted() -> None:
    hot("b", COLD)
    hot("c", BLOCKED)
    check_why_not(WhyNot("seen(a)", (ALONE,)), WORLD, Atom("seen", ("a",)))
    check_why_not(WhyNot("off(a)", (), ("no rule",)), WORLD, Atom("off", ("a",)))


@pytest.mark.parametrize(
    "changes",
    [
        {"fails": "21 > 30 is false"},
        {"fails": "blocked by off(b)", "kind": "blocked"},
        {"kind": "no fact", "fails": "no reading(b, 20)"},
        {"kind": "no value", "fails": "20 > 30 has no value"},
        {"kind": "no value", "fails": "20 > 30 is false"},
        {"holds": ("reading(b, 20)", "20 > 30", "not off(b)")},
        {"holds": ("not off(b)",)},
        {"holds": ("reading(a, 40)", "not off(b)")},
        {"values": (("X", "a"), ("N", 40))},
        {"values": (("X", "b"),)},
        {"rule": "cold"},
        {"below": WhyNot("hot(b)", ())},
        {"kind": "head", "fails": "it derives only hot(X)"},
    ],
)
def test_wrong_reasons_are_rejected(changes: dict[str, object]) -> None:
    with pytest.raises((WrongProof, KeyError)):
        hot("b", replace(COLD, **changes))  # type: ignore[arg-type]


def test_the_comparison_that_is_told_is_checked_and_not_the_first() -> None:
    """Nothing can be said of L: the body does not hold up to where it gets a value."""
    body = (Atom("reading", (X, N)), Compare(L, ">", N), Compare(N, ">", 30), Bind(N, L))
    world = World.of((R("late", Atom("late", (X,)), body),), FACTS, {**TYPES, "late": ("symbol",)})
    told = Attempt(
        "late", "", "comparison", "N > 30", "20 > 30 is false",
        ("reading(b, 20)",), (("X", "b"), ("N", 20)),
    )  # fmt: skip
    check_why_not(WhyNot("late(b)", (told,)), world, Atom("late", ("b",)))
    for wrong in ("20 > 40 is false", "L > 20 is false"):
        with pytest.raises(WrongProof):
            other = replace(told, fails=wrong)
            check_why_not(WhyNot("late(b)", (other,)), world, Atom("late", ("b",)))


def test_each_underscore_of_a_goal_is_a_variable_of_its_own() -> None:
    rule = R("pair", Atom("pair", ("a", "c")), (Atom("hot", ("b",)),))
    world = World.of((rule, HOT), FACTS, {**TYPES, "pair": ("symbol", "symbol")})
    told = WhyNot("pair(_, _)", (Attempt("pair", "", "no fact", "hot(b)", "no hot(b)", (), ()),))
    check_why_not(told, world, Atom("pair", (Var("_"), Var("_"))))
    with pytest.raises(WrongProof):
        check_why_not(told, world, Atom("pair", (X, X)))


def test_wrong_answers_are_rejected() -> None:
    with pytest.raises(WrongProof, match="does hold"):
        hot("a", COLD)
    with pytest.raises(WrongProof, match="another goal"):
        check_why_not(WhyNot("hot(b)", (COLD,)), WORLD, Atom("hot", ("c",)))
    with pytest.raises(WrongProof, match="the rules are"):
        check_why_not(WhyNot("hot(b)", ()), WORLD, Atom("hot", ("b",)))
    with pytest.raises(WrongProof, match="blocked by off"):
        hot("c", replace(BLOCKED, fails="blocked by off(a)"))
    with pytest.raises(WrongProof):
        check_why_not(
            WhyNot("seen(a)", (replace(ALONE, fails="no near(b, _)"),)), WORLD, Atom("seen", ("a",))
        )


# --- change.why -----------------------------------------------------------------------------------

AFTER = World.of(
    (HOT, SEEN, MANY, FREE),
    {**FACTS, "off": [("a",)], "near": [("b", "a"), ("d", "c"), ("b", "c")]},
    TYPES,
)
"""off(c) and near(d, a) are deleted, off(a) and near(b, c) inserted."""

IN_HOT, OUT_HOT = Event("entered", "hot(c)"), Event("left", "hot(a)")
OFF_GONE, OFF_CAME = Event("left", "off(c)"), Event("entered", "off(a)")
CAUSES = {
    IN_HOT: Cause("rule", "hot", "", False, ("reading(c, 50)",), ("not off(c)",), (), (OFF_GONE,)),
    OUT_HOT: Cause("rule", "hot", "", False, ("reading(a, 40)",), ("not off(a)",), (), (OFF_CAME,)),
    OFF_GONE: Cause("deleted"),
    OFF_CAME: Cause("inserted"),
}


def entered(**changes: object) -> ChangeExplanation:
    causes = {event: CAUSES[event] for event in (IN_HOT, OFF_GONE)}
    causes[IN_HOT] = replace(causes[IN_HOT], **changes)  # type: ignore[arg-type]
    wanted = {IN_HOT, *causes[IN_HOT].because}
    return ChangeExplanation(IN_HOT, {e: c for e, c in {**CAUSES, **causes}.items() if e in wanted})


def test_right_causes_are_accepted() -> None:
    check_change(entered(), WORLD, AFTER, ("entered", ("hot", ("c",))))
    left = ChangeExplanation(OUT_HOT, {e: CAUSES[e] for e in (OUT_HOT, OFF_CAME)})
    check_change(left, WORLD, AFTER, ("left", ("hot", ("a",))))


@pytest.mark.parametrize(
    "changes",
    [
        {"because": ()},
        {"because": (OFF_CAME,)},
        {"because": (OFF_GONE, OFF_CAME)},
        {"uses": ("reading(a, 40)",)},
        {"uses": ()},
        {"absent": ()},
        {"absent": ("not off(a)",)},
        {"rule": "seen"},
        {"rule": "gone"},
        {"rule_moved": True},
        {"kind": "inserted"},
    ],
)
def test_wrong_causes_are_rejected(changes: dict[str, object]) -> None:
    with pytest.raises(WrongProof):
        check_change(entered(**changes), WORLD, AFTER, ("entered", ("hot", ("c",))))


def test_wrong_events_are_rejected() -> None:
    with pytest.raises(WrongProof, match="another event"):
        check_change(entered(), WORLD, AFTER, ("left", ("hot", ("a",))))
    with pytest.raises(WrongProof, match="it did not"):
        check_change(entered(), AFTER, AFTER, ("entered", ("hot", ("c",))))
    around = ChangeExplanation(IN_HOT, {IN_HOT: replace(CAUSES[IN_HOT], because=(IN_HOT,))})
    with pytest.raises(WrongProof, match="goes back to itself"):
        check_change(around, WORLD, AFTER, ("entered", ("hot", ("c",))))


GROUP_CAME = Event("entered", "many(b, 1)")
NEAR_CAME, NEAR_GONE = Event("entered", "near(b, c)"), Event("left", "near(d, a)")


def counted(*because: Event) -> ChangeExplanation:
    """many(b, 1) was many(b, 1) before, too: here, hot(b) moved from a to c, so nothing entered."""
    causes = {**CAUSES, NEAR_CAME: Cause("inserted"), NEAR_GONE: Cause("deleted")}
    goal = Event("left", "many(d, 1)")
    made = Cause("rule", "many", "", False, (), (), (), because)
    return ChangeExplanation(goal, {goal: made, **{e: causes[e] for e in because}})


GROUPS = (
    World.of((MANY,), {"near": [("d", "a"), ("b", "a"), ("b", "e")], "hot": [("a",)]}, TYPES),
    World.of((MANY,), {"near": [("b", "a"), ("b", "c")], "hot": [("a",), ("c",)]}, TYPES),
)
GONE = ("left", ("many", ("d", 1)))


def test_an_event_must_be_in_the_group() -> None:
    check_change(counted(NEAR_GONE), *GROUPS, GONE)
    for wrong in (NEAR_CAME, Event("left", "near(b, e)")):
        with pytest.raises((WrongProof, KeyError)):
            check_change(counted(wrong), *GROUPS, GONE)


def test_a_variable_that_stands_twice_is_one() -> None:
    """near(b, a) does not refute `not near(L, L)`, near(b, b) does."""
    before = World.of((FREE,), {"hot": [("a",)], "near": [("b", "a")]}, TYPES)
    after = World.of(
        (FREE,), {"hot": [("a",)], "near": [("b", "a"), ("b", "b"), ("c", "d")]}, TYPES
    )
    goal, came = Event("left", "free(a)"), Event("entered", "near(b, b)")
    cause = Cause("rule", "free", "", False, ("hot(a)",), ("not near(L, L)",), (), (came,))
    told = ChangeExplanation(goal, {goal: cause, came: Cause("inserted")})
    check_change(told, before, after, ("left", ("free", ("a",))))
    with pytest.raises(WrongProof):
        wrong = replace(cause, absent=("not near(_, _)",))
        check_change(replace(told, causes={**told.causes, goal: wrong}), before, after,
                     ("left", ("free", ("a",))))  # fmt: skip
    other = Event("entered", "near(c, d)")
    causes = {goal: replace(cause, because=(other,)), other: Cause("inserted")}
    with pytest.raises(WrongProof, match="made no difference"):
        check_change(ChangeExplanation(goal, causes), before, after, ("left", ("free", ("a",))))
