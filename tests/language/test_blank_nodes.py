"""Blank nodes are written in goals, queries, rules and facts as answers write them."""

from __future__ import annotations

from pathlib import Path

import pytest

import zodiac_sql
from zodiac_sql import KnowledgeBase
from zodiac_sql.errors import ProgramError, QueryError

RULES = "@prefix ex: <http://e/> . q(X) :- ex:p(X, _). c1: !- q(X)."


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    (tmp_path / "b.ttl").write_text("@prefix ex: <http://e/> . _:x ex:p ex:a .")
    kb = zodiac_sql.connect()
    kb.load(tmp_path / "b.ttl")
    kb.add_rules(RULES, check=False)
    return kb


def test_goals_and_queries(kb: KnowledgeBase) -> None:
    ((node,),) = kb.table("q").fetchall()
    assert node.startswith("_:")
    for goal in (f"q({node})", kb.violations().to_pylist()[0]["fact"]):
        assert kb.why(goal).goals
    assert "holds" in str(kb.why_not(f"q({node})"))
    assert kb.query(f"<http://e/p>({node}, X)").fetchall() == [("http://e/a",)]
    with pytest.raises(QueryError, match="does not hold"):
        kb.why("q(_:another)")


def test_rules_and_facts(kb: KnowledgeBase) -> None:
    ((node,),) = kb.table("q").fetchall()
    kb.add_rules(f"known({node}). known(_:b.1-2). both(X) :- known(X), X = {node}.")
    assert sorted(kb.table("known").fetchall()) == sorted([(node,), ("_:b.1-2",)])
    assert kb.table("both").fetchall() == [(node,)]
    kb.insert("known", [(node,)])
    assert len(kb.table("known")) == 2
    assert kb.verify()


def test_no_predicate_is_a_blank_node(kb: KnowledgeBase) -> None:
    with pytest.raises(ProgramError, match="prefix `_:` is not declared"):
        kb.add_rules("r(X) :- _:p(X).")
