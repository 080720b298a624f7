"""Let small tables be treated as large ones are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module

import pytest
from support.forced import AnyFirst

from zodiac_sql.evaluate import registry as evaluate
from zodiac_sql.maintain import registry

# Where the package goes another way from so many rows on, and what lets few rows go it, too.
THRESHOLDS: tuple[tuple[str, str, object], ...] = (
    ("cost.closures", "LEAST_PAIRS", 0),
    ("cost.closures", "LEAST_GAIN", 0),
    ("cost.choose_trees", "_may_pay", lambda _: True),
    ("cost.choose_trees", "_pays", lambda whole, _: whole > 0),
    ("cost.join_steps", "MARGIN", 0),
    ("cost.join_steps", "COUNTING", 0),
    ("evaluate.early_projection", "is_worth_counting", lambda *_: True),
    ("evaluate.operators.statement", "pays", lambda *_: True),
    ("evaluate.partition.components", "ROUND", -1),
    ("evaluate.layers", "FEWEST_ROWS", 0),
    ("evaluate.layers", "LEAST_EDGES_TO_A_NODE", 0),
    ("evaluate.layers", "MARGIN", 0),
    ("evaluate.compared_layers", "MARGIN", 0),
    ("evaluate.rest_at_once", "LONGER", 1),
    ("evaluate.semi_naive", "are_told_apart_later", lambda known, new: 2 * new <= known),
    ("evaluate.stepping", "is_read_long", lambda _: True),
    ("evaluate.stepping", "joins_all", lambda heads, _: heads == 0),
    ("maintain.operators.products", "is_worth_counting", lambda *_: True),
    ("cost.rounds", "JOINED", 0),
    ("cost.rounds", "ROUND", 0),
    ("cost.rounds", "PLANNED_BODY", 0),
    ("cost.rounds", "HASHED", 3e-6),  # so that it takes three rounds
    ("cost.rounds", "SPELLED", 0),
    ("maintain.steps.find_candidates", "is_large", lambda _: True),
    ("maintain.steps.one_edge", "FEWEST", 0),
    ("maintain.steps.overdelete", "is_read_long", lambda _: True),
    ("cost.moves", "is_read_long", lambda _: True),
    ("maintain.steps.slices", "is_large", lambda _: True),
    ("storage.extensions", "MOST_DISJOINT_PARTS", 0),
    ("facts.stage", "MOST_AS_PARAMETERS", 0),
    ("cost.products", "is_worth_counting", lambda *_: True),
    ("cost.products", "COUNTING", 0),
    ("cost.products", "is_large", lambda _: True),
    ("cost.products", "MARGIN", 0),
    ("cost.products", "JOIN_ROW", 200e-6),  # some changes then look for candidates, and some do not
    ("cost.products", "CHECKED_ROW", 1e3),
    ("sql.reducer", "FEWEST_FIRST_ROWS", 0),
    ("cost.statistics", "SAMPLE_ROWS", 1),
    ("sql.set_difference", "SEMI_JOIN_ROWS", 0),
    ("change.temporary_tables", "LARGEST_LEFT_BEHIND", 0),
)


@contextmanager
def as_if_large(
    really: bool, forced: Iterable[str] | None = None, from_scratch: Iterable[str] = ()
) -> Iterator[None]:
    """Treats all tables as large ones, or not. Some operators run first then, or any."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in THRESHOLDS if really else ():
            patch.setattr(import_module(f"zodiac_sql.{module}"), name, value)
        if really:
            any_first = forced is None
            patch.setattr(registry, "FORCED", AnyFirst(registry.OPERATORS) if any_first else forced)
            ways = evaluate.OPERATORS
            patch.setattr(evaluate, "FORCED", AnyFirst(ways) if any_first else from_scratch)
        yield
