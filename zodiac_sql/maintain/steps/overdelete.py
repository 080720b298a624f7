"""Taking out of a recursive hypernode what may have lost its support.

Facts that a change robs of a derivation are candidates, and so are, round by round, those that
facts taken out help to derive. Without ranks all candidates are taken out (DRed, paper 3, DR2).

With ranks, most stay. A derivation from facts of lower ranks is a support, and a fact is safe as
long as it has one: following supports downwards, ranks fall, so they end in facts that came from
outside, and no circle of facts can hold itself up. Hence only a fact that loses a support is a
candidate, and only one that has no other is taken out. It may still have a derivation from facts
of higher ranks; then it comes back when the hypernode is extended again (DR4 and DR5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, temp_table, union_all
from zodiac_sql.evaluate.make_tables import make_part
from zodiac_sql.evaluate.run_plans import apply_plans, tables
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Task, Work
from zodiac_sql.maintain.steps.cascade import can_cascade, cascade_lost
from zodiac_sql.maintain.steps.partitions import lose_fed, lose_given
from zodiac_sql.maintain.steps.slices import LARGE, slice_tables
from zodiac_sql.maintain.steps.working_table import (
    TooMuch,
    WorkingTable,
    WorkingTables,
    context_of,
    take_out,
    without_outside,
)
from zodiac_sql.names import RANK
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, candidate_check, delta_variants
from zodiac_sql.sql.relations import Part, Relation, columns_of, rank_of, relation_query, table
from zodiac_sql.sql.set_difference import absent


def overdelete(task: Task, owns: WorkingTables, supported: bool, budget: int | None = None) -> Work:
    """Fill `gone` of each predicate. With `supported`, facts with a support by ranks are spared.

    Raises TooMuch before more facts than `budget` would be checked.
    """
    work = Work()
    plans = task.losses()
    if lose_given(task):
        plans += all_onwards(task, owns)
    while True:
        for own in owns.values():
            own.is_checked_for(_candidates(task, owns, own, plans, work.iterations, supported))
        checked = sum(own.candidate.rows for own in owns.values() if own.candidate)
        if not checked:
            return work
        if budget is not None and work.checked + checked > budget:
            raise TooMuch(f"more than {budget:,} facts may have lost their support")
        lost = {own.predicate: own.candidate for own in owns.values()}
        if supported:
            lost = {own.predicate: _unsupported(task, owns, own) for own in owns.values()}
        given = 0  # of the candidates, those that no rule found
        if work.iterations == 0:
            given = sum(part.rows for part in task.marking.given.values())
            slice_tables(task, owns, lost)
        taken = sum(part.rows for part in lost.values() if part)
        work = work.plus(
            checked=checked, forward=checked - given, overdeleted=taken, iterations=1,
            backward=checked - taken if supported else 0, deletions=checked - given,
        )  # fmt: skip
        if taken and can_cascade(task, owns):
            return work.plus(overdeleted=_cascade(task, owns, lost, supported) - taken)
        for own in owns.values():
            _take_out(task, own, lost[own.predicate])
        lose_fed(task, owns)
        plans = all_onwards(task, owns)


def _cascade(
    task: Task, owns: WorkingTables, lost: Mapping[str, Part | None], supported: bool
) -> int:
    """Take out what was lost, and what that may support, in one statement. Returns the rows."""
    (own,) = owns.values()
    part = lost[own.predicate]
    assert part is not None
    own.loses(cascade_lost(task, own, part, supported))
    return own.gone


def all_onwards(task: Task, owns: WorkingTables) -> list[Plan]:
    """The delta variants of all rules."""
    return [plan for rule in task.hypernode.rules for plan in onwards(task, rule, owns)]


def onwards(task: Task, rule: Rule, owns: WorkingTables) -> tuple[Plan, ...]:
    """The delta variants of a rule over the hypernode's own predicates."""
    own = {*owns, *task.closures}
    return task.cache.get(("delta", rule.name), lambda: delta_variants(rule, own))


def checks(task: Task, predicate: str) -> list[Plan]:
    """Plans that derive those of some candidates that can be derived."""
    return [
        task.cache.get(("check", rule.name), partial(candidate_check, rule))
        for rule in task.hypernode.rules
        if rule.head.predicate == predicate
    ]


def _candidates(
    task: Task,
    owns: WorkingTables,
    own: WorkingTable,
    plans: Iterable[Plan],
    iteration: int,
    supported: bool,
) -> Part | None:
    """Create `cand_*`: own facts, not yet taken out, that may have lost a support.

    In the first round these are also facts that no longer come from outside, and marked ones.
    """
    context = context_of(task, owns, undeleted=True)
    mine = [p for p in plans if p.rule.head.predicate == own.predicate and not is_empty(p, context)]
    former: tuple[Part, ...] = ()
    if iteration == 0:
        marked = task.marking.given.get(own.predicate)
        former = (*own.deleted.parts, *((marked,) if marked else ()))
    if own.stored is None or not (mine or former):
        return None
    stored, gone = own.base, bool(own.gone)
    assert stored is not None

    def heads_of(heads: exp.Query | None) -> exp.Query:
        queries = [] if heads is None else [heads]
        if former:
            queries.append(relation_query(Relation(own.columns, former, supported)))
        return _each_once(own, union_all(queries), supported)

    # Two names in turn where all candidates are taken out, and are the next delta.
    name = f"cand_{0 if supported else iteration % 2}_{own.stem}"
    reads = tables(Relation(own.columns, former))
    key = ("candidates", gone, stored.table, reads, supported, own.ranked)
    if stored.rows < LARGE:
        rows = apply_plans(
            task.store, task.cache, key, mine, own.columns, context, name,
            lambda heads: _stored_among(own, stored, heads_of(heads), gone, supported),
            ranked=supported,
        )  # fmt: skip
        return Part("temp", name, rows, ranked=own.ranked) if rows else None
    # In two steps: DuckDB would not know that the heads are few, and hash the large table.
    heads = f"heads_{own.stem}"
    found = apply_plans(
        task.store, task.cache, ("heads", *key), mine, own.columns, context, heads, heads_of,
        ranked=supported,
    )  # fmt: skip
    if not found:
        return None

    def query() -> exp.Query:
        given = exp.select("*").from_(temp_table(heads))
        return _stored_among(own, stored, given, gone, supported)

    return make_part(task.store, task.cache, key, name, query, ranked=own.ranked)


def _each_once(own: WorkingTable, heads: exp.Query, supported: bool) -> exp.Select:
    """Heads without repetitions; by ranks, each with the least that a body allows it."""
    columns = columns_of(own.outside, "c")
    rows = exp.select(*columns).from_(heads.subquery("c", copy=False))
    if not supported:
        return rows.distinct(copy=False)
    least = exp.Min(this=rank_of("c")).as_(RANK, quoted=True)
    return rows.select(least, copy=False).group_by(*(c.copy() for c in columns), copy=False)


def _stored_among(
    own: WorkingTable, stored: Part, rows: exp.Query, gone: bool, supported: bool
) -> exp.Select:
    """The stored facts among some heads; by ranks, only those that a head's body can support."""
    there = columns_of(own.outside, "t")
    same: list[exp.Expr] = [
        a.eq(b) for a, b in zip(there, columns_of(own.outside, "h"), strict=True)
    ]
    if supported:
        same.append(rank_of("t") >= rank_of("h"))
    query = exp.select(*own.names("t")).from_(rows.subquery("h", copy=False))
    query = query.join(table(stored).as_("t"), on=exp.and_(*same, copy=False), copy=False)
    return anti_join(query, there, temp_table(own.gone_table), "g") if gone else query


def _unsupported(task: Task, owns: WorkingTables, own: WorkingTable) -> Part | None:
    """Create `lost_*`: the candidates that have no support left."""
    candidate = own.candidate
    if candidate is None:
        return None
    context = context_of(task, owns)
    plans = [plan for plan in checks(task, own.predicate) if not is_empty(plan, context)]

    def shape(heads: exp.Query | None) -> exp.Query:
        query = exp.select(*own.names("c")).from_(temp_table(candidate.table).as_("c"))
        return absent(query, own.outside, heads)

    name = f"lost_{own.stem}"
    rows = apply_plans(
        task.store,
        task.cache,
        ("unsupported", candidate.table, own.ranked),
        plans,
        own.columns,
        context,
        name,
        shape,
    )
    return Part("temp", name, rows, ranked=own.ranked) if rows else None


def _take_out(task: Task, own: WorkingTable, lost: Part | None) -> None:
    """Take out what was lost; what the extension loses by it is the next delta."""
    own.hands_on(None)
    if lost is not None:
        own.hands_on(without_outside(task, own, lost, f"delta_{own.stem}"))
        take_out(task, own, lost)
