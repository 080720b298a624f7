"""A constant of another type than its column: `query`, `why` and `why_not` say the same of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.errors import ProgramError, QueryError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

XSD = "http://www.w3.org/2001/XMLSchema#"
LARGE = 2**53
VALUES = {
    "int": [1, 3, LARGE, LARGE + 1],
    "float": [0.5, 3.0, float(LARGE)],
    "symbol": ["a", "3"],
    "date": [dt.date(2024, 1, 31)],
    "timestamp": [dt.datetime(2024, 1, 31)],
    "bool": [True],
}
CONSTANTS = [
    "3", "0", f"{LARGE}", f"{LARGE + 1}", f"{2**63 - 1}", "3.0", "0.5", "1e300", f"{LARGE}.0",
    "a", '"3"', '"2024-01-31"', '"2024-01-31T00:00:00"', '"true"', "true", "false",
    f'"2024-01-31"^^<{XSD}date>', f'"2024-01-31T00:00:00"^^<{XSD}dateTime>',
    f'"NaN"^^<{XSD}double>', f'"INF"^^<{XSD}double>', '"3"@en', "<http://e/3>",
]  # fmt: skip


GOALS = ("given_{type}({constant})", "pair_{type}(X, {constant})", "pair_{type}({constant}, _)")


@pytest.fixture(scope="module")
def kb(open_kb: OpenKb) -> Iterator[KnowledgeBase]:
    with open_kb() as kb:
        for type_, values in VALUES.items():
            kb.insert(f"given_{type_}", [(value,) for value in values])
            kb.add_rules(f"pair_{type_}(X, Y) :- given_{type_}(X), given_{type_}(Y).")
        yield kb


@pytest.mark.parametrize("type_", VALUES)
def test_every_type_of_constants_for_every_type_of_columns(kb: KnowledgeBase, type_: str) -> None:
    refused = 0
    for constant, form in product(CONSTANTS, GOALS):
        goal = form.format(type=type_, constant=constant)
        try:
            holds = len(kb.query(goal)) > 0
        except ProgramError as error:
            refused += 1
            for verb in (kb.why, kb.why_not):
                with pytest.raises(ProgramError) as raised:
                    verb(goal)
                assert str(raised.value) == str(error)
            continue
        assert (" holds:\n" in str(kb.why_not(goal))) == holds, goal
        if holds:
            assert kb.why(goal).goals, goal
        else:
            with pytest.raises(QueryError, match="does not hold: ask why_not"):
                kb.why(goal)
    assert refused


def test_a_float_is_not_rounded_to_an_int(kb: KnowledgeBase) -> None:
    with pytest.raises(QueryError, match="does not hold"):
        kb.why("given_int(2.5)")
    assert str(kb.why("given_int(3.0)")) == "given_int(3)  explicit"
    assert str(kb.why_not("given_int(2.5)")).startswith("given_int(2.5) does not hold")


def test_a_float_that_is_two_ints(kb: KnowledgeBase) -> None:
    """Both are the same float, as a comparison finds, too."""
    assert [fact.values for fact in kb.why(f"given_int({LARGE}.0)").goals] == [
        (LARGE,), (LARGE + 1,)
    ]  # fmt: skip


def test_why_of_a_change(open_kb: OpenKb) -> None:
    with open_kb() as kb:
        kb.add_rules("late(X, T) :- reading(X, T).")
        change = kb.insert(
            "reading", [("a", dt.datetime(2024, 1, 31)), ("b", dt.datetime(2024, 2, 1))]
        )
        with pytest.raises(ProgramError) as told:
            kb.query("late(a, 3)")
        with pytest.raises(ProgramError) as raised:
            change.why("late(a, 3)")
        assert str(raised.value) == str(told.value)
