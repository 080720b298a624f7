"""Names that reach into nested values: `address.city` is the part `city` of the column `address`.

A column or a part may have a point in its own name. Of all readings of a name, the one counts whose
first part is longest: a column that is called `address.city` goes before a part of `address`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from zodiac_sql.errors import DataError


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands: in a column, or in parts of it, one inside the other."""

    column: str
    parts: tuple[str, ...] = ()

    def inside(self, part: str) -> Spot:
        return Spot(self.column, (*self.parts, part))

    def __str__(self) -> str:
        return ".".join((self.column, *self.parts))


Inside = Callable[[Spot], Collection[str]]
"""The names of the parts of the objects at a spot; none if there are no objects."""


def spot_of(subject: object, name: str, columns: Sequence[str], inside: Inside) -> Spot:
    """The spot that a name means. Raises DataError if there is none; `subject` has the columns."""
    found = next(_readings(name, columns, Spot, inside), None)
    if found is None:
        raise DataError(_unknown(subject, name, columns, inside))
    return found


def _readings(
    name: str, names: Collection[str], spot: Callable[[str], Spot], inside: Inside
) -> Iterator[Spot]:
    """The spots that a name can mean, if it begins with one of these names."""
    for first, rest in _splits(name):
        if first in names:
            here = spot(first)
            if rest is None:
                yield here
            else:
                yield from _readings(rest, inside(here), here.inside, inside)


def _splits(name: str) -> Iterator[tuple[str, str | None]]:
    """A name as its first part, longest first, and the rest."""
    yield name, None
    end = name.rfind(".")
    while end > 0:
        yield name[:end], name[end + 1 :]
        end = name.rfind(".", 0, end)


def _unknown(subject: object, name: str, columns: Sequence[str], inside: Inside) -> str:
    """The message that a name means nothing: what stands where it leads."""
    here, rest = None, name
    names: Collection[str] = columns
    while (found := next((s for s in _splits(rest) if s[0] in names), None)) and found[1]:
        here = Spot(found[0]) if here is None else here.inside(found[0])
        rest, names = found[1], inside(here)
    has = f"It has {', '.join(columns)}."
    if here is not None:
        none = f'no parts; if it holds lists, explode="{here}" makes a row of each element'
        has = f"{here} has {', '.join(names) if names else none}."
    return f"{subject} has no column {name}. {has} Nothing was loaded."


def tops(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The columns that names may reach into, in their order."""
    return [c for c in names if any(w == c or w.startswith(f"{c}.") for w in wanted)]


def levels(explode: Sequence[str]) -> list[list[str]]:
    """The lists to explode, those inside elements of others after these."""
    depth = {name: sum(name.startswith(f"{outer}.") for outer in explode) for name in explode}
    return [
        [name for name in explode if depth[name] == level] for level in sorted({*depth.values()})
    ]
