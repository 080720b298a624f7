"""The updates of a stream: in Python a mapping, in a file a line of JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeGuard

from zodiac_sql.errors import DataError, shortened
from zodiac_sql.facts.decimal_rows import with_decimals
from zodiac_sql.facts.moment_texts import READERS, reads_as, with_moments
from zodiac_sql.language.literals import loses_digits
from zodiac_sql.language.schema import resolve
from zodiac_sql.language.syntax import Column, Type
from zodiac_sql.program.rule_sets import MAIN

if TYPE_CHECKING:
    from zodiac_sql.change.update import Update
    from zodiac_sql.program.state import State

Rules = str | Path | Sequence[str | Path]


class StreamUpdate(TypedDict, total=False):
    """An update: what it deletes and what it adds. Every key may be left out.

    `delete` and `insert` give rows by predicate, as `KnowledgeBase.insert` takes them; in a file,
    lists of values. `drop_rules` and `add_rules` are one text, path or name, or a list of them, as
    the verbs of these names take them; `set` names the rule set that they are of. `replace_rules`
    is a text or path with all that the set is to have, so an empty text drops the set. Rules are
    dropped before others are added. A fact that is both deleted and inserted is there afterwards.
    """

    delete: Mapping[str, object]
    insert: Mapping[str, object]
    drop_rules: Rules
    add_rules: Rules
    replace_rules: str | Path
    set: str


_EXAMPLE = '{"insert": {"edge": [["a", "b"]]}}'
_KEYS = ("delete", "insert", "drop_rules", "add_rules", "replace_rules", "set")


@dataclass(frozen=True, slots=True)
class ReadUpdate:
    """An update that has been read. Its mappings and rows are the given objects, not copies."""

    deletes: Mapping[str, object]
    inserts: Mapping[str, object]
    drops: Sequence[str | Path] = ()
    adds: Sequence[str | Path] = ()
    replacement: str | Path | None = None
    """All that the set is to have."""
    set: str = MAIN

    @property
    def has_rules(self) -> bool:
        return bool(self.drops or self.adds or self.replacement is not None)

    def tell(self, update: Update) -> None:
        """Pass all of it to an update of the knowledge base."""
        if self.drops:
            update.drop_rules(*self.drops, set=None if self.set == MAIN else self.set)
        if self.replacement is not None:
            update.replace_rules(self.replacement, set=self.set)
        for text in self.adds:
            update.add_rules(text, set=self.set)
        for predicate, rows in self.deletes.items():
            update.delete(predicate, rows)
        for predicate, rows in self.inserts.items():
            update.insert(predicate, rows)


@dataclass(slots=True)
class Item:
    """An update as it arrived. It is read when first needed, so a bad one is refused in its turn.

    `where` is its place in a file, `arrived` the time (time.perf_counter).
    """

    given: object
    where: str = ""
    arrived: float = field(default_factory=time.perf_counter)
    _step: ReadUpdate | None = None
    _spent: bool = False
    """Whether rows that can be read only once have been read."""

    def step(self) -> ReadUpdate:
        """The update, read. Raises DataError, which says what would be right."""
        if self._step is None:
            self._step = step_of(_parsed(self.given) if self.where else self.given)
        return self._step

    def read(self) -> None:
        """Read rows that can be read only once, and keep them, because an update may be retried.

        An Arrow stream is not read here, because it may be large. Raises DataError if the rows have
        been read before, and any error that the rows raise.
        """
        step = self.step()
        if not any(map(once, (*step.deletes.values(), *step.inserts.values()))):
            return
        if self._spent:
            raise DataError(
                "rows that can be read only once have been, when the update was tried before: "
                "give them anew, or as a list"
            )
        self._spent = True
        self._step = replace(step, deletes=_kept(step.deletes), inserts=_kept(step.inserts))

    def step_for(self, state: State) -> ReadUpdate:
        """The update, read for a state: ISO texts in columns of dates or timestamps are parsed.

        Raises DataError for a text that is none.
        """
        step = self.step()
        deletes, inserts = with_dates(step.deletes, state), with_dates(step.inserts, state)
        if deletes is not step.deletes or inserts is not step.inserts:
            step = self._step = replace(step, deletes=deletes, inserts=inserts)
        return step


def once(rows: object) -> TypeGuard[Iterator[object]]:
    """Whether rows can be read only once. Such rows must not be read before their turn."""
    return hasattr(rows, "__next__") or hasattr(rows, "read_next_batch")


def _kept(facts: Mapping[str, object]) -> Mapping[str, object]:
    """Rows by predicate, with iterators read into lists."""
    return {
        predicate: list(rows) if once(rows) and not hasattr(rows, "__arrow_c_stream__") else rows
        for predicate, rows in facts.items()
    }


def step_of(given: object) -> ReadUpdate:
    """Read an update. Raises DataError."""
    if not isinstance(given, Mapping):
        raise DataError(f"an update is an object such as {_EXAMPLE}; not {_kind(given)}")
    for key in given:
        if key not in _KEYS:
            raise DataError(f"an update has no {key!r}: its keys are {', '.join(_KEYS)}")
    step = ReadUpdate(
        _facts(given, "delete"),
        _facts(given, "insert"),
        _rules(given, "drop_rules"),
        _rules(given, "add_rules"),
        given.get("replace_rules"),
        given.get("set", MAIN),
    )
    if not isinstance(step.set, str):
        raise DataError(f"set is the name of a rule set; not {_kind(step.set)}")
    if not isinstance(step.replacement, str | Path | None):
        raise DataError(f"replace_rules is a text; not {_kind(step.replacement)}")
    if step.replacement is not None and "set" not in given:
        raise DataError("replace_rules needs the name of the rule set: set")
    return step


def _parsed(line: object) -> Any:
    """The value of a line of JSON."""
    try:
        text = line.decode() if isinstance(line, bytes) else str(line)
        return json.loads(
            text.removeprefix("\ufeff"), parse_float=_exact, object_pairs_hook=_unrepeated
        )
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}. A line is an update such as {_EXAMPLE}") from None


def _exact(text: str) -> float:
    """A decimal of JSON as a float. Raises DataError if it would be rounded."""
    if loses_digits(text):
        raise DataError(
            f"the number {shortened(text)} would be rounded: floats have 64 bits, about 16 digits. "
            "Round it first, or make it text."
        )
    return float(text)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises DataError for a key that stands twice: one would be passed over."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise DataError(
            f'the key "{shortened(twice)}" stands twice in one object: put both values under one'
        )
    return found


def with_dates(facts: Mapping[str, object], state: State) -> Mapping[str, object]:
    """Rows by predicate, with ISO texts read in columns of dates or timestamps, and texts and
    numbers of JSON in columns that are declared to have decimals.

    Raises DataError for a text that is none.
    """
    changed: dict[str, object] = {}
    for given, rows in facts.items():
        known = state.schema.get(resolve(given, state.schema, state.prefixes))
        columns = [*enumerate(known.columns)] if known and not known.awaits_facts else []
        moments = [(place, column) for place, column in columns if column.type in _READ]
        if known and moments and isinstance(rows, list) and _have(rows, known.arity):
            changed |= _read(given, rows, moments, known.declared)
    return {**facts, **changed} if changed else facts


def _have(rows: Sequence[object], columns: int) -> bool:
    """Whether rows have this many columns: else they are refused, or read later."""
    return all(isinstance(row, list | tuple) and len(row) == columns for row in rows)


def _read(
    given: str, rows: list[Any], moments: Sequence[tuple[int, Column]], declared: bool
) -> Mapping[str, list[Any]]:
    """The rows with texts read, if there are any in these columns.

    Where nobody `declared` these, other texts make them wider, and numbers are what they are.
    """
    if not declared:
        moments = [
            (place, column)
            for place, column in moments
            if column.type in READERS
            and all(map(_reads(given, column), (row[place] for row in rows)))
        ]
    texts = [
        (place, _values(f"{given}: column {column.name}", [row[place] for row in rows], type_))
        for place, column in moments
        if (type_ := column.type) and any(isinstance(row[place], str | float) for row in rows)
    ]
    if not texts:
        return {}
    read = [[*row] for row in rows]
    for place, values in texts:
        for row, value in zip(read, values, strict=True):
            row[place] = value
    return {given: read}


def _reads(given: str, column: Column) -> Callable[[object], bool]:
    """What tells whether a value of a column of dates or timestamps is none, or is read as one."""
    assert column.type is not None
    read = reads_as(f"{given}: column {column.name}", column.type)
    return lambda value: not isinstance(value, str) or read(value)


_READ = (*READERS, Type.DECIMAL)
"""The types whose values JSON may have as texts."""


def _values(where: str, values: Sequence[Any], type_: Type) -> Sequence[Any]:
    """Values of a column, with texts and numbers of JSON read as its type has them."""
    if type_ is Type.DECIMAL:
        return with_decimals(where, values)
    return with_moments(where, values, type_)


def _facts(given: Mapping[Any, Any], key: str) -> Mapping[str, object]:
    facts = given.get(key, {})
    if not isinstance(facts, Mapping):
        right = '{"edge": [["a", "b"]]}'
        raise DataError(f"{key} gives rows by predicate, such as {right}; not {_kind(facts)}")
    for predicate, rows in facts.items():
        if not isinstance(predicate, str):
            raise DataError(f"{key}: a predicate is a text; not {_kind(predicate)}")
        if rows is None or isinstance(rows, str | bytes | bool | int | float | Mapping):
            right = 'a list of rows such as [["a", "b"]]'
            raise DataError(f"{key}: {predicate} needs {right}; not {_kind(rows)}")
    return facts


def _rules(given: Mapping[Any, Any], key: str) -> Sequence[str | Path]:
    rules = given.get(key, ())
    if isinstance(rules, str | Path):
        return (rules,)
    if isinstance(rules, list | tuple) and all(isinstance(text, str | Path) for text in rules):
        return rules
    raise DataError(f"{key} is a text or a list of texts; not {_kind(rules)}")


def _kind(value: object) -> str:
    shown = repr(value)
    return f"{shown if len(shown) <= 60 else shown[:57] + '...'} ({type(value).__name__})"
