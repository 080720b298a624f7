"""What verbs have asked for stays as it is while the update is carried out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import deepcopy

import pytest

from zodiac_sql import KnowledgeBase, ProgramError, connect
from zodiac_sql.change.update import Update

RULES = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z)."


def asked(update: Update) -> list[object]:
    """All of a request but its rules, whose columns are put in their places."""
    request = update._collected.request
    names = set(request.__slots__) - {"rules"}
    return [deepcopy(getattr(request, name)) for name in sorted(names)]


def rules_with_facts(update: Update) -> None:
    update.add_rules("far(X) :- path(X, _). edge(7, 8). edge(8, 9). new(a, 1.5).")
    update.insert("edge", [(3, 4)])


def beside_rules(update: Update) -> None:
    update.insert("free", [(5,)])
    update.record("stream", 3)


def of_rules(update: Update) -> None:
    update.delete("edge", [(1, 2)])
    update.insert("edge", [(4, 5)])


def fractions(update: Update) -> None:
    update.insert("free", [(6,)])
    update.add_rules("free(0.5).")


@pytest.mark.parametrize("ask", [rules_with_facts, beside_rules, of_rules, fractions])
@pytest.mark.parametrize("begin", [KnowledgeBase.update, KnowledgeBase.preview])
def test_nothing_changes_it(
    ask: Callable[[Update], None], begin: Callable[[KnowledgeBase], AbstractContextManager[Update]]
) -> None:
    with connect(strategy="lookups") as kb:
        kb.add_rules(RULES)
        kb.insert("edge", [(1, 2), (2, 3)])
        kb.insert("free", [(1,), (2,)])
        with begin(kb) as update:
            ask(update)
            before = asked(update)
        assert asked(update) == before


def test_a_refused_one_has_not_changed_either() -> None:
    with connect() as kb:
        with pytest.raises(ProgramError), kb.update() as update:
            rules_with_facts(update)
            update.add_rules("q(X) :- not path(X, X).")
            before = asked(update)
        assert asked(update) == before
