"""All rounds of a search that are left in one recursive statement, where rules are linear.

A round of the loop takes a few statements, and each costs milliseconds before it looks at a row. If
the hypernode's rules are linear, one statement finds all that follows from some facts instead, as
soon as rounds have cost as much as it will (evaluate/one_statement.py). It
cannot check along the way: it finds all consequences that facts taken out may support, even those
that have another support. The latter come back when the hypernode is extended.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from zodiac_sql.database import dictionary
from zodiac_sql.database.statements import (
    anti_join,
    joining,
    parameter,
    temp_table,
    union_all,
)
from zodiac_sql.evaluate.cache_keys import plan_key, relation_key
from zodiac_sql.evaluate.in_shares import most_rows
from zodiac_sql.evaluate.linear_rules import (
    are_linear,
    counts_rounds,
)
from zodiac_sql.evaluate.make_tables import make_table
from zodiac_sql.evaluate.one_statement import pays
from zodiac_sql.graph.handed_on import Positions
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Task
from zodiac_sql.maintain.steps.beside_recursion import beside_recursion
from zodiac_sql.maintain.steps.cascade_texts import cascade_texts
from zodiac_sql.maintain.steps.many_rounds import rules_make_texts
from zodiac_sql.maintain.steps.ranks import numbered
from zodiac_sql.maintain.steps.slices import positions_of
from zodiac_sql.maintain.steps.working_table import (
    WorkingTable,
    WorkingTables,
    add,
    context_of,
    take_out,
)
from zodiac_sql.names import RANK
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version, delta_variants
from zodiac_sql.sql.recursion import COLLECTED, with_recursion
from zodiac_sql.sql.relations import (
    Part,
    Relation,
    columns_of,
    mark_of,
    part_query,
    rank_of,
    relation_query,
    table,
)  # fmt: skip
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.sql.set_difference import absent, unknown
from zodiac_sql.sql.tagged import Layout, layout_of, typed

_R = "r"
"""What the recursive statement has found."""

NO_TABLES: Mapping[str, exp.Query] = {}

_KNOWN = "k"
"""What it knows from the start."""


def can_cascade(task: Task, owns: WorkingTables, rounds: int) -> bool:
    """Whether one statement is to do what is left of the work, after some rounds."""
    if task.closures or counts_rounds(task.store, task.hypernode.rules):
        return False
    if len(owns) > 1 and task.marking.next:
        return False
    there = sum(own.base.rows for own in owns.values() if own.base)
    read = sum(task.inputs(name, Version.ALL).rows for name in task.hypernode.reads)
    if not pays(rounds, there + read, len(task.hypernode.rules)):
        return False
    if not are_linear(task.hypernode):
        return False
    if rules_make_texts(task):
        if task.marking.next:
            return False
        read += dictionary.size(task.store)
        if not pays(rounds, there + read, len(task.hypernode.rules), spelled=True):
            return False
    return rounds == 1 or there <= most_rows(task.store)


def cascade_lost(
    task: Task,
    owns: WorkingTables,
    lost: Mapping[str, Part | None],
    supported: bool,
    most: int | None,
) -> int:
    """Take out some facts and all that they may support, directly or not.

    Returns how many these are. If they are more than `most`, the search has ended before its end.
    """
    found = _found(task, owns, supported, with_ranks=True)
    applied = found.applied(undeleted=True)

    def query() -> exp.Query:
        seeds = [found.put(own, _rows(own, part)) for own, part in _there(owns, lost)]
        steps, tables = [], dict[str, exp.Query]()
        for one in applied:
            for rows in _stored_heads(one, supported, tables) if one.own.base else ():
                steps.append(found.put(one.own, rows))
        return found.query(seeds, steps, limited=most is not None, tables=tables)

    bases = tuple((relation_key(own.known), own.ranked, bool(own.gone)) for own in owns.values())
    key = ("cascade lost", _names(owns, lost), bases, supported, *(one.key for one in applied))
    taken = 0
    for own, rows in found.split(key, query, "gone", most):
        if own.gone and rows:
            take_out(task, own, Part("temp", _table(own, "gone"), rows, ranked=own.ranked))
        elif rows:
            own.loses(rows)
        taken += rows
    return taken


def cascade_new(
    task: Task, owns: WorkingTables, new: Mapping[str, Part | None], most: int | None
) -> int:
    """Add some new facts and all that follows from them to each `plus_*`.

    Returns how many these are. If they are more than `most`, the search has ended before its end.
    """
    if rules_make_texts(task):
        return cascade_texts(task, owns, new, most)
    found = _found(task, owns, False, with_ranks=False)
    applied = found.applied(undeleted=False)
    positions = _handed_on(task, owns) if applied else None

    def query() -> exp.Query:
        if positions is not None:
            rows: exp.Query = _beside_known(found, new, applied, positions)
            return rows.limit(_limit(), copy=False) if most is not None else rows
        seeds = [found.put(own, _new_rows(own, part)) for own, part in _there(owns, new)]
        steps = [found.put(one.own, _unknown_heads(one.own, one.heads(False))) for one in applied]
        rows = found.query(seeds, steps, limited=most is not None)
        (own, *others) = owns.values()
        if own.marks and not others:  # one row for a fact found with a mark and without
            rows = unknown(rows, Relation(own.known.columns, ()), marked=True)
        return numbered(owns, found.columns, rows) if own.ranked else rows

    known = tuple(
        (relation_key(own.known), own.ranked, own.marks, own.passes_on, own.base and own.base.table)
        for own in owns.values()
    )
    key = (
        "cascade new",
        _names(owns, new),
        known,
        positions is None,
        *(one.key for one in applied),
    )
    added = 0
    for own, rows in found.split(key, query, "added", most):
        if own.plus:
            add(task, own, Part("temp", _table(own, "added"), rows, ranked=own.ranked))
        else:
            own.gains(rows)
        added += rows
    return added


def _limit() -> exp.Expr:
    """One row more than there may be."""
    return parameter("most") + exp.Literal.number(1)


def _there(
    owns: WorkingTables, parts: Mapping[str, Part | None]
) -> Iterator[tuple[WorkingTable, Part]]:
    return ((owns[name], part) for name, part in parts.items() if part is not None)


def _names(owns: WorkingTables, parts: Mapping[str, Part | None]) -> Hashable:
    return tuple(part.table for _, part in _there(owns, parts))


def _rows(own: WorkingTable, part: Part) -> exp.Select:
    return exp.select(*own.names("t")).from_(temp_table(part.table).as_("t"))


def _new_rows(own: WorkingTable, part: Part) -> exp.Select:
    marks = [mark_of("t")] if own.marks else []
    columns = columns_of(own.outside, "t")
    return exp.select(*columns, *marks).from_(temp_table(part.table).as_("t"))


def _stored_heads(
    one: _Applied, supported: bool, tables: dict[str, exp.Query]
) -> Iterator[exp.Query]:
    """The stored facts among the heads of some plans. Adds `tables` that the queries read."""
    own, others = one.own, []
    for plan in one.plans:
        if (found := beside_recursion(plan, own, one.context, supported)) is None:
            others.append(plan)
            continue
        name = f"heads_{len(tables)}"
        tables[name] = found.stored
        yield found.step(name)
    if others:
        yield _stored_among(own, replace(one, plans=others).heads(supported), supported)


def _stored_among(own: WorkingTable, heads: exp.Query, supported: bool) -> exp.Select:
    """The stored facts among some heads; if `supported`, only those that a body can support."""
    assert own.base is not None
    pairs = zip(columns_of(own.outside, "t"), columns_of(own.outside, "h"), strict=True)
    same: list[exp.Expr] = [a.eq(b) for a, b in pairs]
    if supported:
        same.append(rank_of("t") >= rank_of("h"))
    query = exp.select(*own.names("t")).from_(heads.subquery("h", copy=False), copy=False)
    query = query.join(table(own.base).as_("t"), on=exp.and_(*same), copy=False)
    if own.gone:
        query = anti_join(query, columns_of(own.outside, "t"), temp_table(own.gone_table), "g")
    return query


def _unknown_heads(own: WorkingTable, heads: exp.Query) -> exp.Select:
    """The heads that are not known yet. The statement itself drops those that it has found."""
    known = own.known
    columns = columns_of(known, "t")
    names = columns_of(known, "c") + ([mark_of("c")] if own.marks else [])
    query = exp.select(*names).from_(heads.subquery("c", copy=False), copy=False)
    for number, part in enumerate(known.parts):
        other = exp.select(*columns).from_(table(part).as_("t"))
        if part.minus:
            other = anti_join(other, columns, temp_table(part.minus), "m")
        query = absent(query, known, other, f"x{number}")
    return query


def _handed_on(task: Task, owns: WorkingTables) -> Positions | None:
    """The argument of each predicate that all rules hand on, if facts are known, and the rows of
    all predicates have the same types: else there are NULLs, which are equal to nothing.
    """
    types = {tuple(column.type for column in own.columns) for own in owns.values()}
    known = any(own.known.parts for own in owns.values())
    if len(types) > 1 or not known or any(own.marks for own in owns.values()):
        return None
    return positions_of(task)


def _beside_known(
    found: _Found,
    new: Mapping[str, Part | None],
    applied: Sequence[_Applied],
    positions: Positions,
) -> exp.Select:
    """Some new facts and all that follows from them, where the rules hand on an argument.

    Known facts with the same values there take part from the start, and are left out in the end. So
    the statement drops them like those that it has found. What follows from them is known, or among
    the new facts that it begins with. With DuckDB 1.5, to compare the heads of each round with all
    known facts took a millisecond for 20,000. (A chain of 400 with 60 shortcuts that loses a link:
    241 ms, then 23. Not measured again with DuckDB 2, which keeps the hash table of these facts.)
    """
    owns = found.owns
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
    return with_recursion(query, _R, recursion)


def _known_alike(found: _Found, new: Mapping[str, Part | None], positions: Positions) -> exp.Query:
    """The known facts whose argument that is handed on is that of some new fact."""

    def argument(own: WorkingTable, alias: str) -> exp.Column:
        return columns_of(own.outside, alias)[positions[own.predicate]]

    def alike(own: WorkingTable) -> exp.Query:
        values = [
            exp.select(argument(one, "t").as_("v")).from_(temp_table(part.table).as_("t"))
            for one, part in _there(found.owns, new)
        ]
        same = argument(own, "c").eq(exp.column("v", table="b"))
        facts = relation_query(replace(own.known, ranked=False)).subquery("c", copy=False)
        query = exp.select(*columns_of(own.outside, "c")).from_(facts, copy=False)
        item = joining(union_all(values).subquery("b", copy=False), "SEMI")
        return query.join(item, on=same, copy=False)

    return union_all([found.put(own, alike(own)) for own in found.owns.values()])


# --- what the statement finds ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Applied:
    """The plans for one head, in which the recursive atom reads what the statement has found."""

    own: WorkingTable
    context: Context
    plans: Sequence[Plan]

    @property
    def key(self) -> Hashable:
        """All that their SQL depends on."""
        return tuple((id(plan), plan_key(plan, self.context)) for plan in self.plans)

    def heads(self, ranked: bool) -> exp.Query:
        """What the plans find, with repetitions. A text that no symbol has becomes NULL."""
        marked = self.own.marks is not None
        compiled = [
            compile_rule(
                plan, self.own.columns, self.context, ranked=ranked, marked=marked, as_ids=True
            )
            for plan in self.plans
        ]
        return union_all([one.query for one in compiled])


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows that a recursive statement finds: of one predicate as they are, of several tagged.

    If they are `ranked`, the rank of a fact limits what it can support.
    """

    task: Task
    owns: WorkingTables
    ranked: bool
    layout: Layout | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of new rows, which get their ranks only in the end."""
        if self.layout:
            return self.layout.columns
        (own,) = self.owns.values()
        return tuple(column.name for column in columns_of(own.outside))

    def put(self, own: WorkingTable, rows: exp.Query) -> exp.Query:
        """Rows of a predicate, as the statement has them."""
        return self.layout.put(own.predicate, rows) if self.layout else rows

    def applied(self, undeleted: bool) -> list[_Applied]:
        """The plans of all rules, by their heads."""
        inner = context_of(self.task, self.owns, undeleted)

        def relation(name: str, version: Version) -> Relation:
            if name in self.owns and version is Version.DELTA:
                return self._read(self.owns[name])
            return inner.relation(name, version)

        context = replace(inner, relation=relation)
        plans = [plan for rule in self.task.hypernode.rules for plan in self._variants(rule)]
        plans = [plan for plan in plans if not is_empty(plan, context)]
        by_head = {p: [x for x in plans if x.rule.head.predicate == p] for p in self.owns}
        return [_Applied(self.owns[p], context, mine) for p, mine in by_head.items() if mine]

    def _variants(self, rule: Rule) -> tuple[Plan, ...]:
        return self.task.cache.get(
            ("delta", rule.name), partial(delta_variants, rule, set(self.owns))
        )

    def _read(self, own: WorkingTable) -> Relation:
        picked = self.layout.picked[own.predicate] if self.layout else None
        part = Part("", _R, 1, ranked=self.ranked, marks=own.marks, picked=picked)
        return Relation(own.columns, (part,), self.ranked, own.passes_on)

    def query(
        self,
        seeds: Sequence[exp.Query],
        steps: Sequence[exp.Query],
        limited: bool,
        tables: Mapping[str, exp.Query] = NO_TABLES,
    ) -> exp.Query:
        """All that follows from the seeds, or one more than parameter `most` tells. Steps may read
        `tables`, each of which is made once.
        """
        most = _limit() if limited else None
        if not steps:
            rows = exp.select(exp.Star()).from_(union_all(seeds).subquery("s", copy=False))
            return rows.limit(most, copy=False) if most is not None else rows
        recursion = exp.union(union_all(seeds), union_all(steps), distinct=True, copy=False)
        rows = exp.select(exp.Star()).from_(COLLECTED)
        for name, table_ in tables.items():
            rows = rows.with_(name, as_=table_, materialized=True, copy=False)
        return with_recursion(rows, _R, recursion, most)

    def split(
        self, key: Hashable, query: Callable[[], exp.Query], kind: str, most: int | None
    ) -> Iterator[tuple[WorkingTable, int]]:
        """Make the table of each predicate for what is "gone" or "added". Yields how many rows."""
        store, cache = self.task.store, self.task.cache
        given = None if most is None else {"most": most}
        key = (key, most is None)
        if self.layout is None:
            (own,) = self.owns.values()
            name = _table(own, kind)
            yield own, make_table(store, cache, key, name, query, given, as_written=True)
            return
        name = f"{kind}_{self.task.hypernode.name}"
        make_table(store, cache, key, name, query, given, as_written=True)
        for own in self.owns.values():
            picked = self.layout.picked[own.predicate]
            if own.ranked and RANK not in dict(picked.columns):
                picked = replace(picked, columns=(*picked.columns, (RANK, RANK)))
            part = Part("temp", name, 1, ranked=own.ranked, picked=picked)
            rows = partial(part_query, part, Relation(own.columns, (part,), own.ranked))
            yield own, make_table(store, cache, (name, picked), _table(own, kind), rows)


def _table(own: WorkingTable, kind: str) -> str:
    if kind == "gone":
        return f"fallen_{own.stem}" if own.gone else own.gone_table
    return f"more_{own.stem}" if own.plus else own.plus_table


def _found(task: Task, owns: WorkingTables, ranked: bool, with_ranks: bool) -> _Found:
    """What a statement finds; `with_ranks` tells whether it reads ranks of facts that have some."""
    layout = None
    if len(owns) > 1:
        columns = {
            p: typed(own.outside.stored, own.ranked and with_ranks) for p, own in owns.items()
        }
        layout = layout_of(columns)
    return _Found(task, owns, ranked, layout)
