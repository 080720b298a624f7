"""The same goals, asked again and again while facts, rules and columns change.

What is remembered of them (read/query.py) must fit the state. The oracle is a knowledge base that
was opened just now, which remembers nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import budget

from zodiac_sql.errors import ZodiacError

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

RULES = (
    "path: path(X, Y) :- edge(X, Y).",
    "longer: path(X, Z) :- path(X, Y), edge(Y, Z).",
    "back: edge(X, Y) :- edge(Y, X).",
    "lone: lone(X) :- node(X), not edge(X, X).",
    "many: many(X, C) :- AGGREGATE(path(X, Y)) ON X WITH COUNT(Y) AS C.",
    "odd: odd(X) :- value(X, V), V > 3.",
)
GOALS = (
    "path(X, Y)",
    "path(a, X)",
    "path(new, X)",
    'path(X, "b")',
    "edge(X, X)",
    "edge(X, Y), not edge(Y, X)",
    "lone(X)",
    "node(X), not path(X, X)",
    "many(X, C), C > 2",
    "value(X, V), V > 3",
    "value(X, V), value(Y, V), X != Y",
    "odd(X) or lone(X)",
    "AGGREGATE(value(X, V)) WITH SUM(V) AS S",
    "value(X, V), W = V + 1",
    "node(a)",
    "value(X, 2.5)",
)
NAMES = ("a", "b", "c", "d", "new")


def change(kb: KnowledgeBase, chance: random.Random) -> None:
    """One change, which may be refused."""
    kind = chance.randrange(9)
    pair = (chance.choice(NAMES[: chance.choice((3, 5))]), chance.choice(NAMES[:4]))
    if kind < 3:
        kb.insert("edge", [pair])
    elif kind == 3:
        kb.delete("edge", [pair])
    elif kind == 4:
        kb.replace("node", [(name,) for name in NAMES if chance.random() < 0.5])
    elif kind == 5:
        value = chance.choice((1, 4, 9, 2.5, "text", 2.5))
        kb.insert("value", [(pair[0], value)])
    elif kind == 6:
        kb.replace("value", [(name, 5) for name in NAMES if chance.random() < 0.3])
    elif kind == 7:
        kb.add_rules(chance.choice(RULES), replace=True)
    else:
        kb.drop_rules(chance.choice(RULES).partition(":")[0])


def asked(kb: KnowledgeBase, goals: str) -> object:
    """An answer, or what is wrong with the goals."""
    try:
        answer = kb.query(goals)
    except ZodiacError as error:
        return type(error), str(error)
    return answer.schema, sorted(answer.fetchall(), key=repr), answer.notes


@pytest.mark.fuzz
def test_as_if_asked_for_the_first_time(tmp_path: Path, open_kb: OpenKb) -> None:
    chance = random.Random(budget.seed(2103))
    kb = open_kb(tmp_path / "a.duckdb")
    kb.add_rules("\n".join(RULES[:3]))
    kb.insert("edge", [("a", "b")])
    kb.insert("value", [("a", 1)])
    kb.insert("node", [("a",)])
    with kb.reader() as reader:
        for _ in range(budget.either(ci=20, fuzz=80)):
            try:
                change(kb, chance)
            except ZodiacError:
                budget.tried("refused changes")
            with open_kb(tmp_path / "a.duckdb") as anew:
                for goals in chance.sample(GOALS, 8):
                    expected = asked(anew, goals)
                    assert asked(kb, goals) == expected, goals
                    assert asked(reader, goals) == expected, goals  # type: ignore[arg-type]
                    budget.tried("goals asked again")


def test_a_function_that_is_registered_anew(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.insert("value", [("a", 1)])
    with pytest.raises(ZodiacError, match="twice"):
        kb.query("value(X, V), W = twice(V)")

    def twice(x: int) -> int:
        return 2 * x

    kb.register_function("twice", twice)
    assert kb.query("value(X, V), W = twice(V)").fetchall() == [("a", 1, 2)]
    kb.insert("value", [("b", 2)])
    assert len(kb.query("value(X, V), W = twice(V)")) == 2
