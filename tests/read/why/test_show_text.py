"""Explanations as trees of text: what a person reads in a terminal."""

from __future__ import annotations

import time

from support.explanations import (
    absent,
    chain,
    fact,
    nasty,
    proof,
    several,
    step,
    wide,
    wind_farm,
)

from zodiac_sql.language.syntax import Type
from zodiac_sql.read.why.proof import Explanation, Group, Step


def text(expected: str) -> str:
    """The expected text without the line breaks around it."""
    return expected.strip("\n")


def test_chain() -> None:
    assert str(chain(3)) == text("""
path(0, 3)
│  by p2: path(X, Z) :- path(X, Y), link(Y, Z).
├─ path(0, 2)
│  │  by p2: path(X, Z) :- path(X, Y), link(Y, Z).
│  ├─ path(0, 1)
│  │  │  by p1: path(X, Y) :- link(X, Y).
│  │  └─ link(0, 1)  explicit
│  └─ link(1, 2)  explicit
└─ link(2, 3)  explicit
""")


def test_explicit_goal() -> None:
    assert str(proof(fact("link", 0, 1), {})) == "link(0, 1)  explicit"


def test_rule_without_a_body() -> None:
    explanation = proof(fact("on"), {fact("on"): step("r1: on().")})
    assert str(explanation) == "on()\n   by r1: on()."


def test_nothing() -> None:
    assert str(Explanation((), {}, frozenset())) == "nothing to explain"


def test_repr_is_the_same() -> None:
    assert repr(chain(3)) == str(chain(3))


def test_shared_part_stands_once() -> None:
    goal, left, right, shared = (fact(name, 1) for name in ("goal", "left", "right", "shared"))
    explanation = proof(
        goal,
        {
            goal: step("g: goal(X) :- left(X), right(X).", left, right),
            left: step("l: left(X) :- shared(X), base(X).", shared, fact("base", 1)),
            right: step("r: right(X) :- shared(X), base(X).", shared, fact("base", 1)),
            shared: step("s: shared(X) :- base(X).", fact("base", 1)),
        },
    )
    assert str(explanation) == text("""
goal(1)
│  by g: goal(X) :- left(X), right(X).
├─ left(1)
│  │  by l: left(X) :- shared(X), base(X).
│  ├─ shared(1)
│  │  │  by s: shared(X) :- base(X).
│  │  └─ base(1)  explicit
│  └─ base(1)  explicit
└─ right(1)
   │  by r: right(X) :- shared(X), base(X).
   ├─ shared(1)  see above
   └─ base(1)  explicit
""")


def test_several_goals_share_too() -> None:
    explanation = chain(2)
    goals = (fact("path", 0, 2), fact("path", 0, 1))
    both = Explanation(goals, explanation.derivations, explanation.explicit)
    assert str(both) == f"{explanation}\n\npath(0, 1)  see above"


def test_negation_values_comparisons_and_a_group() -> None:
    assert str(wind_farm()) == text(
        """
anomaly(wt2)
│  by r5: anomaly(X) :- usual(X, M), hasTemperature(X, T), not maintenance(X, _), """
        """BIND(abs(T - M) AS D), D > 5.
├─ usual(wt2, 11.5)
│  │  by r4: usual(X, M) :- AGGREGATE(near(X, Y), hasTemperature(Y, T)) ON X WITH MED(T) AS M.
│  └─ M = 11.5 = med(T) of 4 solutions with X = wt2
│     ├─ near(wt2, wt1), hasTemperature(wt1, 11.0)
│     ├─ near(wt2, wt3), hasTemperature(wt3, 12.0)
│     └─ … 2 more
├─ hasTemperature(wt2, 24.5)  explicit
├─ not maintenance(wt2, _)  absent
├─ D = abs((24.5 - 11.5)) = 13.0
└─ 13.0 > 5  (D > 5)
"""
    )


def test_members_of_a_group_are_explained_if_they_were_asked_for() -> None:
    goal, member = fact("many", 1), fact("near", "a", "b")
    group = Group("count(Y)", "N", 1, Type.INT, (), 1, ((member,),))
    explanation = proof(
        goal,
        {
            goal: step("m: many(N) :- AGGREGATE(near(X, Y)) WITH COUNT(Y) AS N.", groups=(group,)),
            member: step("n: near(X, Y) :- link(X, Y).", fact("link", "a", "b")),
        },
    )
    assert str(explanation) == text("""
many(1)
│  by m: many(N) :- AGGREGATE(near(X, Y)) WITH COUNT(Y) AS N.
└─ N = 1 = count(Y) of 1 solution
   └─ near(a, b)
      └─ near(a, b)
         │  by n: near(X, Y) :- link(X, Y).
         └─ link(a, b)  explicit
""")


def test_path_whose_facts_may_be_passed_backwards() -> None:
    goal = fact("near", "a", "d")
    links = (fact("link", "a", "b"), fact("link", "c", "b"), fact("link", "c", "d"))
    path = Step("path", "n2, n3", "near(X, Y) :- near(Y, X). near(X, Z) :- …", links)
    assert str(proof(goal, {goal: path})) == text("""
near(a, d)
│  by a path over n2, n3: near(X, Y) :- near(Y, X). near(X, Z) :- …
├─ link(a, b)  explicit
├─ link(c, b)  backwards, explicit
└─ link(c, d)  explicit
""")


def test_several_derivations_with_a_cycle() -> None:
    """Facts that were not asked for say how to ask; a cycle ends where it closes."""
    assert str(several()) == text("""
near(a, b)  explicit
├─ 1. by r1: near(X, Y) :- link(X, Y).
│  └─ link(a, b)  explicit
├─ 2. by r2: near(X, Y) :- near(Y, X).
│  └─ near(b, a)
│     │  by r2: near(X, Y) :- near(Y, X).
│     └─ near(a, b)  explicit, a cycle, see above
├─ 3. by r3: near(X, Z) :- near(X, Y), near(Y, Z).
│  ├─ near(a, c)  not explained here: kb.why("near(a, c)", all=True)
│  └─ near(c, b)  not explained here: kb.why("near(c, b)", all=True)
└─ … there are more derivations: a higher limit shows them
""")


def test_height() -> None:
    """A cycle has no longest way: it ends where it closes."""
    assert [chain(length).height for length in (1, 3, 1000)] == [1, 3, 1000]
    assert several().height == 0 and proof(fact("p"), {}).height == 0
    goal = fact("p", 1)
    turns = {goal: (step("r: p(X) :- p(X), q(X).", goal, fact("q", 1)),)}
    assert Explanation((goal,), turns, frozenset(), every=True).height == 1


# Large ones


def test_wide_step_is_folded() -> None:
    lines = str(wide(1000)).splitlines()
    assert lines[:3] == ["all()", "│  by w: all() :- items.", "├─ item(0)  explicit"]
    assert lines[-2:] == [
        "├─ item(19)  explicit",
        '└─ … 980 more facts  (all of them: kb.why("all()").json())',
    ]
    assert len(lines) == 23


def test_many_absences_are_folded() -> None:
    goal = fact("alone", "a")
    none = tuple(absent("near", "a", number) for number in range(30))
    (*_, last) = str(proof(goal, {goal: step("r: alone(X).", absent=none)})).splitlines()
    assert last == '└─ … 10 more absent  (all of them: kb.why("alone(a)").json())'


def test_deep_proof_is_folded() -> None:
    lines = str(chain(100)).splitlines()
    (folded,) = [line for line in lines if "…" in line]
    assert folded.endswith('path(0, 76)  … 151 facts below: kb.why("path(0, 76)")')
    assert max(map(len, lines)) < 150 and lines[-1] == "└─ link(99, 100)  explicit"


def test_very_deep_proof_is_folded_and_not_counted_to_its_end() -> None:
    start = time.perf_counter()
    (folded,) = [line for line in str(chain(1000)).splitlines() if "…" in line]
    assert folded.endswith('path(0, 976)  … more than 200 facts below: kb.why("path(0, 976)")')
    assert time.perf_counter() - start < 1


def test_wide_and_deep_proof_stays_readable() -> None:
    """Each fact rests on ten others: those nearest to the goal are shown."""
    steps = {}
    for number in range(1000):
        uses = [fact("p", 10 * number + k) for k in range(1, 11)]
        steps[fact("p", number)] = step("r: p(X) :- ten.", *uses)
    lines = str(proof(fact("p", 0), steps)).splitlines()
    assert len(lines) == 1 + 600 + 60  # the goal, ten below each of 60 facts, and their rules
    assert sum("below: kb.why" in line for line in lines) == 600 - 59


def test_shared_part_that_is_too_deep_is_shown_where_it_is_not() -> None:
    """What is folded at one place does not count as shown: no line refers to it."""
    explanation = chain(40)
    goal, low = fact("goal"), fact("path", 0, 5)
    steps = {head: one for head, (one,) in explanation.derivations.items()}
    both = proof(
        goal,
        {**steps, goal: step("g: goal() :- path(0, 40), path(0, 5).", fact("path", 0, 40), low)},
    )
    lines = str(both).splitlines()
    place = lines.index("└─ path(0, 5)")
    assert lines[place + 1] == "   │  by p2: path(X, Z) :- path(X, Y), link(Y, Z)."


# Nasty texts


def test_text_has_one_line_per_part_and_no_control_characters() -> None:
    shown = str(nasty())
    assert "<script>" in shown and "🌬️" in shown
    assert all(line[:1] in "`├└│ " for line in shown.splitlines())
    assert not {c for c in shown if c < " " and c != "\n"} and "\u202e" not in shown


def test_what_to_type_is_python() -> None:
    goal, quoted = fact("p"), fact("q", 'say "hi"')
    (step_,) = (step("r: p() :- q(X).", quoted),)
    explanation = Explanation((goal,), {goal: (step_,)}, frozenset())
    *_, last = str(explanation).splitlines()
    assert last == """└─ q("say \\"hi\\"")  not explained here: kb.why('q("say \\\\"hi\\\\"")')"""
    assert eval(last.split("kb.why(")[1].removesuffix(")")) == str(quoted)


def test_long_values_are_cut() -> None:
    shown = str(nasty("x" * 10_000))
    assert max(map(len, shown.splitlines())) < 450
