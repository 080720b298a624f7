"""The checker of proofs against proofs written by hand, right ones and wrong ones: that it accepts
what `why` says must mean something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from generators.programs import (
    Aggregate,
    Arithmetic,
    Atom,
    Bind,
    Compare,
    Kind,
    Not,
    Predicate,
    Var,
)
from generators.programs import Rule as R
from support.naive_values import Value
from support.oracle import extensions
from support.proof_checker import WrongProof, check, closing
from support.proof_world import world_of
from support.rule_instances import all_instances, minimum_heights

from zodiac_sql.language.syntax import Type
from zodiac_sql.read.why.proof import Absent, Bound, Explanation, Fact, Group, Step
from zodiac_sql.read.why.proof import Test as Told

X, Y, Z, N, M, ANY = map(Var, ("X", "Y", "Z", "N", "M", "_"))
S, I = Kind.SYMBOL, Kind.INT

RULES = [
    R("base", Atom("near", (X, Y)), (Atom("link", (X, Y)),)),
    R("join", Atom("near", (X, Z)), (Atom("near", (Y, Z)), Atom("near", (X, Y)))),
    R("turn", Atom("near", (X, Y)), (Atom("near", (Y, X)),)),
    R("way", Atom("path", (X, Y)), (Atom("link", (X, Y)),)),
    R("far", Atom("path", (X, Z)), (Atom("path", (X, Y)), Atom("path", (Y, Z)))),
    R("hot", Atom("hot", (X,)),
      (Compare(N, ">", 30), Atom("reading", (X, N)), Not(Atom("off", (X, ANY))))),
    R("twice", Atom("twice", (X, M)),
      (Atom("reading", (X, N)), Bind(Arithmetic(N, "*", 2), M), Atom("hot", (X,)))),
    R("count", Atom("number", (X, N)),
      (Aggregate((Atom("near", (X, Y)), Atom("hot", (Y,))), (X,), "COUNT", Y, N),)),
    R("seen", Atom("seen", (X,)), (Atom("reading", (X, ANY)), Atom("link", (ANY, X)))),
    R("there", Atom("p", (X,)), (Atom("q", (X,)),)),
    R("back", Atom("q", (X,)), (Atom("p", (X,)),)),
    R("start", Atom("p", (X,)), (Atom("hot", (X,)),)),
    R("none", Atom("calm", ()), (Not(Atom("off", ("d", X))),)),
]  # fmt: skip
FACTS = {
    "link": frozenset([("a", "b"), ("b", "c"), ("c", "d")]),
    "path": frozenset([("a", "c")]),
    "reading": frozenset([("a", 40), ("b", 50), ("c", 20), ("d", 60)]),
    "off": frozenset([("b", 1)]),
    "hot": frozenset([("d",)]),
}
KINDS = {
    "link": (S, S), "near": (S, S), "path": (S, S), "reading": (S, I), "off": (S, I), "hot": (S,),
    "twice": (S, I), "number": (S, I), "seen": (S,), "p": (S,), "q": (S,), "calm": (),
}  # fmt: skip
SCHEMA = [Predicate(name, kinds, 0) for name, kinds in KINDS.items()]
WORLD = world_of(RULES, FACTS, SCHEMA, extensions(RULES, FACTS))  # type: ignore[arg-type]


def f(predicate: str, *values: Value) -> Fact:
    types = tuple(Type.SYMBOL if kind is S else Type.INT for kind in KINDS[predicate])
    return Fact(predicate, values, types)


Steps = Mapping[Fact, Step]


def explained(goal: Fact, steps: Steps) -> Explanation:
    """A proof of a fact: what has no step is explicit."""
    leaves = {goal, *(use for step in steps.values() for use in step.uses)} - steps.keys()
    return Explanation((goal,), {fact: (step,) for fact, step in steps.items()}, frozenset(leaves))


def step(rule: str, *uses: Fact, **values: Value) -> Step:
    return Step("rule", rule, "", uses, values=tuple(values.items()))


LINK_AB, LINK_BC, LINK_CD = f("link", "a", "b"), f("link", "b", "c"), f("link", "c", "d")
HOT_A = f("hot", "a")
HOT_STEP = replace(
    step("hot", f("reading", "a", 40), X="a", N=40),
    absent=(Absent("off", ("a", None), (Type.SYMBOL, Type.INT)),),
    tests=(Told("N > 30", "40 > 30"),),
)
TWICE = f("twice", "a", 80)
TWICE_STEP = replace(
    step("twice", f("reading", "a", 40), HOT_A, X="a", N=40, M=80),
    bindings=(Bound("M", "(40 * 2)", 80, Type.INT),),
)
NUMBER = f("number", "b", 2)
GROUP = Group(
    "COUNT(Y)", "N", 2, Type.INT, (("X", "b"),), 2,
    ((f("near", "b", "a"), HOT_A), (f("near", "b", "d"), f("hot", "d"))),
)  # fmt: skip
NUMBER_STEP = replace(step("count", X="b", N=2), groups=(GROUP,))
CALM_STEP = replace(step("none"), absent=(Absent("off", ("d", None), (Type.SYMBOL, Type.INT)),))
PATH_AD = f("path", "a", "d")
PATH_STEP = Step("path", "far", "", (f("path", "a", "c"), f("path", "c", "d")))
NEAR = {f("near", *one.values): step("base", one, X=one.values[0], Y=one.values[1])
        for one in (LINK_AB, LINK_BC, LINK_CD)}  # fmt: skip
NEAR_DB = f("near", "d", "b")
NEAR_STEP = Step("path", "join, turn", "", (f("near", "c", "d"), f("near", "b", "c")))
NEAR_AA_STEP = Step("path", "turn, join", "", (f("near", "a", "b"), f("near", "a", "b")))
WAYS = {f("path", "c", "d"): step("way", LINK_CD, X="c", Y="d")}
HOT = {HOT_A: HOT_STEP}
SEEN_STEP = step("seen", f("reading", "b", 50), LINK_AB, X="b")

RIGHT = {
    "an explicit fact": explained(LINK_AB, {}),
    "what is explicit needs no rule": explained(f("path", "a", "c"), {}),
    "a rule": explained(f("near", "a", "b"), {f("near", "a", "b"): NEAR[f("near", "a", "b")]}),
    "a negation and a comparison": explained(HOT_A, HOT),
    "a computed value, and a shared fact": explained(TWICE, {TWICE: TWICE_STEP, **HOT}),
    "a group": explained(NUMBER, {NUMBER: NUMBER_STEP}),
    "nothing": explained(f("calm"), {f("calm"): CALM_STEP}),
    "a path": explained(PATH_AD, {PATH_AD: PATH_STEP, **WAYS}),
    "a path backwards": explained(
        NEAR_DB, {NEAR_DB: NEAR_STEP, **{n: NEAR[n] for n in NEAR_STEP.uses}}
    ),
    "there and back": explained(
        f("near", "a", "a"),
        {f("near", "a", "a"): NEAR_AA_STEP, f("near", "a", "b"): NEAR[f("near", "a", "b")]},
    ),
    "anonymous variables": explained(f("seen", "b"), {f("seen", "b"): SEEN_STEP}),
    "around a cycle that is cut": explained(
        f("q", "a"), {f("q", "a"): step("back", f("p", "a"), X="a"),
                      f("p", "a"): step("start", HOT_A, X="a"), **HOT},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_accepted(name: str) -> None:
    check(RIGHT[name], WORLD)


def hot(**changes: object) -> Explanation:
    return explained(HOT_A, {HOT_A: replace(HOT_STEP, **changes)})  # type: ignore[arg-type]


def twice(**changes: object) -> Explanation:
    return explained(TWICE, {TWICE: replace(TWICE_STEP, **changes), **HOT})  # type: ignore[arg-type]


def number(**changes: object) -> Explanation:
    group = replace(GROUP, **changes)  # type: ignore[arg-type]
    return explained(NUMBER, {NUMBER: replace(NUMBER_STEP, groups=(group,))})


def far(goal: Fact, *uses: Fact, rule: str = "far") -> Explanation:
    every = {**NEAR, **WAYS, f("path", "a", "b"): step("way", LINK_AB, X="a", Y="b"),
             f("path", "b", "c"): step("way", LINK_BC, X="b", Y="c")}  # fmt: skip
    steps = {use: every[use] for use in uses if use in every}
    return explained(goal, {goal: Step("path", rule, "", uses), **steps})


def off(*values: Value | None) -> tuple[Absent, ...]:
    return (Absent("off", values, (Type.SYMBOL, Type.INT)),)


P, Q = f("p", "a"), f("q", "a")
AROUND = {Q: step("back", P, X="a"), P: step("there", Q, X="a")}
IS_HOT = explained(HOT_A, HOT)

WRONG = {
    "it does not hold": (explained(f("hot", "b"), {}), "hot(b) does not hold"),
    "it is not explicit": (explained(HOT_A, {}), "is not explicit"),
    "it is explicit": (replace(IS_HOT, explicit=frozenset()), "is explicit"),
    "no step": (replace(IS_HOT, derivations={}, explicit=frozenset()), "0 steps"),
    "two steps": (
        replace(IS_HOT, derivations={HOT_A: (HOT_STEP, replace(HOT_STEP, text="r"))}), "2 steps"),
    "the same step": (replace(IS_HOT, derivations={HOT_A: (HOT_STEP,) * 2}), "same step twice"),
    "a step for what is explicit": (
        replace(RIGHT["a path"], derivations={
            **RIGHT["a path"].derivations,
            f("path", "a", "c"): (Step("path", "far", "", ()),)}),
        "no other|should have 0|other facts"),
    "a step too many": (replace(IS_HOT, derivations={**IS_HOT.derivations, Q: ()}), "no goal"),
    "a goal twice": (replace(IS_HOT, goals=(HOT_A, HOT_A)), "a goal is there twice"),
    "cut": (replace(IS_HOT, cut=frozenset([HOT_A])), "is cut"),
    "a cycle": (explained(Q, AROUND), "a cycle: q(a), p(a), q(a)"),
    "another type": (
        explained(Fact("reading", ("a", 40), (Type.SYMBOL, Type.FLOAT)), {}), "has the types"),
    "a value of another type": (
        explained(Fact("reading", ("a", 40.0), (Type.SYMBOL, Type.INT)), {}), "in a column of"),
    "no such rule": (hot(rule="warm"), "no such rule"),
    "a rule for another predicate": (hot(rule="twice"), "no such rule"),
    "too few facts": (hot(uses=()), "predicates"),
    "another fact": (hot(uses=(f("reading", "d", 60),)), "another fact follows"),
    "a comparison does not hold": (hot(uses=(f("reading", "c", 20),)), "body does not hold"),
    "a negation does not hold": (hot(uses=(f("reading", "b", 50),)), "body does not hold"),
    "facts in another order": (
        twice(uses=tuple(reversed(TWICE_STEP.uses))), "predicates"),
    "another value": (hot(values=(("X", "a"), ("N", 41))), "other values"),
    "a value too few": (hot(values=(("X", "a"),)), "the variables"),
    "a value too many": (hot(values=(("X", "a"), ("N", 40), ("Z", 1))), "the variables"),
    "a value twice": (hot(values=(("X", "a"), ("N", 40), ("?x", "b"))), "two values"),
    "nothing absent": (hot(absent=()), "negated"),
    "another is absent": (hot(absent=off("c", None)), "must be absent"),
    "less is absent": (hot(absent=off("a", 1)), "must be absent"),
    "more is absent": (hot(absent=off(None, None)), "must be absent"),
    "no test": (hot(tests=()), "number of comparisons"),
    "an untrue test": (hot(tests=(Told("N > 30", "20 > 30"),)), "not true"),
    "another result": (
        twice(bindings=(Bound("M", "(40 * 2)", 81, Type.INT),)), "the value is 80"),
    "another variable": (
        twice(bindings=(Bound("N", "(20 * 2)", 40, Type.INT),)), "what is computed"),
    "no binding": (twice(bindings=()), "what is computed"),
    "another expression": (
        twice(bindings=(Bound("M", "(40 * 3)", 80, Type.INT),)), "not true"),
    "another count": (number(count=3), "number of solutions"),
    "another function": (number(function="SUM(Y)"), "function"),
    "another result of a group": (number(result=3), "the result is 2"),
    "another group": (number(on=()), "the group"),
    "a member of another group": (number(members=((f("near", "a", "a"), HOT_A),)), "no member"),
    "no members": (number(members=()), "no members"),
    "a member twice": (number(members=GROUP.members[:1] * 2), "twice"),
    "no group": (
        explained(NUMBER, {NUMBER: replace(NUMBER_STEP, groups=())}), "number of groups"),
    "a broken path": (far(PATH_AD, f("path", "a", "b"), f("path", "c", "d")), "do not lead"),
    "a path to another end": (far(PATH_AD, f("path", "a", "b"), f("path", "b", "c")), "not lead"),
    "a path backwards by no rule": (
        far(f("path", "a", "d"), f("path", "c", "d"), f("path", "b", "c"), f("path", "a", "b")),
        "do not lead"),
    "a path of itself": (
        explained(PATH_AD, {PATH_AD: Step("path", "far", "", (PATH_AD,))}), "other facts"),
    "no path": (explained(PATH_AD, {PATH_AD: Step("path", "far", "", ())}), "other facts"),
    "links, not the relation": (far(PATH_AD, LINK_AB, LINK_BC, LINK_CD), "other facts"),
    "not transitive": (far(NEAR_DB, *NEAR_STEP.uses, rule="turn"), "makes it transitive"),
    "not symmetric": (far(NEAR_DB, *NEAR_STEP.uses, rule="join"), "do not lead"),
    "no rule that closes": (far(PATH_AD, *PATH_STEP.uses, rule="far, way"), "way is no rule"),
    "a rule that closes another": (far(PATH_AD, *PATH_STEP.uses, rule="far, join"), "is no rule"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_rejected(name: str) -> None:
    explanation, reason = WRONG[name]
    with pytest.raises(WrongProof) as told:
        check(explanation, WORLD)
    assert any(part in str(told.value) for part in reason.split("|"))


def test_all_derivations() -> None:
    """With all of them, there can be several steps, also of explicit facts, and leaves without."""
    goal = f("near", "b", "b")
    ways = [(f("near", "b", other), f("near", other, "b")) for other in "abcd"]
    steps = [step("join", two, one, X="b", Y=two.values[0], Z="b") for one, two in ways]
    steps.append(step("turn", goal, X="b", Y="b"))
    check(Explanation((goal,), {goal: tuple(steps)}, frozenset(), every=True), WORLD)
    with pytest.raises(WrongProof, match="has no step"):
        check(Explanation((goal,), {}, frozenset(), every=True), WORLD)


def test_what_closes() -> None:
    """With an inequality of its ends, too, and in any order."""
    unequal = (Compare(Z, "!=", X),)
    names = [rule.name for rule in RULES if closing(rule)]
    assert names == ["join", "turn", "far"]
    assert closing(replace(RULES[1], body=RULES[1].body + unequal))
    assert not closing(replace(RULES[1], body=RULES[1].body + (Compare(Z, "!=", Y),)))
    assert not closing(replace(RULES[1], body=RULES[1].body + (Not(Atom("near", (Z, X))),)))
    assert not closing(R("", Atom("p", (X, Y)), (Atom("p", (X, Y)),)))
    assert not closing(R("", Atom("p", (X, Y)), (Atom("p", (X, Z)), Atom("p", (Y, Z)))))
    assert not closing(R("", Atom("p", (X, Y)), (Atom("q", (X, Z)), Atom("p", (Z, Y)))))


def test_an_inequality_forbids_loops() -> None:
    """A path of two facts that goes there and back does not make near(a, a) then."""
    rules = [replace(r, body=r.body + (Compare(X, "!=", Z),)) if r.name == "join" else r
             for r in RULES]  # fmt: skip
    facts = {**FACTS, "near": frozenset([("a", "a")])}
    world = world_of(rules, facts, SCHEMA, extensions(rules, FACTS))  # type: ignore[arg-type]
    world.known["near"].add(("a", "a"))  # type: ignore[attr-defined]
    world.explicit["near"].clear()  # type: ignore[attr-defined]
    with pytest.raises(WrongProof, match="does not follow"):
        check(RIGHT["there and back"], world)
    check(RIGHT["a path backwards"], world)


def test_heights_by_hand() -> None:
    every = all_instances(WORLD)
    heights = minimum_heights(every, WORLD)
    assert heights.keys() == set(WORLD.facts())
    expected = {
        ("link", ("a", "b")): 0, ("path", ("a", "c")): 0, ("path", ("a", "d")): 2,
        ("near", ("a", "b")): 1, ("near", ("b", "a")): 2, ("near", ("a", "d")): 3,
        ("hot", ("d",)): 0, ("hot", ("a",)): 1, ("p", ("a",)): 2, ("q", ("a",)): 3,
        ("twice", ("a", 80)): 2, ("number", ("b", 2)): 1, ("calm", ()): 1,
    }  # fmt: skip
    assert {fact: heights[fact] for fact in expected} == expected
    seen = [one for one in every if one.head == ("seen", ("b",))]
    assert [one.uses for one in seen] == [(("reading", ("b", 50)), ("link", ("a", "b")))]
    assert sum(one.head == ("near", ("b", "b")) for one in every) == 5
