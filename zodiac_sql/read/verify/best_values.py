"""The best value of each group, found in a second way for `verify` alone.

As second_opinion.py: rounds over all that the last one has changed, with bodies of rule_body.py.
What is the best of a group is told by a window over all that is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from zodiac_sql.cost.rounds import is_narrow
from zodiac_sql.database.one_thread import one_thread
from zodiac_sql.database.statements import (
    create_temp,
    drop,
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
from zodiac_sql.names import ORDER, RANK
from zodiac_sql.read.verify import terms
from zodiac_sql.read.verify.rule_body import NotAtOnce, Reads
from zodiac_sql.read.verify.second_opinion import (
    LONGER,
    Heads,
    Variant,
    delta_rounds,
    has_unknown,
    heads_of,
    picked_from,
)
from zodiac_sql.read.verify.values import ProgramMeaning
from zodiac_sql.rewrite.forms import are_linear
from zodiac_sql.sql.relations import (
    Part,
    Relation,
    columns_of,
    rank_of,
    relation_query,
)
from zodiac_sql.sql.tagged import Layout, layout_by_key, typed

MOST_ROUNDS_BEYOND = 2_000
"""More rounds than groups and these mean that values get better for ever."""


def derive_best(
    store: Store,
    program: ProgramMeaning,
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
    rounds, goes_on = 0, True
    linear = are_linear(rules, own)
    while variants:
        if goes_on and (rounds if linear else rounds >= LONGER and _is_narrow(own)):
            improved = _improve(store, program, rules, own, everything)
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
"""A statement goes through so many rounds at most, because values may get better for ever, and it
looks at all that it has found in each of them."""

_R = "r"
"""What the recursive statement has found."""


def _is_narrow(own: Mapping[str, _Own]) -> bool:
    """Whether the last round has found little: a statement joins it with all that it has."""
    return is_narrow(sum(one.delta.rows for one in own.values()))


def _improve(
    store: Store,
    program: ProgramMeaning,
    rules: Sequence[Rule],
    own: Mapping[str, _Own],
    reads: Reads,
) -> int | None:
    """Find the better values that the last ones lead to. Returns how many rounds that took.

    None if it cannot be done in one statement, as when a text that rules make has no id. The rank
    of a value is its round.
    """
    layout = layout_by_key(
        {name: typed(one.relation.columns) for name, one in own.items()},
        {name: one.value.name for name, one in own.items()},
    )
    found = _steps(store, program, rules, own, reads, layout)
    if found is None:
        return None
    steps, made = found
    if not steps:
        return 1
    if made and any(one.has_terms for one in own.values()):
        return None  # a text without an id has no place in the order of terms
    zero = exp.cast(exp.Literal.number(0), "BIGINT").as_(RANK, quoted=True)
    seeds = [
        layout.put(name, one.last()).select(zero.copy(), copy=False)
        for name, one in own.items()
        if one.delta.rows
    ]
    table = store.temporary.fresh("better")
    with one_thread(store.connection):
        query = _recursion(layout, seeds, steps)
        store.run(create_temp(table, query), {"most": AT_ONCE}, as_written=True)
    facts_of = picked_from(table, layout, {name: one.relation for name, one in own.items()})
    rounds = None
    if not any(has_unknown(store, facts_of[name]) for name in made):
        for name, one in own.items():
            store.run(exp.insert(relation_query(facts_of[name]), temp_table(one.found)))
        rank = exp.column(RANK, quoted=True)
        rounds = 1 + store.count(exp.select(exp.Max(this=rank)).from_(temp_table(table)))
    store.run(drop(table))
    return rounds


def _steps(
    store: Store,
    program: ProgramMeaning,
    rules: Sequence[Rule],
    own: Mapping[str, _Own],
    reads: Reads,
    layout: Layout,
) -> tuple[list[exp.Query], set[str]] | None:
    """What a round finds better of each predicate, and the predicates for which texts are made.

    None if that needs a table.
    """
    recurring = {name: layout.part(name, _R, "recurring") for name in own}
    last = {name: layout.part(name, _R, "", ranked=True) for name in own}

    def everything(place: int, atom: Atom) -> Relation:
        relation, mine = reads(place, atom), recurring.get(atom.predicate)
        return replace(relation, parts=(*relation.parts, mine)) if mine else relation

    steps, made = list[exp.Query](), set[str]()
    for name, one in own.items():
        mine = [rule for rule in rules if rule.head.predicate == name]
        heads = _heads(store, replace(program, at_once=True), mine, last, everything)
        if heads is None:
            return None
        if heads:
            known = [relation_query(replace(one.relation, parts=(recurring[name],)))]
            better = one.better([found.query for found in heads], known)
            steps.append(layout.put(name, better).select(rank_of("t"), copy=False))
            made |= set() if all(found.lasts for found in heads) else {name}
    return steps, made


def _heads(
    store: Store,
    program: ProgramMeaning,
    rules: Sequence[Rule],
    last: Mapping[str, Part],
    reads: Reads,
) -> list[Heads] | None:
    """What rules derive from the last round's values; None if that needs a table."""
    variants = delta_rounds(rules, reads, last)
    try:
        heads = [heads_of(store, program, v.rule, _ranked(v, last), True) for v in variants]
    except NotAtOnce:
        return None
    return [one for one in heads if one is not None]


def _ranked(variant: Variant, last: Mapping[str, Part]) -> Reads:
    """What the atoms of a variant read: that which has the last round's values with ranks."""

    def read(place: int, atom: Atom) -> Relation:
        relation = variant.reads(place, atom)
        is_last = relation.parts == (last.get(atom.predicate),)
        return replace(relation, ranked=True) if is_last else relation

    return read


def _recursion(
    layout: Layout, seeds: Sequence[exp.Query], steps: Sequence[exp.Query]
) -> exp.Select:
    """All better values that follow from the last ones, each with its round."""
    cte = exp.CTE(
        this=exp.union(union_all(seeds), union_all(steps), distinct=True, copy=False),
        alias=exp.TableAlias(
            this=exp.to_identifier(_R),
            columns=[exp.to_identifier(name, quoted=True) for name in (*layout.columns, RANK)],
        ),
        key_expressions=[exp.to_identifier(name, quoted=True) for name in layout.key],
    )
    rows = exp.select(exp.Star()).from_(_R)
    rows.set("with_", exp.With(expressions=[cte], recursive=True))
    return rows


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
        tables = [store.temporary.fresh(stem) for stem in ("known", "delta", "found", "after")]
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

    @property
    def has_terms(self) -> bool:
        """Whether the values are terms of a mixed column."""
        return self.relation.columns[self.best.place].mixed

    @property
    def value(self) -> exp.Column:
        """The column of the values."""
        return columns_of(self.relation, "c")[self.best.place]

    def last(self) -> exp.Select:
        """SELECT what the last round has changed."""
        return exp.select(*columns_of(self.relation)).from_(temp_table(self.delta.table))

    def better(self, heads: Sequence[exp.Query], recurring: Sequence[exp.Query]) -> exp.Select:
        """SELECT the values among heads that are better than those known, with their rounds."""
        columns = columns_of(self.relation, "c")
        steps = exp.select(*columns, rank_of("c"))
        steps = steps.from_(self._best_of(heads).subquery("c", copy=False))
        known = relation_query(replace(self.relation, parts=(self.known,)))
        for number, rows in enumerate((*recurring, known)):
            steps = self._beating(steps, rows, f"k{number}")
        return steps

    def _best_of(self, heads: Sequence[exp.Query]) -> exp.Select:
        """SELECT the best value of each group among heads, its round and its place in the order."""
        columns = columns_of(self.relation, "c")
        value, order = columns[self.best.place], exp.column(ORDER, table="c", quoted=True)
        first = exp.Min if self.best.function == "min" else exp.Max
        chosen: exp.Expr = first(this=value.copy())
        if self.has_terms:
            both = [value.copy(), order.copy()]
            chosen = exp.Anonymous(this=f"arg_{self.best.function}", expressions=both)
        next_rank = exp.Add(this=exp.Min(this=rank_of("c")), expression=exp.Literal.number(1))
        best = [(chosen if c is value else c.copy()).as_(c.name, quoted=True) for c in columns]
        best.append(first(this=order.copy()).as_(ORDER, quoted=True))
        query = exp.select(*best, next_rank.as_(RANK, quoted=True))
        placed = self._placed(union_all(heads), "c").select(rank_of("c"), copy=False)
        query = query.from_(placed.subquery("c", copy=False), copy=False)
        query = query.where(rank_of("c") < parameter("most"), copy=False)
        if group := [c.copy() for c in columns if c is not value]:
            return query.group_by(*group, copy=False)
        # Without groups there would be a row of nothing.
        return query.having(exp.Count(this=exp.Star()) > 0, copy=False)

    def _beating(self, steps: exp.Select, rows: exp.Query, alias: str) -> exp.Select:
        """Those of some values that are better than what some rows have in their groups."""
        columns = columns_of(self.relation, "c")
        value = columns[self.best.place]
        other = exp.column(value.name, table=alias, quoted=True)
        same = [
            c.eq(exp.column(c.name, table=alias, quoted=True)) for c in columns if c is not value
        ]
        item = rows.subquery(alias, copy=False)
        if not self.has_terms:
            as_good = exp.LTE if self.best.function == "min" else exp.GTE
            on = exp.and_(*same, as_good(this=other, expression=value.copy()))
            return steps.join(joining(item, "ANTI"), on=on, copy=False)
        on = exp.and_(*same) if same else exp.true()
        steps = steps.join(joining(item, "LEFT"), on=on, copy=False)
        # Of a group that is new, the value itself is looked up, but not compared.
        id_ = exp.func("coalesce", other.copy(), value.copy())
        row = f"s{alias}", f"v{alias}"
        steps = terms.with_row(steps, id_, *row)
        kind = exp.LT if self.best.function == "min" else exp.GT
        order = exp.column(ORDER, table="c", quoted=True)
        better = kind(this=order, expression=terms.place_of(terms.of_row(*row)))
        return steps.where(exp.or_(other.is_(exp.null()), better), copy=False)

    def _first(self, rows: exp.Query) -> exp.Select:
        """The rows whose value is the first of their group."""
        columns = columns_of(self.relation, "b")
        order = exp.column(ORDER, table="b", quoted=True)
        ordered = exp.Ordered(this=order, desc=self.best.function == "max")
        group = [c.copy() for n, c in enumerate(columns) if n != self.best.place]
        place = exp.Window(
            this=exp.RowNumber(), partition_by=group, order=exp.Order(expressions=[ordered])
        )
        query = exp.select(*columns).from_(self._placed(rows, "b").subquery("b"))
        return query.qualify(place.eq(1))

    def _placed(self, rows: exp.Query, alias: str) -> exp.Select:
        """SELECT rows with what puts their values in order."""
        columns = columns_of(self.relation, alias)
        value = columns[self.best.place]
        order = terms.place_of(terms.of_row("s", "v")) if self.has_terms else value.copy()
        query = exp.select(*columns, order.as_(ORDER, quoted=True))
        query = query.from_(rows.subquery(alias, copy=False), copy=False)
        return terms.with_row(query, value, "s", "v") if self.has_terms else query
