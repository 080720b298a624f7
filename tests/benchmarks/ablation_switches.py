"""Ways to evaluate and to maintain a hypernode that can be switched off, one at a time.

Each is a function that takes the way or declines, at one place in the package, and what it gives
when it declines. A way that is switched off declines always.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

from zodiac_sql.change import registry as of_an_update
from zodiac_sql.cost.operator import Declined, Operator
from zodiac_sql.evaluate import registry as from_scratch
from zodiac_sql.evaluate.early_projection import InSteps
from zodiac_sql.evaluate.stepping import Stepping
from zodiac_sql.maintain import registry as after_a_change
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Plan


@dataclass(frozen=True)
class Place:
    """A name in a module, by which the module calls a function; and what declining gives."""

    module: str
    name: str
    declined: Callable[..., Any]


@dataclass(frozen=True)
class Switch:
    """One way, with all places at which it may be taken."""

    name: str
    places: tuple[Place, ...]


def _no(*_: object, **__: object) -> bool:
    return False


def _none(*_: object, **__: object) -> None:
    return None


def _nothing(*_: object, **__: object) -> tuple[()]:
    return ()


def _no_entry(*_: object, **__: object) -> dict[int, object]:
    return {}


def _no_stepping(*_: object, **__: object) -> Stepping:
    return Stepping({}, {}, {})


def _at_once(
    _store: object, _cache: object, plans: Iterable[Plan], context: Context, *_: object
) -> InSteps:
    return InSteps(tuple(plans), context, ())


def _switch(name: str, declined: Callable[..., Any], *places: str) -> Switch:
    pairs = (place.rsplit(".", 1) for place in places)
    return Switch(name, tuple(Place(f"zodiac_sql.{m}", n, declined) for m, n in pairs))


FROM_SCRATCH = (
    _switch("shared table", _none, "evaluate.operators.rules.shared"),
    _switch("product", _no_entry, "evaluate.run_plans._products"),
    _switch("join tree", _no_entry, "evaluate.run_plans._trees"),
    _switch("shares", _no, "evaluate.operators.statement.pays"),
    _switch("early projection", _at_once, "evaluate.run_plans.in_steps"),
    _switch("stepping", _no_stepping, "evaluate.semi_naive.begin_stepping"),
    _switch("rest at once", _none, "evaluate.semi_naive.way_of"),
    _switch("best values at once", _no, "evaluate.improve.pays_at_once"),
    _switch("components", _none, "change.choose_rewrites.as_components"),
    _switch("partitions", _nothing, "change.choose_rewrites.worthwhile"),
    _switch("hypertrees", _nothing, "change.choose_rewrites._cyclic"),
)  # fmt: skip

AFTER_A_CHANGE = (
    _switch("candidates by product", _none, "maintain.operators.candidates.checks_sooner"),
    _switch("one edge", _none, "maintain.steps.extend.add_one_edge"),
    _switch("slight support", _no, "maintain.operators.support._is_slight"),
    _switch(
        "slices", _none,
        "maintain.steps.extend.slice_tables", "maintain.steps.overdelete.slice_tables",
    ),
    _switch(
        "cascade", _no,
        "maintain.steps.extend.can_cascade", "maintain.steps.overdelete.can_cascade",
    ),
    _switch("beside recursion", _none, "maintain.steps.cascade.beside_recursion"),
)  # fmt: skip

SWITCHES = {one.name: one for one in (*FROM_SCRATCH, *AFTER_A_CHANGE)}

REGISTRIES = (
    ("from scratch", from_scratch),
    ("after a change", after_a_change),
    ("of an update", of_an_update),
)
"""Modules with operators, by when these run. Each operator is a way that may be switched off, but
for those that must be there."""

NEEDED = (
    "best", "candidates", "classes", "components", "dred", "hypernodes", "hypernodes, to the end",
    "loop", "nothing", "recompute", "rules",
)  # fmt: skip
"""Operators without which some hypernodes could not be evaluated or maintained."""

OPERATORS = tuple(
    f"{one.name} {when}"
    for when, where in REGISTRIES
    for one in where.OPERATORS
    if one.name not in NEEDED
)
WAYS = (*SWITCHES, *OPERATORS)
"""The names of all that can be switched off."""

UNTOLD = ("slices",)
"""Switches whose function returns nothing: every call counts."""


@contextmanager
def counted() -> Iterator[set[str]]:
    """Note inside the block which ways are taken."""
    taken = set[str]()
    with ExitStack() as stack:
        for name, (module, at) in _places():
            found = _noting(getattr(module, at), name, taken)
            stack.enter_context(patch.object(module, at, found))
        for when, where in REGISTRIES:
            noting = tuple(_noting_operator(o, f"{o.name} {when}", taken) for o in where.OPERATORS)
            stack.enter_context(patch.object(where, "OPERATORS", noting))
        yield taken


@contextmanager
def without(way: str) -> Iterator[None]:
    """Let one way decline inside the block; with no name, none does."""
    with ExitStack() as stack:
        for place in SWITCHES[way].places if way in SWITCHES else ():
            module = importlib.import_module(place.module)
            stack.enter_context(patch.object(module, place.name, place.declined))
        for when, where in REGISTRIES:
            left = tuple(one for one in where.OPERATORS if f"{one.name} {when}" != way)
            stack.enter_context(patch.object(where, "OPERATORS", left))
        yield


def _places() -> Iterator[tuple[str, tuple[ModuleType, str]]]:
    """The places of all switches, by the names of these."""
    for switch in SWITCHES.values():
        for place in switch.places:
            yield switch.name, (importlib.import_module(place.module), place.name)


def _noting_operator(one: Operator[Any, Any], way: str, taken: set[str]) -> Operator[Any, Any]:
    def run(work: Any, next_ms: float) -> Any:
        found = one.run(work, next_ms)
        if one.name not in NEEDED and not isinstance(found, Declined):
            taken.add(way)
        return found

    return replace(one, run=run)


def _is_taken(found: object) -> bool:
    if isinstance(found, Stepping):
        return bool(found.of)
    return bool(found.tables) if isinstance(found, InSteps) else bool(found)


def _noting(function: Callable[..., Any], name: str, taken: set[str]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        found = function(*arguments, **named)
        if _is_taken(found) or name in UNTOLD:
            taken.add(name)
        return found

    return call
