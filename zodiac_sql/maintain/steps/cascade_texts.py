"""All that follows from some new facts in one recursive statement, where rules make texts.

Inside it, symbols are their texts (evaluate/spelled.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, create_temp, drop, parameter, union_all
from zodiac_sql.evaluate.limited import MOST, Limited, parameters_of
from zodiac_sql.evaluate.spelled import Spelling, encoded
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.ranks import numbered
from zodiac_sql.maintain.steps.working_table import WorkingTable, WorkingTables, add, context_of
from zodiac_sql.sql.counted_rounds import recursion_of
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Version, delta_plans
from zodiac_sql.sql.recursion import COLLECTED, with_recursion
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query, source
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.sql.tagged import Layout, layout_of, typed

_R = "r"


def cascade_texts(
    task: Task, owns: WorkingTables, new: Mapping[str, Part | None], most: int | None
) -> int:
    """Add some new facts and all that follows from them to each `plus_*`.

    Returns how many these are. If they are more than `most`, the search has ended before its end.
    """
    store = task.store
    spelling = Spelling.begin(store, task.hypernode.name)
    limited = Limited.begin(store)
    columns = {p: typed(own.outside.stored, spelled=True) for p, own in owns.items()}
    layout = layout_of(columns, counts_rounds=limited is not None)
    begun = {name: part.rows for name, part in new.items() if part is not None}
    given = parameters_of(limited, begun, most)
    limit = parameter(MOST) if MOST in given else None
    query = _recursion(task, owns, new, spelling, layout, limit)
    if all(own.ranked for own in owns.values()):
        query = numbered(owns, layout.columns, query)
    table = f"added_{task.hypernode.name}"
    store.count(create_temp(table, query), given, as_written=True)
    if limited is not None:
        limited.counted(table, layout, begun, task.hypernode.rules)
    added = 0
    for own in owns.values():
        part = layout.part(own.predicate, table, ranked=own.ranked)
        name = f"more_{own.stem}" if own.added else own.added_table
        rows = exp.select(*own.names("c")).from_(
            source(Relation(own.columns, (part,), own.ranked), "c")
        )
        count = encoded(store, rows, own.outside.stored, name)
        if own.added:
            add(task, own, Part("temp", name, count, ranked=own.ranked))
        else:
            own.gains(count)
        added += count
    store.run(drop(table))
    spelling.drop()
    return added


def _recursion(
    task: Task,
    owns: WorkingTables,
    new: Mapping[str, Part | None],
    spelling: Spelling,
    layout: Layout,
    limit: exp.Expr | None,
) -> exp.Select:
    """What is new, and what follows from it, as far as there is no limit."""
    inner = spelling.context(context_of(task, owns))

    def relation(name: str, version: Version) -> Relation:
        if name not in owns or version is not Version.DELTA:
            return inner.relation(name, version)
        return Relation(owns[name].columns, (layout.part(name, _R, ""),))

    context = replace(inner, relation=relation)
    seeds = [
        layout.put(name, relation_query(spelling.of(Relation(owns[name].columns, (part,)))))
        for name, part in new.items()
        if part is not None
    ]
    steps = []
    for rule in task.hypernode.rules:
        for plan in delta_plans(task.cache, rule, owns):
            if not is_empty(plan, context):
                own = owns[rule.head.predicate]
                heads = compile_rule(plan, own.columns, context).query
                steps.append(layout.put(own.predicate, _unknown(own, heads, spelling)))
    if not steps:
        rows = exp.select(exp.Star()).from_(union_all(seeds).subquery("s", copy=False))
        return rows if limit is None else rows.limit(limit, copy=False)
    recursion = recursion_of(_R, layout, seeds, steps)
    return with_recursion(exp.select(exp.Star()).from_(COLLECTED), _R, recursion, limit)


def _unknown(own: WorkingTable, heads: exp.Query, spelling: Spelling) -> exp.Select:
    """The heads that are not known yet."""
    columns = columns_of(own.outside, "c")
    rows = exp.select(*columns).from_(heads.subquery("c", copy=False), copy=False)
    known = spelling.of(replace(own.known, ranked=False))
    return anti_join(rows, columns, source(known, "x")) if known.parts else rows
