"""The stored facts that a round of overdeletion looks at, and those that lose their support."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.cost.sizes import is_large
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import anti_join, temp_table, union_all
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.make_tables import make_table
from zodiac_sql.evaluate.run_plans import Target, apply_plans, found_by
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable
from zodiac_sql.names import RANK
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.relations import Part, Relation, columns_of, rank_of, relation_query, table
from zodiac_sql.sql.set_difference import absent


def find_candidates(
    recursion: Recursion,
    own: WorkingTable,
    plans: Iterable[Plan],
    *,
    iteration: int,
    supported: bool,
) -> Part | None:
    """Create `cand_*`: own facts, not yet taken out, that may have lost a support.

    In the first round these are also facts that no longer come from outside, and those that are
    candidates from the start.
    """
    context = recursion.inside(undeleted=True)
    mine = solvable(plans, context, own.predicate)
    former = _former(own) if iteration == 0 else ()
    stored = own.base
    if stored is None or not (mine or former):
        return None

    def heads_once(heads: exp.Query | None) -> exp.Query:
        queries = [] if heads is None else [heads]
        if former:
            queries.append(relation_query(Relation(own.columns, former, supported)))
        return _each_once(own, union_all(queries), supported)

    def stored_heads(heads: exp.Query | None) -> exp.Query:
        return stored_among(own, stored, heads_once(heads), supported)

    # Two names in turn where all candidates are taken out, and are the next delta.
    name = f"cand_{0 if supported else iteration % 2}_{own.stem}"
    reads = relation_key(Relation(own.columns, former))
    key = ("candidates", bool(own.gone), stored.table, reads, supported, own.ranked)
    # In one step DuckDB would not know that the heads are few, and would hash a large table.
    in_two_steps = is_large(stored.rows)
    target = Target(
        table=f"heads_{own.stem}" if in_two_steps else name,
        columns=own.columns,
        key=("heads", *key) if in_two_steps else key,
        shape=heads_once if in_two_steps else stored_heads,
        ranked=supported,
    )
    rows = apply_plans(recursion.runner, mine, context, target)
    if rows and in_two_steps:
        rows = _join_heads(recursion.runner, own, stored, supported, name)
    return Part("temp", name, rows, ranked=own.ranked) if rows else None


def _former(own: WorkingTable) -> tuple[Part, ...]:
    """Candidates that no rule finds."""
    return (*own.outside_delta.deleted.parts, *((own.candidate,) if own.candidate else ()))


def _join_heads(runner: Runner, own: WorkingTable, stored: Part, supported: bool, name: str) -> int:
    """Create table `name`: the stored facts among the heads that were found. Returns its rows."""

    def query() -> exp.Query:
        heads = exp.select(exp.Star()).from_(temp_table(f"heads_{own.stem}"))
        return stored_among(own, stored, heads, supported)

    key = ("stored among heads", stored.table, bool(own.gone), supported, own.ranked)
    return make_table(runner, key, name, query)


def _each_once(own: WorkingTable, heads: exp.Query, supported: bool) -> exp.Select:
    """Heads without repetitions; if `supported`, each with the least rank that a body gives it."""
    columns = columns_of(own.outside, "c")
    rows = exp.select(*columns).from_(heads.subquery("c", copy=False))
    if not supported:
        return rows.distinct(copy=False)
    least = exp.Min(this=rank_of("c")).as_(RANK, quoted=True)
    return rows.select(least, copy=False).group_by(*(c.copy() for c in columns), copy=False)


def stored_among(own: WorkingTable, stored: Part, rows: exp.Query, supported: bool) -> exp.Select:
    """The stored facts among some heads; if `supported`, only those that a body can support."""
    there = columns_of(own.outside, "t")
    same: list[exp.Expr] = [
        a.eq(b) for a, b in zip(there, columns_of(own.outside, "h"), strict=True)
    ]
    if supported:
        same.append(rank_of("t") >= rank_of("h"))
    query = exp.select(*own.names("t")).from_(rows.subquery("h", copy=False))
    query = query.join(table(stored).as_("t"), on=exp.and_(*same, copy=False), copy=False)
    return anti_join(query, there, temp_table(own.gone.table), "g") if own.gone else query


def find_unsupported(recursion: Recursion, own: WorkingTable) -> Part | None:
    """Create `lost_*`: the candidates that have no support left."""
    candidate = own.candidate
    if candidate is None:
        return None
    context = recursion.inside()
    plans = solvable(recursion.checks(own.predicate), context)

    def shape(heads: exp.Query | None) -> exp.Query:
        query = exp.select(*own.names("c")).from_(temp_table(candidate.table).as_("c"))
        return absent(query, own.outside, heads)

    key = ("unsupported", candidate.table, own.ranked)
    target = Target(f"lost_{own.stem}", own.columns, key, shape)
    found = found_by(recursion.runner, plans, context, target)
    return replace(found, ranked=own.ranked) if found else None
