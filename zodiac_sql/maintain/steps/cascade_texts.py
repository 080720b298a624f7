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
from zodiac_sql.maintain.steps.cascade_found import table_for
from zodiac_sql.maintain.steps.ranks import numbered
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable, add
from zodiac_sql.sql.counted_rounds import recursion_of
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Version, delta_plans
from zodiac_sql.sql.recursion import COLLECTED, with_recursion
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query, source
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.sql.tagged import Layout, layout_of, typed

_R = "r"


def cascade_texts(recursion: Recursion, new: Mapping[str, Part | None], most: int | None) -> int:
    """Add some new facts and all that follows from them to each `plus_*`.

    Returns how many these are. If they are more than `most`, the search has ended before its end.
    """
    store, owns, hypernode = recursion.store, recursion.owns, recursion.hypernode
    spelling = Spelling.begin(store, hypernode.name)
    limited = Limited.begin(store)
    columns = {p: typed(own.outside.stored, spelled=True) for p, own in owns.items()}
    layout = layout_of(columns, counts_rounds=limited is not None)
    begun = {name: part.rows for name, part in new.items() if part is not None}
    given = parameters_of(limited, begun, most)
    limit = parameter(MOST) if MOST in given else None
    query = _recursion(recursion, new, spelling, layout, limit)
    if all(own.ranked for own in owns.values()):
        query = numbered(owns, layout.columns, query)
    table = f"added_{hypernode.name}"
    store.count(create_temp(table, query), given, as_written=True)
    if limited is not None:
        limited.counted(table, layout, begun, hypernode.rules)
    added = 0
    for own in owns.values():
        part = layout.part(own.predicate, table, ranked=own.ranked)
        name = table_for(own, "added")
        rows = exp.select(*own.names("c")).from_(
            source(Relation(own.columns, (part,), own.ranked), "c")
        )
        count = encoded(store, rows, own.outside.stored, name)
        add(recursion.runner, own, Part("temp", name, count, ranked=own.ranked))
        added += count
    store.run(drop(table))
    spelling.drop()
    return added


def _recursion(
    recursion: Recursion,
    new: Mapping[str, Part | None],
    spelling: Spelling,
    layout: Layout,
    limit: exp.Expr | None,
) -> exp.Select:
    """What is new, and what follows from it, as far as there is no limit."""
    owns, inner = recursion.owns, spelling.context(recursion.inside())

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
    for rule in recursion.hypernode.rules:
        for plan in delta_plans(recursion.runner.cache, rule, owns):
            if not is_empty(plan, context):
                own = owns[rule.head.predicate]
                heads = compile_rule(plan, own.columns, context).query
                steps.append(layout.put(own.predicate, _unknown(own, heads, spelling)))
    if not steps:
        rows = exp.select(exp.Star()).from_(union_all(seeds).subquery("s", copy=False))
        return rows if limit is None else rows.limit(limit, copy=False)
    rows = exp.select(exp.Star()).from_(COLLECTED)
    return with_recursion(rows, _R, recursion_of(_R, layout, seeds, steps), limit)


def _unknown(own: WorkingTable, heads: exp.Query, spelling: Spelling) -> exp.Select:
    """The heads that are not known yet."""
    columns = columns_of(own.outside, "c")
    rows = exp.select(*columns).from_(heads.subquery("c", copy=False), copy=False)
    known = spelling.of(replace(own.known, ranked=False))
    return anti_join(rows, columns, source(known, "x")) if known.parts else rows
