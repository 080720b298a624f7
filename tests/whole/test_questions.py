"""Questions need a session and no more: a knowledge base is one of those that can be asked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zodiac_sql.database.open_store import open_store
from zodiac_sql.errors import BusyError
from zodiac_sql.questions import Questions
from zodiac_sql.session import Session

if TYPE_CHECKING:
    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

ASKED: dict[str, Callable[[Questions], object]] = {
    "sql": lambda some: some.sql("SELECT * FROM q ORDER BY ALL").fetchall(),
    "query": lambda some: sorted(some.query("p(X, Y), q(Y)").fetchall()),
    "table": lambda some: sorted(some.table("q").fetchall()),
    "why": lambda some: str(some.why("q(a)")),
    "why_not": lambda some: str(some.why_not("q(z)")),
    "rules": lambda some: some.rules()["rule"].to_pylist(),
    "hypernodes": lambda some: some.hypernodes().fetchall(),
    "predicates": lambda some: sorted(some.predicates().fetchall()),
    "changes": lambda some: [*some.changes(since=0)],
    "explain": lambda some: some.explain().hypernodes["inserted"].to_pylist(),
    "profile": lambda some: some.profile(from_scratch=True).rules["scratch_facts"].to_pylist(),
    "verify": lambda some: bool(some.verify()),
}


@pytest.mark.parametrize("verb", ASKED)
def test_a_session_can_be_asked_beside_a_knowledge_base(
    open_kb: OpenKb, tmp_path: Path, verb: str
) -> None:
    """It finds what is published, whoever has published it."""
    ask, file = ASKED[verb], tmp_path / "asked.duckdb"
    with open_kb(file) as kb:
        kb.add_rules("q(X) :- p(X, _).")
        kb.keep_feed()
        kb.insert("p", [("a", "b")])
        with closing(Session(partial(open_store, file, threads=1))) as session:
            questions = Questions(session)
            before = ask(questions)
            assert before == ask(kb)
            kb.insert("p", [("b", "a")])
            assert ask(questions) == ask(kb)
            assert (ask(kb) == before) is (verb in ("why", "why_not", "rules", "verify"))


def test_its_calls_are_guarded(open_kb: OpenKb, tmp_path: Path) -> None:
    file = tmp_path / "guarded.duckdb"
    open_kb(file).close()
    with closing(Session(partial(open_store, file, threads=1))) as session:
        questions = Questions(session)

        def ask(*_: object) -> None:
            questions.table("p")

        session.trace(ask)
        with pytest.raises(BusyError, match="within a call of itself"):
            questions.sql("SELECT 1")
