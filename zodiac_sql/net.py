"""Net changes of explicit facts, from what was given: E+ = E+ without E, E- = (E- within E) without E+."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial

from sqlglot import exp

from zodiac_sql.apply import Kept, tables
from zodiac_sql.catalog import State
from zodiac_sql.extension import sources_of
from zodiac_sql.maintain.contract import KEPT
from zodiac_sql.materialisation import Net
from zodiac_sql.program import Planned
from zodiac_sql.relations import MARK, SQL_TYPES, Part, Relation, columns_of, relation_query
from zodiac_sql.schema import Predicate, Staged
from zodiac_sql.store import Store
from zodiac_sql.trees import anti_join, create_temp, semi_join, temp_table, union_all
from zodiac_sql.unknown import unknown


def net_changes(
    store: Store,
    state: State,
    schema: Mapping[str, Predicate],
    inserts: Mapping[str, list[Staged]],
    deletes: Mapping[str, list[Staged]],
    ahead: Mapping[str, Staged],
    kept: Kept,
) -> Net:
    """What enters and leaves the explicit facts of each predicate, as temporary tables.

    `ahead` are facts that the next update deletes: those that enter now are marked.
    """
    plus = {}
    minus = {}
    for name, staged in inserts.items():
        there = bool(state.rows.get(("edb", schema[name].sql_name)))
        table = f"{KEPT}edb_plus_{schema[name].sql_name}"
        next_ = ahead.get(name)
        make = partial(_net_inserts, store, schema[name], staged, there, table, next_)
        shape = _shape(schema[name], staged), _shape(schema[name], [next_] if next_ else [])
        rows = store.count(kept.of(name).get((table, there, shape), make))
        if rows:
            plus[name] = Part("temp", table, rows, marks="some" if next_ else None)
    for name, staged in deletes.items():
        if ("edb", schema[name].sql_name) in state.rows:
            table = f"{KEPT}edb_minus_{schema[name].sql_name}"
            back = inserts.get(name, [])
            deleting = partial(_net_deletes, store, schema[name], staged, back, table)
            shape = _shape(schema[name], staged), _shape(schema[name], back)
            rows = store.count(kept.of(name).get((table, shape), deleting))
            if rows:
                minus[name] = Part("temp", table, rows)
    return Net(plus, minus)


def deleted_next(
    store: Store,
    predicate: Predicate,
    explicit: Relation,
    staged: Staged,
    table: str,
    kept: Kept,
) -> Part | None:
    """Of the facts that the next update deletes, those that are explicit after this one."""

    def statement() -> str:
        columns = columns_of(Relation(predicate.columns, ()), "c")
        query = exp.select(*columns).distinct()
        query = query.from_(_staged(predicate, [staged]).subquery("c", copy=False))
        query = semi_join(query, columns, relation_query(explicit).subquery(copy=False), "e")
        return store.render(create_temp(table, query))

    key = (table, tables(explicit), _shape(predicate, [staged]))
    rows = store.count(kept.of(predicate.name).get(key, statement))
    return Part("temp", table, rows, marks="all") if rows else None


def only_derived(
    store: Store, state: State, planned: Planned, deletes: Mapping[str, list[Staged]]
) -> list[str]:
    """Remarks on facts that were to be deleted but are not explicit: rules derive them."""
    sources = sources_of(state) if deletes else None
    remarks = []
    for name, staged in deletes.items():
        assert sources is not None
        predicate = planned.schema[name]
        derived = [p for parts in sources.derived.get(name, {}).values() for p in parts if p.rows]
        if not derived:
            continue
        explicit = Relation(predicate.columns, sources.explicit.get(name, ()))
        asked = f"asked_{predicate.sql_name}"
        if not store.count(create_temp(asked, unknown(_staged(predicate, staged), explicit))):
            continue
        columns = columns_of(explicit, "c")
        query = exp.select(exp.Count(this=exp.Star())).from_(temp_table(asked).as_("c"))
        there = relation_query(Relation(predicate.columns, tuple(derived)))
        count = store.count(semi_join(query, columns, there.subquery(copy=False)))
        if count:
            facts = "1 fact" if count == 1 else f"{count} facts"
            remarks.append(
                f"{name}: {facts} kept, not explicit but derived by rules. Only without their "
                "sources, or without the rule, do such facts go."
            )
    return remarks


def _shape(predicate: Predicate, staged: list[Staged]) -> Hashable:
    """All that the SQL for staged facts depends on."""
    return predicate.columns, tuple((one.table, one.columns) for one in staged)


def _net_inserts(
    store: Store,
    predicate: Predicate,
    staged: list[Staged],
    there: bool,
    table: str,
    next_: Staged | None,
) -> str:
    relation = Relation(predicate.columns, ())
    columns = columns_of(relation, "c")
    query = (
        exp.select(*columns).distinct().from_(_staged(predicate, staged).subquery("c", copy=False))
    )
    if there:
        query = anti_join(query, columns, _explicit(predicate))
    if next_:
        goes = exp.select(exp.Literal.number(1)).from_(
            _staged(predicate, [next_]).subquery("n", copy=False)
        )
        other = columns_of(relation, "n")
        goes = goes.where(*(a.eq(b) for a, b in zip(columns, other, strict=True)), copy=False)
        query = query.select(exp.Exists(this=goes).as_(MARK, quoted=True), copy=False)
    return store.render(create_temp(table, query))


def _net_deletes(
    store: Store, predicate: Predicate, staged: list[Staged], inserted: list[Staged], table: str
) -> str:
    columns = columns_of(Relation(predicate.columns, ()), "c")
    query = (
        exp.select(*columns).distinct().from_(_staged(predicate, staged).subquery("c", copy=False))
    )
    query = semi_join(query, columns, _explicit(predicate), "e")
    if inserted:
        query = anti_join(query, columns, _staged(predicate, inserted).subquery(copy=False))
    return store.render(create_temp(table, query))


def absent_facts(store: Store, known: Predicate | None, staged: Staged) -> int:
    """How many staged facts are no explicit facts of a predicate; all of them if it has none."""
    columns = columns_of(Relation(known.columns if known else staged.columns, ()), "c")
    facts = _staged(known, [staged]) if known else exp.select("*").from_(temp_table(staged.table))
    query = exp.select(*columns).distinct().from_(facts.subquery("c", copy=False))
    if known:
        query = anti_join(query, columns, _explicit(known))
    return store.count(
        exp.select(exp.Count(this=exp.Star())).from_(query.subquery("n", copy=False))
    )


def _explicit(predicate: Predicate) -> exp.Table:
    return exp.table_(predicate.sql_name, db="edb", quoted=True)


def _staged(predicate: Predicate, staged: list[Staged]) -> exp.Query:
    """Staged tables as one query with the predicate's column names and types."""
    queries = []
    stored_columns = Relation(predicate.columns, ()).stored
    for one in staged:
        given = Relation(one.columns, ()).stored
        query = exp.select().from_(temp_table(one.table))
        for column, target in zip(given, stored_columns, strict=True):
            value: exp.Expr = exp.column(column.name, quoted=True)
            if column.type is not target.type and target.type is not None:
                value = exp.cast(value, SQL_TYPES[target.type])
            query = query.select(value.as_(target.name, quoted=True), copy=False)
        queries.append(query)
    return union_all(queries)
