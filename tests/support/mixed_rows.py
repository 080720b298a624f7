"""Compares rows over columns of terms of all kinds with those that an oracle has."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

from generators.mixed_programs import given
from support.mixed_programs import Row
from support.mixed_terms import Number, Term, meaning
from support.naive_values import NAN


def assert_same_rows(
    name: str, found: Iterable[tuple[object, ...]], expected: Collection[Row]
) -> None:
    """Compare the rows of a predicate, terms as their texts, with what they should be."""
    actual = [tuple(map(_normal, row)) for row in found]
    assert len(actual) == len(set(actual)), f"{name} has a row twice: {actual}"
    wanted = {tuple(map(_normal, row)) for row in given(expected)}
    missing, surplus = wanted - set(actual), set(actual) - wanted
    if len(missing) == len(surplus) and _nearly(missing) == _nearly(surplus):
        return
    assert not missing and not surplus, f"{name}: {missing=} {surplus=}"


def _normal(value: Any) -> Any:
    """There is one NaN; a -0.0 would show by its text. An int is no float, and no bool."""
    if isinstance(value, float):
        return NAN if math.isnan(value) else repr(value)
    return (type(value).__name__, value)


def _nearly(rows: Collection[Row]) -> set[tuple[Any, ...]]:
    """Rows with less precise floats: the sum of some depends on their order."""
    return {tuple(map(_rounded, row)) for row in rows}


def _rounded(value: Any) -> Any:
    if isinstance(value, str):
        return f"{float(value):.9e}"
    text = value[1] if isinstance(value, tuple) and value[0] == "str" else ""
    number = meaning(Term(text))
    if isinstance(number, Number) and text.endswith("#double>"):
        return f"{number.double:.9e}"
    return value
