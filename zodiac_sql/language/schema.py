"""What is known of each predicate: its SQL name, its columns and their types."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from zodiac_sql.language.syntax import Column, Type

NO_DATATYPE = ""
"""The entry of a column of symbols whose values `alter` has written, where it had no datatype."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate as the catalog knows it.

    `name` is as in rules (IRIs in full), `sql_name` names its view and tables. A column's type may
    be inferred through rules; `settled` holds the types that a declaration or facts have fixed.
    `datatypes` are the RDF datatypes that native columns had when they came from RDF. A column of
    symbols or terms has one if it was native, and `alter` has written its values: the one that it
    had, or NO_DATATYPE.

    A table without rows makes sure that its predicate is there. It is `declared` then, but nothing
    is settled: the types that it had stand only until facts come.
    """

    name: str
    sql_name: str
    columns: tuple[Column, ...]
    settled: tuple[Type | None, ...]
    datatypes: tuple[str | None, ...]
    declared: bool = False

    @property
    def arity(self) -> int:
        return len(self.columns)

    @property
    def open(self) -> bool:
        """Whether some column has no type yet: then the predicate has no facts."""
        return any(column.type is None for column in self.columns)

    @property
    def awaits_facts(self) -> bool:
        """Whether nothing but a table without rows has told of the predicate."""
        return self.declared and self.arity > 0 and not any(self.settled)

    @property
    def told(self) -> tuple[Type | None, ...]:
        """The types that declarations, facts, or else tables without rows tell rules."""
        return tuple(c.meant for c in self.columns) if self.awaits_facts else self.settled

    def with_told(self, types: Sequence[Type | None]) -> Predicate:
        """The predicate as a table without rows tells of it, whose columns have these types."""
        columns = tuple(Column(c.name, t) for c, t in zip(self.columns, types, strict=True))
        nothing = (None,) * self.arity
        return replace(self, columns=columns, settled=nothing, datatypes=nothing, declared=True)

    def without_told(self) -> Predicate:
        """The predicate as its first facts find it: only the names of its columns are known."""
        return replace(self.with_told((None,) * self.arity), declared=False)


Schema = Mapping[str, Predicate]


@dataclass(frozen=True, slots=True)
class Staged:
    """Facts of one predicate, waiting in a temporary table whose columns stand in order.

    Symbols are encoded (database/dictionary.py); rows may repeat, NULLs are gone. A predicate of
    arity 0 has one column `holds`, true. `named` tells whether the column names came with the data;
    `rows` is the number of rows, if known.

    A few facts wait in `given` instead, each once, and there is no table: a statement that reads
    them gets them as parameters (facts/staged_rows.py). `left_out` is how many rows were left out,
    because a cell is empty; `absent` how many to be deleted cannot be facts of the predicate.
    """

    predicate: str
    columns: tuple[Column, ...]
    datatypes: tuple[str | None, ...]
    table: str
    named: bool
    rows: int | None = None
    given: tuple[tuple[object, ...], ...] | None = None
    left_out: int = 0
    absent: int = 0


def default_columns(arity: int) -> tuple[str, ...]:
    """Column names where nobody gave any: s, o for at most two columns, c0, c1, ... for more."""
    return ("s", "o")[:arity] if arity <= 2 else tuple(f"c{i}" for i in range(arity))


def sql_name(
    name: str, prefixes: Mapping[str, str], taken: Collection[str], numbers: dict[str, int]
) -> str:
    """A short name for a predicate that is not `taken` (in lower case), whatever its case.

    The first free one of these: the name itself, or the local name of an IRI; the same with the
    prefix of the IRI; the same with a number. `numbers` has the next number to try for each name.
    """
    local = local_name(name)
    prefix = _prefix_of(name, prefixes)
    candidates = [local] if prefix is None else [local, f"{prefix}_{local}"]
    for candidate in candidates:
        if candidate.lower() not in taken:
            return candidate
    stem = candidates[-1]
    number = numbers.get(stem, 2)
    while f"{stem}_{number}".lower() in taken:
        number += 1
    numbers[stem] = number + 1
    return f"{stem}_{number}"


def local_name(name: str) -> str:
    """The name that a predicate gets in SQL if it is free: an IRI without its namespace."""
    return re.split(r"[/#:]", name.rstrip("/#"))[-1] or name


def _prefix_of(name: str, prefixes: Mapping[str, str]) -> str | None:
    """The prefix with the longest IRI that the name begins with."""
    matching = [(len(iri), prefix) for prefix, iri in prefixes.items() if name.startswith(iri)]
    return max(matching)[1] if matching else None


def resolve(
    name: str,
    schema: Schema,
    prefixes: Mapping[str, str],
    by_sql_name: Mapping[str, str] | None = None,
) -> str:
    """The predicate that a person means: by its name, `<iri>`, `prefix:local` or SQL name.

    A name that fits no known predicate is returned as it is: it names a new one. `by_sql_name`, if
    given, saves a pass over the schema.
    """
    if name in schema:
        return name
    if name.startswith("<") and name.endswith(">"):
        return name[1:-1]
    prefix, colon, local = name.partition(":")
    if colon and prefix in prefixes:
        return prefixes[prefix] + local
    if by_sql_name is None:
        by_sql_name = {predicate.sql_name: known for known, predicate in schema.items()}
    return by_sql_name.get(name, name)
