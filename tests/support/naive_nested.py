"""What becomes of rows with lists and objects (docs/how-to/lists-and-objects.md), in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Nested:
    """A list, with the kind of its elements as inner[""]; or an object, with those of its parts."""

    of: str
    inner: dict[str, Kind]


Kind = str | Nested


class Refused(Exception):
    """The rows are no facts."""


def find(name: str, kinds: Mapping[str, Kind]) -> tuple[list[str], Kind]:
    """The column and the parts that a name means, and the kind of what is there."""
    for end in range(len(name), 0, -1):
        first, rest = name[:end], name[end + 1 :]
        if first not in kinds or (end < len(name) and name[end] != "."):
            continue
        kind = kinds[first]
        if end == len(name):
            return [first], kind
        if isinstance(kind, Nested) and kind.of == "object":
            try:
                inner, found = find(rest, kind.inner)
            except LookupError:
                continue
            return [first, *inner], found
    raise LookupError(name)


def facts_of(
    kinds: Mapping[str, Kind],
    rows: Sequence[Mapping[str, Any]],
    explode: Sequence[str],
    columns: Mapping[str, str] | None,
    nulls: str | Mapping[str, object],
) -> set[tuple[Any, ...]]:
    """The facts. Raises Refused."""
    shown, left = dict(kinds), [dict(row) for row in rows]
    depths = {name: sum(name.startswith(f"{outer}.") for outer in explode) for name in explode}
    for depth in sorted(set(depths.values())):
        names = [name for name in explode if depths[name] == depth]
        found = {name: find(name, shown) for name in names}
        left = [made for row in left for made in _side_by_side(row, found)]
        for name, (_, kind) in found.items():
            is_list = isinstance(kind, Nested) and kind.of == "list"
            shown[name] = kind.inner[""] if is_list else kind  # type: ignore[union-attr]
    wanted = columns or {name: name for name in shown}
    facts = set()
    for row in left:
        values = {new: _at(row, find(old, shown)[0]) for old, new in wanted.items()}
        if isinstance(nulls, Mapping):
            values = {n: nulls.get(n) if v is None else v for n, v in values.items()}
        if None not in values.values():
            facts.add(tuple(values.values()))
        elif nulls != "skip-row":
            raise Refused("empty")
    return facts


def _side_by_side(
    row: dict[str, Any], found: Mapping[str, tuple[list[str], Kind]]
) -> list[dict[str, Any]]:
    """The rows that a row becomes."""
    lists = {}
    for name, (path, _) in found.items():
        value = _at(row, path)
        lists[name] = value if isinstance(value, list) or value is None else [value]
    there = [value for value in lists.values() if value is not None]
    if len({len(value) for value in there}) > 1:
        raise Refused("lengths")
    number = len(there[0]) if there else 1
    return [
        {**row, **{name: None if v is None else v[at] for name, v in lists.items()}}
        for at in range(number)
    ]


def _at(row: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = row
    for part in path:
        value = None if value is None else value[part]
    return value
