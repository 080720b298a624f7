"""Columns that nobody declared become wider by themselves, for facts that they cannot hold.

A column of ints becomes one of decimals for a decimal, and one of floats for a float, if each of
its numbers is equal to a float. In all other cases it becomes a column of terms of all kinds, whose
values are what they were. Which type a column gets depends on the facts that have come, and not on
their order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.change.exact_floats import exact_floats
from zodiac_sql.change.net_facts import explicit_table
from zodiac_sql.language.decimals import widest_number
from zodiac_sql.language.schema import Predicate, Schema, Staged
from zodiac_sql.language.symbols import XSD
from zodiac_sql.language.syntax import Column, Constant, Type
from zodiac_sql.names import EXPLICIT_SCHEMA

if TYPE_CHECKING:
    from zodiac_sql.change.collected import Collected


def widen_for(collected: Collected, staged: Staged) -> None:
    """Let columns become wider for facts that enter."""
    known = collected.edits.provisional.get(staged.predicate)
    if known is None or known.declared or known.arity != len(staged.columns):
        return
    types = tuple(column.meant for column in staged.columns)
    if (known.settled, known.datatypes) == (types, staged.datatypes):
        return
    wider: dict[int, Type] = {}
    for place, (column, datatype) in enumerate(zip(staged.columns, staged.datatypes, strict=True)):
        old, new = known.settled[place], column.meant
        if old is None or new is None or old is Type.ANY:
            continue
        before = _usual(known.datatypes[place])
        if old is not new or (old is not Type.SYMBOL and before != _usual(datatype)):
            plain = before is None and _usual(datatype) is None
            wide = widest_number({old, new}) if plain and Type.INT in (old, new) else None
            if wide is Type.FLOAT and not _are_floats(collected, known, place, staged):
                wide = None
            wider[place] = wide or Type.ANY
    _widen(collected, known, wider, _reasons(staged))


def _usual(datatype: str | None) -> str | None:
    """The datatype of a native column; None if values without a datatype are the same literals."""
    return None if datatype in _USUAL else datatype


_USUAL = {XSD + local for local in ("integer", "boolean", "date", "dateTime")}


def widen_for_texts(collected: Collected) -> None:
    """The same for the facts in texts of rules, once all that was loaded is known.

    What the types of their terms are, the check of the program joins to what is settled here.
    """
    ints: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    floats: dict[str, set[int]] = defaultdict(set)
    for fact in collected.request.rules.facts():
        name = collected.edits.meant(fact.predicate)
        for place, term in enumerate(fact.terms):
            if isinstance(term, Constant) and term.type is Type.FLOAT:
                floats[name].add(place)
            elif isinstance(term, Constant) and term.type is Type.INT:
                assert isinstance(term.value, int)
                ints[name][place].add(term.value)
    for name in {**floats, **ints}:
        known = collected.edits.provisional.get(name)
        if known is None or known.declared:
            continue
        wider = {}
        for place, settled in enumerate(known.settled):
            given = ints[name][place]
            if settled is Type.FLOAT or (settled is Type.INT and place in floats[name]):
                exact = settled is Type.FLOAT or _are_floats(collected, known, place)
                exact = exact and all(int(float(value)) == value for value in given)
                if not exact or settled is Type.INT:
                    wider[place] = Type.FLOAT if exact else Type.ANY
        _widen(collected, known, wider, {place: _A[Type.FLOAT] for place in wider})


def _are_floats(
    collected: Collected, known: Predicate, place: int, staged: Staged | None = None
) -> bool:
    """Whether all numbers of a column, in the file and of the update, are equal to floats."""
    request, before = collected.request, collected.before
    name = known.columns[place].name
    coming = [*request.inserts.get(known.name, ()), *([staged] if staged else ())]
    if not exact_floats(before.store, coming, place):
        return False
    old = before.state.schema.get(known.name)
    there = old and before.state.rows.get((EXPLICIT_SCHEMA, old.sql_name))
    if not old or not there or old.columns[place].type not in (Type.INT, Type.DECIMAL):
        return True
    facts = exp.select(exp.column(old.columns[place].name, quoted=True).as_(name, quoted=True))
    return exact_floats(before.store, [facts.from_(explicit_table(old))], place)


def _widen(
    collected: Collected, known: Predicate, wider: Mapping[int, Type], reasons: Mapping[int, str]
) -> None:
    """Give columns of a predicate wider types, and say why."""
    changed = {p: type_ for p, type_ in wider.items() if type_ is not known.settled[p]}
    if not changed:
        return
    edits = collected.edits
    for place, type_ in changed.items():
        settled = known.settled[place]
        assert settled is not None
        edits.widened.append(
            f"{known.name}: column {known.columns[place].name} was {settled}, and becomes {type_}: "
            f"there {reasons[place]}"
        )
        collected.report.remarks.append(edits.widened[-1])
    columns = tuple(
        Column(c.name, changed.get(place, c.meant)) for place, c in enumerate(known.columns)
    )
    settled_now = tuple(changed.get(place, t) for place, t in enumerate(known.settled))
    datatypes = tuple(None if p in changed else d for p, d in enumerate(known.datatypes))
    edits.retype(replace(known, columns=columns, settled=settled_now, datatypes=datatypes))


def note_rules(collected: Collected, schema: Schema) -> None:
    """Tell which columns with facts become wider because of what texts of rules say."""
    before, edits = collected.before.state.schema, collected.edits.provisional
    if schema is before:
        return
    for name, known in schema.items():
        old = edits.get(name)
        if old is None or old is known or old.arity != known.arity:
            continue
        for column, was, now in zip(known.columns, old.settled, known.settled, strict=True):
            if was is not None and now is not None and was is not now:
                collected.report.remarks.append(
                    f"{name}: column {column.name} was {was}, and becomes {now}: rules, or facts "
                    "in their texts, give it other values"
                )


def _reasons(staged: Staged) -> dict[int, str]:
    """What columns of facts hold, for a note."""
    return {
        place: f"is a literal of {datatype.replace(XSD, 'xsd:')}"
        if datatype and _usual(datatype) and column.type is not Type.SYMBOL
        else _A[column.meant or Type.SYMBOL]
        for place, (column, datatype) in enumerate(
            zip(staged.columns, staged.datatypes, strict=True)
        )
    }


_A = {
    Type.SYMBOL: "is a text", Type.INT: "is a whole number", Type.DECIMAL: "is a decimal",
    Type.FLOAT: "is a fraction",
    Type.BOOL: "is true or false", Type.DATE: "is a date", Type.TIMESTAMP: "is a time",
    Type.ANY: "are values of several kinds",
}  # fmt: skip
