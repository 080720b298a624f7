"""The net of several updates: one update with the same effect as all of them in order.

The last operation on a fact wins; within an update, insertion wins over deletion. Without asking
the database it must be certain whether two rows are the same fact. So an update is netted only if

    it has no rules, and its rows are lists of tuples or lists;
    each predicate is known, its types are settled, and the updates before it cannot have made it
    vanish (a predicate without rule, fact and declaration is gone, and its types are free again);
    each value has exactly the Python class of its column (a column of floats also takes ints that
    floats represent exactly), so that rows are the same fact if and only if their values are equal:
    no True for 1, no NaN, no -0.0; in a column of terms of all kinds, its term tells which it is;
    none of its texts is another spelling of a text in the other updates (below);
    it deletes no facts of a predicate with a window by count or by events, which might have let
    others leave before they are deleted.

All other updates stand alone.

A text that begins with neither < nor " is a symbol as it stands (language/symbols.py, the SQL macro
zodiac.canonical). The same symbol may also be written with these marks: `a` and `"a"`, `urn:a` and
`<urn:a>`. The key of such a text is the part inside the marks. All spellings of a symbol have the
same key, so different keys are different facts. Different texts with equal keys may be one fact or
two; this module does not decide that, and does not net such updates together. A text in quotes with
escapes has no key.

The net may lack an error that only a state between the updates has, such as a division by zero in a
rule for a fact that comes and goes within them.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from zodiac_sql.facts.terms import term_of
from zodiac_sql.language.schema import Predicate, resolve
from zodiac_sql.language.syntax import Type
from zodiac_sql.names import EXPLICIT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable

    from zodiac_sql.change.update import Update
    from zodiac_sql.graph.hypergraph import Hypergraph
    from zodiac_sql.program.state import State
    from zodiac_sql.stream.updates import ReadUpdate

Row = tuple[Any, ...] | list[Any]
Key = tuple[Any, ...]

_CLASSES = {
    Type.SYMBOL: str, Type.INT: int, Type.DECIMAL: Decimal, Type.FLOAT: float, Type.BOOL: bool,
    Type.DATE: datetime.date, Type.TIMESTAMP: datetime.datetime,
}  # fmt: skip


class _StandsAlone(Exception):
    """An update cannot be netted with those before it."""


class Net:
    """The net of the updates added so far, given the state of the knowledge base before them.

    `graph` returns the HRDG. It is called only when needed, because it may be expensive.
    """

    def __init__(self, state: State, graph: Callable[[], Hypergraph]) -> None:
        self._state = state
        self._graph = graph
        windows = (one.window for one in state.windows)
        self._moving = {one.predicate for one in windows if one.count is not None or one.events}
        """The predicates out of whose windows facts fall when others come."""
        self._operations: dict[str, dict[Key, tuple[Row, bool]]] = {}
        """By predicate and key: the row of a fact, and whether the fact is there afterwards."""

    def add(self, step: ReadUpdate) -> bool:
        """Add an update if it can be netted with the others. Returns whether it was added."""
        if step.has_rules:
            return False
        try:
            changed = self._keyed(step)
        except _StandsAlone:
            return False
        for name, (deleted, inserted) in changed.items():
            operations = self._operations.setdefault(name, {})
            operations.update((key, (row, False)) for key, row in deleted.items())
            operations.update((key, (row, True)) for key, row in inserted.items())
        return True

    def tell(self, update: Update) -> None:
        """Pass the net to an update of the knowledge base."""
        for is_inserted, verb in ((False, update.delete), (True, update.insert)):
            for name, operations in self._operations.items():
                rows = [row for row, inserted in operations.values() if inserted is is_inserted]
                if rows:
                    verb(name, rows)

    def _keyed(self, step: ReadUpdate) -> dict[str, tuple[dict[Key, Row], dict[Key, Row]]]:
        """The rows that an update deletes and inserts, by predicate and key."""
        found: dict[str, tuple[dict[Key, Row], dict[Key, Row]]] = {}
        for which, facts in enumerate((step.deletes, step.inserts)):
            for given, rows in facts.items():
                predicate = self._settled(given)
                there = self._operations.get(predicate.name, {})
                mine = found.setdefault(predicate.name, ({}, {}))
                if not which and rows and predicate.name in self._moving:
                    raise _StandsAlone
                for key, row in _keyed_rows(predicate, rows):
                    for other in (there.get(key, _NONE)[0], mine[0].get(key), mine[1].get(key)):
                        if other is not None and tuple(other) != tuple(row):
                            raise _StandsAlone
                    mine[which][key] = row
        return found

    def _settled(self, given: str) -> Predicate:
        """A predicate whose types the updates before cannot have changed. Else _StandsAlone."""
        name = resolve(given, self._state.schema, self._state.prefixes)
        predicate = self._state.schema.get(name)
        if (
            predicate is None
            or predicate.open
            or None in predicate.settled
            or _has_datatypes(predicate)  # plain rows would remove them
            or self._may_have_vanished(predicate)
        ):
            raise _StandsAlone
        return predicate

    def _may_have_vanished(self, predicate: Predicate) -> bool:
        """Whether the updates so far may have deleted the last fact that keeps a predicate.

        A predicate without explicit facts before them is kept by a rule or a declaration.
        """
        operations = self._operations.get(predicate.name, {})
        rows = self._state.rows.get((EXPLICIT_SCHEMA, predicate.sql_name), 0)
        if predicate.declared or not rows or rows > len(operations):
            return False
        if any(inserted for _, inserted in operations.values()):
            return False
        return not any(predicate.name in h.reads.union(h.derives) for h in self._graph().hypernodes)


_NONE: tuple[None, bool] = (None, False)


def _has_datatypes(predicate: Predicate) -> bool:
    """Whether a native column has a datatype of RDF."""
    both = zip(predicate.columns, predicate.datatypes, strict=True)
    return any(datatype and column.type is not Type.SYMBOL for column, datatype in both)


def _keyed_rows(predicate: Predicate, rows: object) -> list[tuple[Key, Row]]:
    """The rows with their keys. Rows with different keys are different facts."""
    if not isinstance(rows, list | tuple):
        raise _StandsAlone
    types = [column.meant for column in predicate.columns]
    classes = [_CLASSES.get(type_) for type_ in types if type_ is not None]
    texts = [at for at, type_ in enumerate(types) if type_ is Type.SYMBOL]
    mixed = [at for at, type_ in enumerate(types) if type_ is Type.ANY]
    others = [at for at, type_ in enumerate(types) if type_ in (Type.FLOAT, Type.TIMESTAMP)]
    keyed = []
    for row in rows:
        if type(row) not in (list, tuple) or len(row) != len(types):
            raise _StandsAlone
        for value, class_ in zip(row, classes, strict=True):
            if class_ is None:
                continue
            if type(value) is not class_ and (class_ is not float or not _is_exact(value)):
                raise _StandsAlone
        if any(_is_strange(row[at]) for at in others):
            raise _StandsAlone
        key: Key = tuple(row)
        if mixed:
            terms = {at: _term(row[at], predicate.declared) for at in mixed}
            key = tuple(terms.get(at, value) for at, value in enumerate(row))
        if any(row[at][:1] in _MARKS for at in texts):
            key = tuple(_text_key(value) if at in texts else value for at, value in enumerate(key))
        keyed.append((key, row))
    return keyed


def _term(value: object, declared: bool) -> str:
    """The key of a value of any kind: that of its term."""
    if type(value) not in _CLASSES.values():
        raise _StandsAlone
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        raise _StandsAlone
    return _text_key(term_of(value, declared))


def _is_exact(value: object) -> bool:
    """Whether a value is an int that a float represents exactly."""
    return type(value) is int and abs(value) <= 2**53


def _is_strange(value: Any) -> bool:
    """Whether == is no test of identity for a number or time: NaN, -0.0, or a time with a zone."""
    if isinstance(value, datetime.datetime):
        return value.tzinfo is not None
    return math.isnan(value) or (value == 0 and math.copysign(1, value) < 0)


_MARKS = ("<", '"')
_IN_BRACKETS = re.compile(r"""<([^\s<>"{}|\\^`\x00-\x20]*)>""")
_IN_QUOTES = re.compile(
    r"""  "([^"\\\x00-\x1f]*)"
          (?: @[A-Za-z][A-Za-z0-9-]* | \^\^<[^\s<>"{}|\\^`\x00-\x20]*> )?  """,
    re.VERBOSE,
)


def _text_key(text: str) -> str:
    """The text inside brackets or quotes, without language and datatype."""
    if text[:1] not in _MARKS:
        return text
    found = _IN_BRACKETS.fullmatch(text) or _IN_QUOTES.fullmatch(text)
    if found is None:
        raise _StandsAlone
    return found[1]
