"""What each rule took in a change, by whatever operators it was carried out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase
    from zodiac_sql.change.change import Change

OpenKb = Callable[..., "KnowledgeBase"]

RULES = """
copied: link(X, Y) :- arc(X, Y).
begun: path(X, Y) :- link(X, Y).
prolonged: path(X, Z) :- path(X, Y), link(Y, Z).
even(0).
odd: odd(Y) :- even(X), next(X, Y).
even: even(Y) :- odd(X), next(X, Y).
turned: near(X, Y) :- near(Y, X).
joined: near(X, Z) :- near(X, Y), near(Y, Z).
near: near(X, Y) :- link(X, Y), X < 3.
shortest: far(Y, MIN(D)) :- far(X, E), link(X, Y), D = E + 1.
start: far(0, MIN(D)) :- arc(0, _), D = 0.
many: many(X, N) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS N.
lonely: lonely(X) :- arc(X, _), not path(X, X).
cycle: cycle(X, Y, Z) :- link(X, Y), link(Y, Z), link(Z, X).
up: s(X) :- t(X), link(X, _).
down: t(X) :- s(Y), link(X, Y).
side: s(Y) :- s(X), link(X, Y).
seed: s(X) :- start(X).
"""
"""Rules alone and several together, closures of both kinds, best values, groups, a cycle."""


def require_told(change: Change, names: set[str]) -> None:
    """Each rule of a hypernode with work is told once, and no time twice."""
    stats = change.stats
    told = [one.rule for one in stats.rules]
    assert len(told) == len(set(told))
    for name, done in stats.hypernodes.items():
        rules = [one for one in stats.rules if one.hypernode == name]
        here = {rule.name for rule in change.after.by_name[name].rules}
        assert here <= {one.rule for one in rules} <= names
        assert all(one.operator and one.rounds == done.iterations for one in rules)
        alone = sum(one.seconds - one.seconds_together for one in rules)
        longest = max(one.seconds_together for one in rules)
        assert 0 <= alone <= alone + longest <= done.seconds + 1e-9
        for one in rules:
            assert bool(one.together) >= bool(one.seconds_together) >= 0
            assert one.rule not in one.together and set(one.together) <= names
            assert (one.read or 0) >= 0 and (one.derived or 0) >= 0
        if len(rules) == 1:
            assert rules[0].seconds == done.seconds and not rules[0].together


@pytest.mark.parametrize("hypertree", [False, True])
def test_all_that_took_time_is_told(open_kb: OpenKb, strategy: str, hypertree: bool) -> None:
    rng = random.Random(f"{strategy} {hypertree}")
    with open_kb(strategy=strategy, hypertree=hypertree) as kb:
        with kb.update() as update:
            update.add_rules(RULES)
            update.insert("arc", [(i, i + 1) for i in range(12)] + [(9, 3), (2, 0)])
            update.insert("next", [(i, i + 1) for i in range(12)])
            update.insert("start", [(5,)])
        names = {*kb.rules()["name"].to_pylist()}
        require_told(update.change, names)
        assert {one.rule for one in update.change.stats.rules} == names
        for _ in range(12):
            edge = rng.choice([(a, b) for a in range(12) for b in range(12) if a != b])
            name = rng.choice(["arc", "next", "start"])
            rows = [edge] if name != "start" else [edge[:1]]
            change = rng.choice([kb.insert, kb.delete])(name, rows)
            require_told(change, names)
            assert {one.hypernode for one in change.stats.rules} == {*change.stats.hypernodes}
        assert kb.verify()


def test_what_is_read_and_derived(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("hot: hot(X, Y) :- warm(X), near(X, Y), not cold(Y).")
        with kb.update() as update:
            update.insert("warm", [(i,) for i in range(10)])
            update.insert("near", [(i, i + 1) for i in range(10)])
            update.insert("cold", [(3,)])
        (hot,) = update.change.stats.rules
        assert (hot.read, hot.derived) == (10 + 10 + 1, 9)
        (hot,) = kb.insert("warm", [(20,)]).stats.rules
        assert (hot.read, hot.derived) == (1 + 10 + 1, 0)


def test_rules_of_one_statement_share_its_time(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("odd: odd(Y) :- even(X), next(X, Y). even: even(Y) :- odd(X), next(X, Y).")
        with kb.update() as update:
            update.insert("even", [(0,)])
            update.insert("next", [(i, i + 1) for i in range(9)])
        odd, even = update.change.stats.rules
        assert odd.operator == "tagged" and odd.seconds == odd.seconds_together == even.seconds
        assert {odd.rule: odd.together, even.rule: even.together} == {
            "odd": ["even"],
            "even": ["odd"],
        }
        assert odd.read is None


def test_nodes_of_trees_are_their_rule(open_kb: OpenKb) -> None:
    with open_kb(hypertree=True) as kb:
        pairs = list(combinations(range(6), 2))
        for name in "abc":
            kb.insert(name, [*pairs, *((y, x) for x, y in pairs)])
        kb.insert("t2", [(1,), (2,)])
        change = kb.add_rules(
            "tri: t(X, Y, Z) :- a(X, Y), b(Y, Z), c(Z, X), t2(X).\nlow: t2(X) :- t(X, _, _)."
        )
        assert {one.rule for one in change.stats.rules} == {"tri", "low"}
        assert not {o for one in change.stats.rules for o in one.together} - {"tri", "low"}
        change = kb.delete("a", [(1, 2)])
        assert {one.rule for one in change.stats.rules} == {"tri", "low"}


def test_a_rule_that_goes(open_kb: OpenKb) -> None:
    """It is applied to find what goes with it, if others derive the same predicate with it."""
    with open_kb(strategy="support") as kb:
        kb.add_rules("""
            one: p(X) :- p(Y), next(Y, X). two: p(X) :- p(Y), leap(Y, X). three: p(X) :- p(X), q(X).
            p(0).
        """)
        kb.insert("next", [(i, i + 1) for i in range(20)])
        kb.insert("leap", [(5, 9), (9, 30)])
        change = kb.drop_rules("two")
        assert change.deleted == {"p": 1}
        assert {one.rule for one in change.stats.rules} >= {"one", "three"}
        assert {one.rule for one in change.stats.rules} <= {"one", "two", "three"}


def test_a_preview_tells_it_too(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.insert("q", [(1,)])
        with kb.preview() as preview:
            preview.add_rules("r: p(X) :- q(X).")
        (rule,) = preview.change.stats.rules
        assert rule.rule == "r" and rule.seconds > 0


def test_tables(open_kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    with open_kb() as kb:
        with kb.update() as update:
            update.add_rules(RULES)
            update.insert("next", [(i, i + 1) for i in range(9)])
            update.insert("arc", [(0, 1)])
        stats = update.change.stats
        shown = str(stats)
        assert "odd (with even)" in shown and "publish" in shown and "HypernodeStats" not in shown
        assert (
            "<td>odd (with even)</td>" in stats._repr_html_() and "<table>" in stats._repr_html_()
        )
        told = stats.to_dict()
        assert json.loads(json.dumps(told)) == told
        listed = {one["rule"] for done in told["hypernodes"].values() for one in done["rules"]}
        assert listed == {one.rule for one in stats.rules}
        assert "rule" not in str(kb.insert("unread", [(1,)]).stats)
