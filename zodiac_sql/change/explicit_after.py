"""The explicit facts after a change, before it is known what the change does.

Rules with variables for predicates need this: which rules are made of them is a part of the
program, and the program must be known before anything is evaluated (program/expand.py).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from zodiac_sql.change.alter import have_same_tables
from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.net_facts import explicit_table
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.request import Request
from zodiac_sql.change.staged_rows import parameters_of, staged_query, without_none
from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import anti_join
from zodiac_sql.language.schema import Predicate, Schema, Staged
from zodiac_sql.language.syntax import Constant, Type
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.program.build import expansion
from zodiac_sql.program.possible_facts import Explicit, Row
from zodiac_sql.sql.relations import Relation, columns_of
from zodiac_sql.storage.extensions import decoded


def explicit_after(before: Baseline, request: Request, schema: Schema) -> Explicit:
    """The explicit facts after an update, by which the predicates are those of `schema`."""
    after = _After(before, request, schema)
    return Explicit(after.is_there, after.rows)


def is_expanded_anew(
    before: Baseline, prepared: Prepared, request: Request, schema: Schema
) -> bool:
    """Whether a change of facts alone changes which rules are made of templates."""
    planned = prepared.planned
    if not planned.templates:
        return False
    touched = {*without_none(request.inserts), *without_none(request.deletes)}
    after = explicit_after(before, request, schema)
    gone = {name for name in touched if not after.is_there(name)}
    if planned.read.isdisjoint(touched) and not gone:
        return False
    plain = [rule for rule in planned.rules if rule.origin is None]
    made = expansion(planned.templates, plain, (), schema, after)
    there = {rule.name for rule in planned.rules if rule.origin is not None}
    return bool(made.problems) or {rule.name for rule in made.rules} != there


class _After:
    def __init__(self, before: Baseline, request: Request, schema: Schema) -> None:
        self._store, self._state = before.store, before.state
        self._schema = schema
        self._inserts = without_none(request.inserts)
        self._deletes = without_none(request.deletes)
        self._facts = list(request.rules.facts())

    def is_there(self, name: str) -> bool:
        """Whether a predicate has explicit facts."""
        known = self._state.schema.get(name)
        there = known and self._state.rows.get((EXPLICIT_SCHEMA, known.sql_name), 0)
        gone = [staged.rows for staged in self._deletes.get(name, ())]
        if there and None not in gone and there > sum(filter(None, gone)):
            return True
        if any(fact.predicate == name for fact in self._facts):
            return True
        if any(staged.rows for staged in self._inserts.get(name, ())):
            return True
        return bool(self._rows(name, ()))

    def rows(self, name: str, places: tuple[int, ...]) -> Collection[Row]:
        """Some columns of the explicit facts of a predicate, each row once."""
        stated = {
            tuple(_symbol(fact.terms[place]) for place in places)
            for fact in self._facts
            if fact.predicate == name
        }
        return stated | self._rows(name, places)

    def _rows(self, name: str, places: Sequence[int]) -> set[Row]:
        """The same without the facts in texts of rules."""
        known = self._schema.get(name)
        if known is None:
            return set()
        found: set[Row] = set()
        before = self._state.schema.get(known.name)
        gone, coming = self._deletes.get(name, []), self._inserts.get(name, [])
        if before and self._state.rows.get((EXPLICIT_SCHEMA, before.sql_name)):
            # Of columns that get other types, no fact is among those that go (alter.py).
            left = gone if have_same_tables(before, known) else []
            found |= self._shown(before, _left(before, left), left, places)
        if coming:
            found |= self._shown(known, staged_query(known, coming), coming, places)
        return found

    def _shown(
        self,
        known: Predicate,
        facts: exp.Query,
        staged: Sequence[Staged],
        places: Sequence[int],
    ) -> set[Row]:
        """Some columns of facts, with the texts of symbols, and None for other values."""
        columns, rows = known.columns, facts.subquery("f", copy=False)
        shown = [place for place in places if columns[place].type is Type.SYMBOL]
        if shown:
            wanted = Relation(tuple(columns[place] for place in shown), ())
            distinct = exp.select(*columns_of(wanted, "f")).distinct().from_(rows, copy=False)
            query = decoded(wanted, distinct, dictionary.KNOWN)
        else:
            query = exp.select(exp.Literal.number(1)).from_(rows, copy=False).limit(1)
        found = self._store.rows(query, parameters_of(staged))
        at = {place: index for index, place in enumerate(dict.fromkeys(shown))}
        return {tuple(row[at[p]] if p in at else None for p in places) for row in found}


def _left(known: Predicate, gone: Sequence[Staged]) -> exp.Query:
    """The explicit facts of a predicate that are not deleted."""
    columns = columns_of(Relation(known.columns, ()), "c")
    query = exp.select(*columns).from_(explicit_table(known).as_("c"))
    if not gone:
        return query
    return anti_join(query, columns, staged_query(known, gone).subquery(copy=False))


def _symbol(term: object) -> str | None:
    is_symbol = isinstance(term, Constant) and term.type is Type.SYMBOL
    return str(term.value) if is_symbol and isinstance(term, Constant) else None
