"""Texts in rules, facts and goals that stand for dates and timestamps, because types say so."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zodiac_sql import ProgramError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

DECLARED = ".decl reading(x: symbol, at: timestamp) .decl day(x: symbol, on: date) "
FACTS = (
    'reading(a, "2026-01-01T00:00:00"). reading(b, "2026-06-01T12:00+02:00"). day(a, "2026-03-01").'
)
NEW_YEAR, JUNE = dt.datetime(2026, 1, 1), dt.datetime(2026, 6, 1, 10)


@pytest.fixture
def kb(open_kb: OpenKb) -> KnowledgeBase:
    found = open_kb()
    found.add_rules(DECLARED + FACTS)
    return found


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ('p(X) :- reading(X, T), T > "2026-02-01".', [("b",)]),
        ('p(X) :- reading(X, T), not T >= "2026-06-01T10:00:00Z".', [("a",)]),
        ('p(X) :- reading(X, "2026-06-01 10:00").', [("b",)]),
        ('p(X) :- day(X, _), not reading(X, "2026-06-01T10:00:00").', [("a",)]),
        ('p(X) :- day(X, D), D < "2026-03-01T00:00:00.000001".', [("a",)]),
        ('p(X, least(T, "2026-01-02T00:00:00")) :- reading(X, T).',
         [("a", NEW_YEAR), ("b", dt.datetime(2026, 1, 2))]),
        ('p(if(T > "2026-02-01", T, "2026-02-01T00:00:00")) :- reading(_, T).',
         [(dt.datetime(2026, 2, 1),), (JUNE,)]),
        ('p(days_between("2026-01-01", T)) :- reading(b, T).', [(151,)]),
        ('p(X, concat(D, "2026-01-01")) :- day(X, D).', [("a", "2026-03-012026-01-01")]),
        ('p(M) :- AGGREGATE(reading(_, T), T < "2026-02-01") WITH MAX(T) AS M.', [(NEW_YEAR,)]),
        ('p(X) :- day(X, D), (D > "2027-01-01" ; D < "2026-12-24T00:00:00").', [("a",)]),
        ('p(X) :- reading(at: "2026-06-01T10:00:00", x: X), X != "2026-06-01T10:00:00".', [("b",)]),
        ('p(X) :- F = "2026-02-01", reading(X, T), T > F, BIND("2027-01-01T00:00:00" AS U), U > T.',
         [("b",)]),
        ('p(X) :- X = "2026-01-01", day(_, _).', [("2026-01-01",)]),
    ],
)  # fmt: skip
def test_texts_in_rules(kb: KnowledgeBase, rule: str, rows: list[tuple[object, ...]]) -> None:
    kb.add_rules(rule)
    assert sorted(kb.table("p").fetchall()) == rows
    assert kb.verify()
    again = kb.add_rules(rule)
    assert not again.inserted and all("is there already" in note for note in again.notes)
    assert kb.drop_rules(rule).deleted == {"p": len(rows)}


def test_the_text_that_is_kept_says_what_it_means(open_kb: OpenKb, tmp_path: Path) -> None:
    """Another version of this library reads it alike, and so does who copies it."""
    with open_kb(tmp_path / "case.duckdb") as kb:
        kb.add_rules(DECLARED + FACTS)
        kb.add_rules(
            'r1: late(X) :- reading(X, T), T > "2026-02-01". !- day(_, D), D > "2030-01-01".'
        )
        texts = [one["rule"] for one in kb.rules().to_pylist()]
    assert texts == [
        'late(X) :- reading(X, T), T > "2026-02-01"^^xsd:date.',
        '!- day(_, D), D > "2030-01-01"^^xsd:date.',
    ]
    with open_kb(tmp_path / "case.duckdb") as kb:
        assert [one["rule"] for one in kb.rules().to_pylist()] == texts
        kb.insert("reading", [("c", "2026-02-02T00:00:00")])
        assert sorted(kb.table("late").fetchall()) == [("b",), ("c",)] and kb.verify()
        assert "is there already" in kb.add_rules('!- day(_, D), D > "2030-01-01".').notes[0]


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_it_makes_no_difference_what_comes_first(open_kb: OpenKb, order: tuple[int, ...]) -> None:
    """Rules may be there before anything tells the types of columns."""
    kb = open_kb()
    parts = [
        lambda: kb.insert("seen", [("a", NEW_YEAR), ("b", JUNE)]),
        lambda: kb.add_rules('late(X, T) :- seen(X, T), T > "2026-02-01T00:00:00".'),
        lambda: kb.add_rules(
            'at("2026-01-01T00:00:00"). two(X) :- late(X, T), T < "2026-07-01".'
            'also("2026-01-01T00:00:00") :- at(_). also(T) :- seen(_, T).'
        ),
    ]
    for part in order:
        parts[part]()
    assert kb.table("two").fetchall() == [("b",)]
    assert sorted(kb.table("also").fetchall()) == [(NEW_YEAR,), (JUNE,)]
    assert kb.verify()


def test_sets_of_rules(kb: KnowledgeBase) -> None:
    text = (
        DECLARED
        + 'reading(s, "2026-02-01T00:00:00"). r1: q(X) :- reading(X, "2026-02-01T00:00:00").'
    )
    assert kb.replace_rules(text, set="heat").inserted["q"] == 1
    same = kb.replace_rules(text, set="heat")
    assert not same.inserted and not same.deleted and not same.stats.hypernodes
    assert kb.verify()
    assert kb.drop_rules(set="heat").deleted["q"] == 1


def test_goals_and_reasons(kb: KnowledgeBase) -> None:
    kb.add_rules('late(X, T) :- reading(X, T), T > "2026-02-01".')
    assert kb.query('reading(X, T), T < "2026-02-01T00:00:00"').fetchall() == [("a", NEW_YEAR)]
    assert kb.query('late(X, "2026-06-01T10:00:00Z")').fetchall() == [("b",)]
    assert "reading(b, " in str(kb.why('late(b, "2026-06-01T10:00:00")'))
    assert "is false" in str(kb.why_not('late(a, "2026-01-01T00:00:00")'))
    change = kb.insert("reading", [("c", "2026-07-01T00:00:00")])
    assert "entered" in str(change.why('late(c, "2026-07-01T00:00:00")'))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('p(X) :- reading(X, T), T > "2026-01-01T00:00:00.1234567".', "finer than microseconds"),
        ('reading(c, "2026-01-01T00:00:00.123456789").', "finer than microseconds"),
        ('p(X) :- reading(X, T), T > "yesterday".', 'is written "2026-01-31T12:30:00"'),
        ('p(X) :- reading(X, "2026-01-01").', 'is written "2026-01-31T12:30:00"'),
        ('day(a, "2026-01-01T00:00").', 'A date is written "2026-01-31"'),
        ('p(X) :- day(X, "9999-12-32").', 'A date is written "2026-01-31"'),
        ('p(X) :- reading(X, "9999-12-31T23:00:00-02:00").', "A time is written"),
    ],
)
def test_other_texts_are_refused(kb: KnowledgeBase, text: str, said: str) -> None:
    before = kb.rules()
    with pytest.raises(ProgramError, match=said):
        kb.add_rules(text)
    assert kb.rules() == before
    body = text.partition(":- ")[2].rstrip(".")
    with pytest.raises(ProgramError, match=said):
        kb.query(body or text.rstrip("."))


def test_a_prefix_of_another_meaning(kb: KnowledgeBase) -> None:
    """Then the text of the rule cannot say so, and nothing is read."""
    with pytest.raises(ProgramError, match="type clash"):
        kb.add_rules(
            '@prefix xsd: <http://other/> . p(X) :- reading(X, T), T > "2026-02-01", not xsd:q(X).'
        )


def test_a_new_predicate_without_columns(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules('alarm() :- BIND("9999-12-31"^^xsd:date AS X), X > "2026-01-01".')
    assert kb.query("alarm()").fetchall() == [(True,)]
