"""What becomes of rules that compare times with now()."""

from __future__ import annotations

import pytest

from zodiac_sql import connect
from zodiac_sql.language.filters import filtered, with_filters
from zodiac_sql.language.parse import parse

FILTERED = {
    "p(X) :- q(X, A), A > now().": "V2 > now()",
    "p(X) :- q(X, A), add_seconds(now(), -60) <= A.": "V2 >= add_seconds(now(), -60)",
    "p(X) :- q(X, A), A < now(), r(X), A > add_days(now(), -1).": (
        "V2 < now(), V2 > add_days(now(), -1)"
    ),
    'p(X, N) :- AGGREGATE(q(X, A), A >= time_bucket("1 hour", now())) ON X WITH COUNT(A) AS N.': (
        'V2 >= time_bucket("1 hour", now())'
    ),
    "!- q(X, A), A > now().": "V2 > now()",
}


@pytest.mark.parametrize("text", FILTERED)
def test_a_comparison_becomes_a_filter(text: str) -> None:
    program = with_filters(parse(text))
    rule, kept = program.rules
    assert rule.text.strip() == text and "function='now'" not in repr(rule.body)
    shown = f"<{kept.head.predicate}>(V1, V2) :- q(V1, V2), {FILTERED[text]}."
    assert kept.text == shown
    (again,) = parse(kept.text).rules
    assert (again.head, again.body) == (kept.head, kept.body) and filtered(again) == (again, [])
    assert filtered(parse(text).rules[0])[0] == rule


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- q(X, A), epoch(A) > epoch(now()).",
        "p(X, S) :- q(X, A), S = seconds_between(A, now()).",
        "p(X) :- q(X, A), A != now().",
        "p(X) :- q(X, A), r(B), A > add_seconds(now(), B).",
        "p(X) :- ?P(X, A), A > now().",
    ],
)
def test_others_stay_as_they_are(text: str) -> None:
    (rule,) = parse(text).rules
    assert filtered(rule) == (rule, [])


def test_rules_that_say_the_same_share_a_filter() -> None:
    kb = connect()
    kb.add_rules(
        ".decl q(x: symbol, at: timestamp) "
        "a: p(X) :- q(X, A), A > add_seconds(now(), -60). "
        "b: r(Y) :- s(Y), add_seconds(now(),-60) < B, q(x: Y, at: B)."
    )
    names = [name for name, *_ in kb.rules().fetchall()]
    assert names[:2] == ["a", "b"] and len(names) == 3 and names[2].startswith("now:")
    kb.drop_rules("a")
    assert [name for name, *_ in kb.rules().fetchall()] == names[1:]
    change = kb.add_rules("r(Z) :- s(Z), q(Z, C), C > add_seconds(now(), -60).")
    assert "is there already, as b" in change.notes[0] and len(change.notes) == 1
    kb.replace_rules("c: t(X) :- q(X, A), A > add_seconds(now(), -60).", set="other")
    kb.drop_rules("r(Z) :- s(Z), q(Z, C), C > add_seconds(now(), -60).")
    names = {name for name, *_ in kb.rules().fetchall()}
    assert len(names) == 2 and all(name.startswith(("other/c", "other/now:")) for name in names)
    kb.drop_rules(set="other")
    assert kb.rules().num_rows == 0 and kb.verify()
