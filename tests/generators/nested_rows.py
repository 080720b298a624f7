"""Random tables whose cells are lists and objects, and what somebody may want to load of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa
from support.naive_nested import Kind, Nested, find

SCALARS = ("int", "float", "text", "bool")
TEXTS = ("x", "y", "", "null", "5", "[1]", '{"a": 1}', "true", "Zoë", 'a"b')
NAMES = ("a", "b", "c", "a.b", "b.c", "A b", 'q"', "0")


@dataclass(frozen=True, slots=True)
class Wish:
    """A table, and what is to become of it."""

    kinds: dict[str, Kind]
    rows: list[dict[str, Any]]
    explode: list[str]
    columns: dict[str, str] | None
    nulls: str | dict[str, object] = "refuse"
    declared: dict[str, str] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments that say so."""
        found: dict[str, Any] = {"nulls": self.nulls}
        if self.columns is not None:
            found["columns"] = self.columns
        if self.explode:
            found["explode"] = self.explode[0] if len(self.explode) == 1 else self.explode
        return found

    def arrow(self) -> pa.Table:
        schema = pa.schema([(name, arrow_type(kind)) for name, kind in self.kinds.items()])
        return pa.Table.from_pylist(self.rows, schema=schema)


def arrow_type(kind: Kind) -> pa.DataType:
    match kind:
        case Nested("list", inner):
            return pa.list_(arrow_type(inner[""]))
        case Nested(_, inner):
            return pa.struct([(name, arrow_type(part)) for name, part in inner.items()])
        case "int":
            return pa.int64()
        case "float":
            return pa.float64()
        case "bool":
            return pa.bool_()
    return pa.string()


def wish(chance: Random) -> Wish:
    names = chance.sample(NAMES, chance.randint(1, 4))
    kinds = {name: _kind(chance, 3) for name in names}
    gaps = chance.choice((0.0, 0.0, 0.2))
    same = chance.random() < 0.7  # lists of the same length, so that they go together
    rows = [
        {name: _value(chance, kind, gaps, length if same else None) for name, kind in kinds.items()}
        for length in (chance.randint(0, 3) for _ in range(chance.randint(0, 5)))
    ]
    explode = _lists(chance, kinds)
    shown = _exploded(kinds, explode)
    leaves = list(_leaves(shown))
    if all(kind in SCALARS for kind in shown.values()) and chance.random() < 0.3:
        columns, types = None, {name: str(kind) for name, kind in shown.items()}
    elif leaves:
        taken = dict(chance.sample(leaves, chance.randint(1, len(leaves))))
        columns = {name: f"n{place}" for place, name in enumerate(taken)}
        types = {columns[name]: str(kind) for name, kind in taken.items()}
    else:
        return wish(chance)
    nulls: str | dict[str, object] = chance.choice(("refuse", "skip-row"))
    if chance.random() < 0.4:
        some = chance.sample(list(types), chance.randint(1, len(types)))
        nulls = {name: _scalar(chance, types[name]) for name in some}
    return Wish(kinds, rows, explode, columns, nulls, types)


def _kind(chance: Random, deepest: int) -> Kind:
    if deepest == 0 or chance.random() < 0.4:
        return chance.choice(SCALARS)
    if chance.random() < 0.5:
        return Nested("list", {"": _kind(chance, deepest - 1)})
    names = chance.sample(NAMES, chance.randint(1, 3))
    return Nested("object", {name: _kind(chance, deepest - 1) for name in names})


def _value(chance: Random, kind: Kind, gaps: float, length: int | None) -> Any:
    if chance.random() < gaps:
        return None
    match kind:
        case Nested("list", inner):
            some = chance.randint(0, 3) if length is None else length
            return [_value(chance, inner[""], gaps, length) for _ in range(some)]
        case Nested(_, inner):
            return {name: _value(chance, part, gaps, length) for name, part in inner.items()}
    return _scalar(chance, str(kind))


def _scalar(chance: Random, kind: str) -> object:
    match kind:
        case "int":
            return chance.choice((0, 1, 2, -3, 2**53 + 1))
        case "float":
            return chance.choice((0.5, 1.0, -2.25))
        case "bool":
            return chance.random() < 0.5
    return chance.choice(TEXTS)


def _lists(chance: Random, kinds: dict[str, Kind]) -> list[str]:
    """Names to explode: mostly those of lists, perhaps inside others that are exploded, too."""
    found: list[str] = []
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3))):
        shown = _exploded(kinds, found)
        lists = [name for name in _places(shown) if name not in found]
        if lists:
            found.append(chance.choice(lists))
            try:
                _exploded(kinds, found)
            except LookupError:  # what is exploded now hides what was meant
                found.pop()
    return found


def _exploded(kinds: dict[str, Kind], names: list[str]) -> dict[str, Kind]:
    """The columns when these lists have become rows, outer ones first."""
    shown = dict(kinds)
    for name in sorted(names, key=lambda one: sum(one.startswith(f"{o}.") for o in names)):
        kind = find(name, shown)[1]
        shown[name] = kind.inner[""] if isinstance(kind, Nested) and kind.of == "list" else kind
    return shown


def _places(kinds: dict[str, Kind]) -> list[str]:
    """The names of all lists, and of some values that are none."""
    found = []
    for name, kind in kinds.items():
        if isinstance(kind, Nested) and kind.of == "object":
            found += [f"{name}.{inner}" for inner in _places(kind.inner)]
        elif isinstance(kind, Nested) or name == "c":
            found.append(name)
    return found


def _leaves(kinds: dict[str, Kind]) -> list[tuple[str, Kind]]:
    """The names that mean single values, with their kinds."""
    written = []
    for name, kind in kinds.items():
        if kind in SCALARS:
            written.append(name)
        elif isinstance(kind, Nested) and kind.of == "object":
            written += [f"{name}.{inner}" for inner, _ in _leaves(kind.inner)]
    found = [(name, find(name, kinds)[1]) for name in written]
    return [(name, kind) for name, kind in found if kind in SCALARS]
