"""All rounds of a search that are left in one recursive statement, where rules are linear.

A round of the loop takes a few statements, and each costs milliseconds before it looks at a row. If
the hypernode's rules are linear, one statement finds all that follows from some facts instead, as
soon as rounds have cost as much as it will (cost/rounds.py). It
cannot check along the way: it finds all consequences that facts taken out may support, even those
that have another support. The latter come back when the hypernode is extended.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.cost.rounds import pays
from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import (
    anti_join,
    joining,
    parameter,
    temp_table,
    union_all,
)
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.in_shares import most_rows
from zodiac_sql.evaluate.limited import MOST, Limited, parameters_of
from zodiac_sql.graph.handed_on import Positions
from zodiac_sql.maintain.steps.beside_recursion import beside_recursion
from zodiac_sql.maintain.steps.cascade_found import FoundRows, HeadPlans, R, layout_for
from zodiac_sql.maintain.steps.cascade_texts import cascade_texts
from zodiac_sql.maintain.steps.find_candidates import stored_among
from zodiac_sql.maintain.steps.many_rounds import rules_make_texts
from zodiac_sql.maintain.steps.ranks import numbered
from zodiac_sql.maintain.steps.recursion import Recursion
from zodiac_sql.maintain.steps.working_table import (
    WorkingTable,
    WorkingTables,
    add,
    take_out,
)
from zodiac_sql.sql.recursion import COLLECTED, with_recursion
from zodiac_sql.sql.relations import (
    Part,
    columns_of,
    rank_of,
    relation_query,
    table,
)  # fmt: skip
from zodiac_sql.sql.select import spells_values
from zodiac_sql.sql.set_difference import absent

_KNOWN = "k"
"""What it knows from the start."""


def can_cascade(recursion: Recursion, rounds: int) -> bool:
    """Whether one statement is to do what is left of the work, after some rounds."""
    owns, rules = recursion.owns, recursion.hypernode.rules
    if recursion.closures and not any(
        atom.predicate in owns for rule in rules for atom in rule.positive_atoms()
    ):
        return False  # all rounds are those of relations that are kept as classes
    there = sum(own.base.rows for own in owns.values() if own.base)
    read = recursion.read
    if not pays(rounds, there + read, len(rules)) or not recursion.forms.linear:
        return False
    if rules_make_texts(recursion):
        if spells_values(recursion.hypernode.rules, recursion.context):
            return False
        read += dictionary.size(recursion.store)
        if not pays(rounds, there + read, len(rules), spelled=True):
            return False
    return rounds == 1 or there <= most_rows(recursion.store)


def cascade_lost(
    recursion: Recursion, lost: Mapping[str, Part | None], supported: bool, most: int | None
) -> int:
    """Take out some facts and all that they may support, directly or not.

    Returns how many these are. If they are more than `most`, the search has ended before its end.
    """
    owns = recursion.owns
    found = FoundRows(recursion, layout_for(owns, with_ranks=True), supported)
    applied = found.applied(undeleted=True)

    def query() -> exp.Query:
        seeds = [found.put(own, _rows(own, part)) for own, part in _there(owns, lost)]
        steps, tables = [], dict[str, exp.Query]()
        for one in applied:
            for rows in _stored_heads(one, supported, tables) if one.own.base else ():
                steps.append(found.put(one.own, rows))
        return found.query(seeds, steps, limited=most is not None, tables=tables)

    given = parameters_of(None, {}, most)
    bases = tuple((relation_key(own.known), own.ranked, bool(own.gone)) for own in owns.values())
    key = ("cascade lost", _names(owns, lost), bases, supported, *(one.key for one in applied))
    taken = 0
    for own, part in found.split(key, query, "gone", given):
        take_out(recursion.runner, own, part)
        taken += part.rows
    return taken


def cascade_new(recursion: Recursion, new: Mapping[str, Part | None], most: int | None) -> int:
    """Add some new facts and all that follows from them to each `plus_*`.

    Returns how many these are. If they are more than `most`, the search has ended before its end.
    """
    if rules_make_texts(recursion):
        return cascade_texts(recursion, new, most)
    owns, limited = recursion.owns, Limited.begin(recursion.store)
    layout = layout_for(owns, with_ranks=False, counts_rounds=limited is not None)
    found = FoundRows(recursion, layout)
    applied = found.applied(undeleted=False)
    positions = _handed_on(recursion) if applied and not limited else None
    begun = {name: part.rows for name, part in new.items() if part is not None}
    given = parameters_of(limited, begun, most)

    def query() -> exp.Query:
        if positions is not None:
            rows: exp.Query = _beside_known(found, new, applied, positions)
            return rows.limit(parameter(MOST), copy=False) if most is not None else rows
        seeds = [found.put(own, _new_rows(own, part)) for own, part in _there(owns, new)]
        steps = [found.put(one.own, _unknown_heads(one.own, one.heads(False))) for one in applied]
        rows = found.query(seeds, steps, limited=MOST in given)
        ranked = all(own.ranked for own in owns.values())
        return numbered(owns, found.columns, rows) if ranked else rows

    known = tuple(
        (relation_key(own.known), own.ranked, own.base and own.base.table) for own in owns.values()
    )
    key = (
        "cascade new",
        _names(owns, new),
        known,
        positions is None,
        *(one.key for one in applied),
    )
    added = 0
    for own, part in found.split(key, query, "added", given, limited, begun):
        add(recursion.runner, own, part)
        added += part.rows
    return added


def _there(
    owns: WorkingTables, parts: Mapping[str, Part | None]
) -> Iterator[tuple[WorkingTable, Part]]:
    return ((owns[name], part) for name, part in parts.items() if part is not None)


def _names(owns: WorkingTables, parts: Mapping[str, Part | None]) -> Hashable:
    return tuple(part.table for _, part in _there(owns, parts))


def _rows(own: WorkingTable, part: Part) -> exp.Select:
    return exp.select(*own.names("t")).from_(temp_table(part.table).as_("t"))


def _new_rows(own: WorkingTable, part: Part) -> exp.Select:
    return exp.select(*columns_of(own.outside, "t")).from_(temp_table(part.table).as_("t"))


def _stored_heads(
    one: HeadPlans, supported: bool, tables: dict[str, exp.Query]
) -> Iterator[exp.Query]:
    """The stored facts among the heads of some plans. Adds `tables` that the queries read."""
    own, others = one.own, []
    assert own.base is not None
    for plan in one.plans:
        if (found := beside_recursion(plan, own, one.context, supported)) is None:
            others.append(plan)
            continue
        name = f"heads_{len(tables)}"
        tables[name] = found.stored
        yield found.step(name)
    if others:
        heads = replace(one, plans=others).heads(supported)
        yield stored_among(own, own.base, heads, supported)


def _unknown_heads(own: WorkingTable, heads: exp.Query) -> exp.Select:
    """The heads that are not known yet. The statement itself drops those that it has found."""
    known = own.known
    columns = columns_of(known, "t")
    query = exp.select(*columns_of(known, "c")).from_(heads.subquery("c", copy=False), copy=False)
    for number, part in enumerate(known.parts):
        other = exp.select(*columns).from_(table(part).as_("t"))
        if part.read.minus:
            other = anti_join(other, columns, temp_table(part.read.minus), "m")
        query = absent(query, known, other, f"x{number}")
    return query


def _handed_on(recursion: Recursion) -> Positions | None:
    """The argument of each predicate that all rules hand on, if facts are known, and the rows of
    all predicates have the same types: else there are NULLs, which are equal to nothing.
    """
    owns = recursion.owns
    types = {tuple(column.meant for column in own.columns) for own in owns.values()}
    known = any(own.known.parts for own in owns.values())
    return recursion.forms.handed_on if known and len(types) == 1 else None


def _beside_known(
    found: FoundRows,
    new: Mapping[str, Part | None],
    applied: Sequence[HeadPlans],
    positions: Positions,
) -> exp.Select:
    """Some new facts and all that follows from them, where the rules hand on an argument.

    Known facts with the same values there take part from the start, and are left out in the end. So
    the statement drops them like those that it has found. What follows from them is known, or among
    the new facts that it begins with. With DuckDB 1.5, to compare the heads of each round with all
    known facts took a millisecond for 20,000. (A chain of 400 with 60 shortcuts that loses a link:
    241 ms, then 23. Not measured again with DuckDB 2, which keeps the hash table of these facts.)
    """
    owns = found.recursion.owns
    seeds = [found.put(own, _new_rows(own, part)) for own, part in _there(owns, new)]
    start = union_all([*seeds, exp.select(exp.Star()).from_(exp.table_(_KNOWN))])
    steps = union_all([found.put(one.own, one.heads(False)) for one in applied])
    recursion = exp.union(start, steps, distinct=True, copy=False)
    rows = exp.select(exp.Star()).from_(COLLECTED)
    ranked = all(own.ranked for own in owns.values())
    if ranked:
        rows = numbered(owns, found.columns, rows)
    names = [exp.column(name, table="c", quoted=True) for name in found.columns]
    query = exp.select(*names, *([rank_of("c")] if ranked else []))
    query = query.from_(rows.subquery("c", copy=False), copy=False)
    query = anti_join(query, names, exp.table_(_KNOWN), "x")
    known = _known_alike(found, new, positions)
    query = query.with_(_KNOWN, as_=known, materialized=True, copy=False)
    return with_recursion(query, R, recursion)


def _known_alike(
    found: FoundRows, new: Mapping[str, Part | None], positions: Positions
) -> exp.Query:
    """The known facts whose argument that is handed on is that of some new fact."""

    def argument(own: WorkingTable, alias: str) -> exp.Column:
        return columns_of(own.outside, alias)[positions[own.predicate]]

    def alike(own: WorkingTable) -> exp.Query:
        values = [
            exp.select(argument(one, "t").as_("v")).from_(temp_table(part.table).as_("t"))
            for one, part in _there(found.recursion.owns, new)
        ]
        same = argument(own, "c").eq(exp.column("v", table="b"))
        facts = relation_query(replace(own.known, ranked=False)).subquery("c", copy=False)
        query = exp.select(*columns_of(own.outside, "c")).from_(facts, copy=False)
        item = joining(union_all(values).subquery("b", copy=False), "SEMI")
        return query.join(item, on=same, copy=False)

    return union_all([found.put(own, alike(own)) for own in found.recursion.owns.values()])
