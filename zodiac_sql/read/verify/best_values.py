"""The best value of each group, found in a second way for `verify` alone.

As second_opinion.py: rounds over all that the last one has changed, with bodies of rule_body.py.
What is the best of a group is told by a window over all that is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, joining, minus, semi_join, temp_table
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Best, Rule
from zodiac_sql.read.verify.rule_body import Program
from zodiac_sql.read.verify.second_opinion import Variant, delta_rounds, heads_of
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query

MOST_ROUNDS_BEYOND = 2_000
"""More rounds than groups and these mean that values get better for ever."""


def derive_best(
    store: Store,
    program: Program,
    rules: Sequence[Rule],
    bests: Mapping[str, Best],
    outside: Callable[[str], Relation],
) -> dict[str, Part]:
    """What rules derive whose heads keep the best values: a temporary table for each of them."""
    own = {name: _Own.begin(store, program.schema[name], best) for name, best in bests.items()}

    def everything(place: int, atom: Atom) -> Relation:
        one = own.get(atom.predicate)
        return replace(one.relation, parts=(one.known,)) if one else outside(atom.predicate)

    variants = [Variant(rule, everything) for rule in rules]
    rounds = 0
    while variants:
        for variant in variants:
            heads = heads_of(store, program, variant.rule, variant.reads)
            if heads is not None:
                found = temp_table(own[variant.rule.head.predicate].found)
                store.run(exp.Insert(this=found, expression=heads.query))
        for one in own.values():
            one.finish_round(store)
        rounds += 1
        if rounds > MOST_ROUNDS_BEYOND + sum(one.known.rows for one in own.values()):
            raise EvaluationError("The best values get better for ever")
        deltas = {name: one.delta for name, one in own.items()}
        variants = delta_rounds(rules, everything, deltas)
    return {name: one.known for name, one in own.items() if one.known.rows}


@dataclass(slots=True)
class _Own:
    """The tables of one predicate: what is known, what the last round changed, and its finds."""

    relation: Relation
    best: Best
    known: Part
    delta: Part
    found: str
    after: str

    @classmethod
    def begin(cls, store: Store, predicate: Predicate, best: Best) -> _Own:
        relation = Relation(predicate.columns, ())
        tables = [store.fresh(stem) for stem in ("known", "delta", "found", "after")]
        for table in tables[:3]:
            store.run(create_temp(table, relation_query(relation)))
        known, delta = (Part("temp", table, 0) for table in tables[:2])
        return cls(relation, best, known, delta, *tables[2:])

    def finish_round(self, store: Store) -> None:
        """Let the best of what is known and found be known; what that changes is the delta."""
        known, found = temp_table(self.known.table), temp_table(self.found)
        group = [c for n, c in enumerate(columns_of(self.relation, "k")) if n != self.best.place]
        concerned = exp.select(exp.Star()).from_(known.as_("k"))
        concerned = semi_join(concerned, group, found.copy(), "f") if group else concerned
        both = exp.union(
            exp.select(exp.Star()).from_(found.copy()), concerned, distinct=True, copy=False
        )
        better = minus(self._first(both), exp.select(exp.Star()).from_(known.copy()))
        rows = store.count(create_temp(self.delta.table, better))
        self.delta = replace(self.delta, rows=rows)
        left = exp.select(exp.Star()).from_(known.as_("k"))
        delta = temp_table(self.delta.table)
        same = [c.eq(exp.column(c.name, table="d", quoted=True)) for c in group]
        on = exp.and_(*same) if same else exp.true()
        left = left.join(joining(delta.as_("d"), "ANTI"), on=on)
        after = exp.union(
            left, exp.select(exp.Star()).from_(delta.copy()), distinct=False, copy=False
        )
        count = store.count(create_temp(self.after, after))
        self.known, self.after = Part("temp", self.after, count), self.known.table
        store.run(exp.TruncateTable(expressions=[found.copy()]))

    def _first(self, rows: exp.Query) -> exp.Select:
        """The rows whose value is the first of their group."""
        columns = columns_of(self.relation, "b")
        value = columns[self.best.place]
        ordered = exp.Ordered(this=value.copy(), desc=self.best.function == "max")
        group = [c.copy() for n, c in enumerate(columns) if n != self.best.place]
        place = exp.Window(
            this=exp.RowNumber(), partition_by=group, order=exp.Order(expressions=[ordered])
        )
        query = exp.select(*columns).from_(rows.subquery("b"))
        return query.qualify(place.eq(1))
