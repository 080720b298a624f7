"""What an update has used is freed when it is over, and does not wait for Python's search for
garbage: on a device, thousands of updates would come first."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from zodiac_sql import KnowledgeBase, ZodiacError

RULES = """
hot(X) :- reading(X, T), T > 80.
alarm(X) :- hot(X), not quiet(X).
path(X, Y) :- next(X, Y).
path(X, Z) :- path(X, Y), next(Y, Z).
near(X, Y) :- next(X, Y).
near(X, Y) :- near(Y, X).
near(X, Z) :- near(X, Y), near(Y, Z).
count(X, N) :- AGGREGATE(reading(X, T)) ON X WITH COUNT(T) AS N.
least(X, MIN(T)) :- reading(X, T).
"""


@contextmanager
def _search(found: list[type]) -> Iterator[None]:
    """Collect what a search for garbage after the block finds, of objects of this package.

    (Trees of statements refer to themselves. They are made once, and then there is their text.)
    """
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield
        gc.collect()
        kinds = [type(one) for one in gc.garbage]
        found += [kind for kind in kinds if kind.__module__.startswith("zodiac_sql")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _look(kb: KnowledgeBase) -> None:
    change = kb.insert("reading", [("b", 95)])
    assert "alarm" in str(change)
    assert list(change.inserted) and change._repr_html_()


def _preview(kb: KnowledgeBase) -> None:
    with kb.preview() as update:
        update.insert("reading", [("c", 99)])


def _fail(kb: KnowledgeBase) -> None:
    with pytest.raises(ZodiacError):
        kb.add_rules("hot(X :-")


def _together(kb: KnowledgeBase) -> None:
    with kb.update() as update:
        update.insert("next", [("d", "e")])
        update.delete("next", [("a", "b")])


CHANGES = (
    lambda kb: kb.insert("reading", [("a", 90)]),
    lambda kb: kb.delete("reading", [("a", 90)]),
    lambda kb: kb.insert("free", [("f",)]),
    lambda kb: kb.insert("brand new", [("f",)]),
    lambda kb: kb.delete("next", [("b", "c")]),
    lambda kb: kb.insert("next", [("c", "d")]),
    lambda kb: kb.add_rules("cold(X) :- reading(X, T), T < 10."),
    _look,
    _preview,
    _fail,
    _together,
    lambda kb: kb.drop_rules("alarm(X) :- hot(X), not quiet(X)."),
)


def test_an_update_leaves_no_garbage(open_kb: Any) -> None:
    gc.collect()
    gc.freeze()  # what other tests have left need not be looked through each time
    kb = open_kb()
    kb.add_rules(RULES)
    kb.insert("next", [("a", "b"), ("b", "c")])
    kb.insert("free", [("e",)])
    kb.insert("quiet", [("a",)])
    for row in (("a", 10), ("c", 5)):
        kb.insert("reading", [row])
        kb.delete("reading", [("c", 5)])
    for number, change in enumerate(CHANGES):
        found: list[type] = []
        with _search(found):
            change(kb)
        assert found == [], number
