"""The best value of each group, found in a second way for `verify` alone.

As second_opinion.py: rounds over all that the last one has changed, with bodies of rule_body.py.
What is the best of a group is told by a window over all that is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.database.one_thread import one_thread
from zodiac_sql.database.statements import (
    create_temp,
    joining,
    minus,
    parameter,
    semi_join,
    temp_table,
    union_all,
)
from zodiac_sql.database.store import Store
from zodiac_sql.errors import EvaluationError
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Best, Rule
from zodiac_sql.names import RANK
from zodiac_sql.read.verify.rule_body import NotAtOnce, Program, Reads
from zodiac_sql.read.verify.second_opinion import (
    Variant,
    can_go_on_at_once,
    delta_rounds,
    heads_of,
)
from zodiac_sql.sql.relations import Part, Relation, columns_of, rank_of, relation_query

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
    rounds, goes_on = 0, _can_go_on_at_once(store, program, rules, own)
    while variants:
        if goes_on and rounds:
            (one,) = own.values()
            improved = _improve(store, program, rules, one, everything)
            if improved is None:
                goes_on = False
                continue
            rounds += improved
        else:
            for variant in variants:
                heads = heads_of(store, program, variant.rule, variant.reads)
                if heads is not None:
                    found = temp_table(own[variant.rule.head.predicate].found)
                    store.run(exp.Insert(this=found, expression=heads.query))
            rounds += 1
        for one in own.values():
            one.finish_round(store)
        if rounds > MOST_ROUNDS_BEYOND + sum(one.known.rows for one in own.values()):
            raise EvaluationError("The best values get better for ever")
        deltas = {name: one.delta for name, one in own.items()}
        variants = delta_rounds(rules, everything, deltas)
    return {name: one.known for name, one in own.items() if one.known.rows}


# --- many rounds in one statement -----------------------------------------------------------------

AT_ONCE = 1_000
"""A statement goes through so many rounds at most, because values may get better for ever."""

_R = "r"
"""What the recursive statement has found."""


def _can_go_on_at_once(
    store: Store, program: Program, rules: Sequence[Rule], own: Mapping[str, _Own]
) -> bool:
    """Whether one statement can hold the rules, of one predicate with groups."""
    if len(own) > 1 or any(len(one.relation.columns) == 1 for one in own.values()):
        return False
    return can_go_on_at_once(store, program, rules, own)


def _improve(
    store: Store, program: Program, rules: Sequence[Rule], own: _Own, reads: Reads
) -> int | None:
    """Find the better values that the last ones lead to. Returns how many rounds that took.

    None if it cannot be done in one statement. The rank of a value is its round.
    """
    found = Part("", _R, 1, ranked=True)
    variants = delta_rounds(rules, reads, {rules[0].head.predicate: found})
    program = replace(program, at_once=True)
    try:
        heads = [heads_of(store, program, v.rule, _ranked(v, found), True) for v in variants]
    except NotAtOnce:
        return None
    queries = [one.query for one in heads if one is not None]
    if not queries:
        return 1
    with one_thread(store):
        store.run(create_temp(own.improved, own.improvement(queries)), {"most": AT_ONCE})
    better = temp_table(own.improved)
    rows = exp.select(*columns_of(own.relation)).from_(better.copy())
    store.run(exp.Insert(this=temp_table(own.found), expression=rows))
    rank = exp.column(RANK, quoted=True)
    return 1 + store.count(exp.select(exp.Max(this=rank)).from_(better))


def _ranked(variant: Variant, found: Part) -> Reads:
    """What the atoms of a variant read: that of the recursive predicate with ranks."""

    def read(place: int, atom: Atom) -> Relation:
        relation = variant.reads(place, atom)
        return replace(relation, ranked=True) if relation.parts == (found,) else relation

    return read


@dataclass(slots=True)
class _Own:
    """The tables of one predicate: what is known, what the last round changed, and its finds."""

    relation: Relation
    best: Best
    known: Part
    delta: Part
    found: str
    after: str
    improved: str

    @classmethod
    def begin(cls, store: Store, predicate: Predicate, best: Best) -> _Own:
        relation = Relation(predicate.columns, ())
        tables = [store.fresh(stem) for stem in ("known", "delta", "found", "after", "better")]
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

    def improvement(self, heads: Sequence[exp.Query]) -> exp.Select:
        """SELECT the values that are better than those known, from the last ones on."""
        columns = columns_of(self.relation, "c")
        value = columns[self.best.place]
        group = [c for n, c in enumerate(columns) if n != self.best.place]
        first = exp.Min if self.best.function == "min" else exp.Max
        next_rank = exp.Add(this=exp.Min(this=rank_of("c")), expression=exp.Literal.number(1))
        best = [
            (first(this=c.copy()) if c is value else c.copy()).as_(c.name, quoted=True)
            for c in columns
        ]
        query = exp.select(*best, next_rank.as_(RANK, quoted=True))
        query = query.from_(union_all(heads).subquery("c", copy=False), copy=False)
        query = query.where(rank_of("c") < parameter("most"), copy=False)
        query = query.group_by(*(c.copy() for c in group), copy=False)
        steps = exp.select(*columns, rank_of("c")).from_(query.subquery("c", copy=False))
        for number, known in enumerate(
            (exp.table_(_R, db="recurring"), temp_table(self.known.table))
        ):
            alias = f"k{number}"
            same = [c.eq(exp.column(c.name, table=alias, quoted=True)) for c in group]
            other = exp.column(value.name, table=alias, quoted=True)
            kind = exp.LTE if self.best.function == "min" else exp.GTE
            as_good = kind(this=other, expression=value.copy())
            item = joining(exp.alias_(known, alias, table=True), "ANTI")
            steps = steps.join(item, on=exp.and_(*same, as_good), copy=False)
        zero = exp.cast(exp.Literal.number(0), "BIGINT").as_(RANK, quoted=True)
        seeds = exp.select(*columns, zero).from_(temp_table(self.delta.table).as_("c"))
        cte = exp.CTE(
            this=exp.union(seeds, steps, distinct=True, copy=False),
            alias=exp.TableAlias(
                this=exp.to_identifier(_R),
                columns=[
                    exp.to_identifier(name, quoted=True)
                    for name in (*(c.name for c in columns), RANK)
                ],
            ),
            key_expressions=[exp.to_identifier(c.name, quoted=True) for c in group],
        )
        rows = exp.select(exp.Star()).from_(_R)
        rows.set("with_", exp.With(expressions=[cte], recursive=True))
        return rows

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
