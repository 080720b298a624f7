"""All that follows from some new facts in one recursive statement, where rules make texts.

Inside it, symbols are their texts (evaluate/spelled.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, create_temp, drop
from zodiac_sql.evaluate.limited import MOST, Limited, parameters_of
from zodiac_sql.evaluate.spelled import Spelling, encoded
from zodiac_sql.maintain.steps.cascade_found import FoundRows, table_for
from zodiac_sql.maintain.steps.ranks import numbered
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import WorkingTable, add
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query, source
from zodiac_sql.sql.tagged import layout_of, typed


def cascade_texts(recursion: Recursion, new: Mapping[str, Part | None], most: int | None) -> int:
    """Add some new facts and all that follows from them to each `plus_*`.

    Returns how many these are. If they are more than `most`, the search has ended before its end.
    """
    store, owns, hypernode = recursion.store, recursion.owns, recursion.hypernode
    spelling = Spelling.begin(store, hypernode.name)
    limited = Limited.begin(store)
    columns = {p: typed(own.outside.stored, spelled=True) for p, own in owns.items()}
    layout = layout_of(columns, counts_rounds=limited is not None)
    found = FoundRows(recursion, layout, spelling=spelling)
    begun = {name: part.rows for name, part in new.items() if part is not None}
    given = parameters_of(limited, begun, most)
    facts = {name: Relation(owns[name].columns, (part,)) for name, part in new.items() if part}
    seeds = [layout.put(name, relation_query(spelling.of(rows))) for name, rows in facts.items()]
    steps = [
        layout.put(one.own.predicate, _unknown(one.own, one.heads(False), spelling))
        for one in found.applied(undeleted=False)
    ]
    query = found.query(seeds, steps, limited=MOST in given)
    if all(own.ranked for own in owns.values()):
        query = numbered(owns, layout.columns, query)
    table = f"added_{hypernode.name}"
    started = time.perf_counter()
    rows_found = store.count(create_temp(table, query), given, as_written=True)
    names = [rule.name for rule in hypernode.rules]
    recursion.runner.rules.note(names, time.perf_counter() - started, None, rows_found)
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


def _unknown(own: WorkingTable, heads: exp.Query, spelling: Spelling) -> exp.Select:
    """The heads that are not known yet."""
    columns = columns_of(own.outside, "c")
    rows = exp.select(*columns).from_(heads.subquery("c", copy=False), copy=False)
    known = spelling.of(replace(own.known, ranked=False))
    return anti_join(rows, columns, source(known, "x")) if known.parts else rows
