"""Whether a database holds exactly what its rules and explicit facts entail.

Everything is derived once more from what the catalog and edb say, and compared with the tables in
idb and with what the views show to people. That happens on a connection of its own, in whose
temporary tables all of it stays: the file is only read, and so are the facts of the last Change.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql import catalog, dictionary
from zodiac_sql.apply import Kept, apply_plans
from zodiac_sql.catalog import State, hypergraph_of
from zodiac_sql.errors import LockedError, QueryError, StoreError
from zodiac_sql.extension import (
    Sources,
    count,
    decoded,
    derived_tables,
    distinct_query,
    inner_tables,
    inside,
    place,
    sources_of,
)
from zodiac_sql.fixpoint import evaluate
from zodiac_sql.functions import Functions, require
from zodiac_sql.hypernodes import Hypernode
from zodiac_sql.modules import modules_of
from zodiac_sql.modules.closure import Closure
from zodiac_sql.modules.contract import classes
from zodiac_sql.modules.inner import Inner, inner_of, tables_of, with_trees
from zodiac_sql.modules.partition import compare, repeated_nodes
from zodiac_sql.pairs import Pairs, pairs_query
from zodiac_sql.plan import Version, check
from zodiac_sql.relations import Part, Relation, columns_of, part_query, relation_query
from zodiac_sql.rules import Rule, Type
from zodiac_sql.safety import symbols_in, used_functions
from zodiac_sql.schema import Predicate, resolve
from zodiac_sql.semi_naive import Fixpoint
from zodiac_sql.sql import Context, is_empty
from zodiac_sql.store import Store
from zodiac_sql.trees import anti_join, create_temp, create_temp_view, temp_table

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.materialise import Progress

SHOWN = 100
"""At most so many facts of each difference are kept to be looked at."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What differs between a database and what its rules and explicit facts entail.

    `missing` and `surplus` give, for each predicate concerned, how many facts its view lacks and
    how many rows it shows too many. `tables` has the same two numbers for each table of the file
    that is not as it should be ("idb.h1_near"), for in an extension the fault of one table may be
    hidden by another. A row that stands twice is surplus once. `unsupported` counts, for a table of a
    recursive hypernode, the facts whose ranks are out of order: they are right, but a later deletion
    could keep them wrongly. True means that nothing differs.
    """

    missing: Mapping[str, int]
    surplus: Mapping[str, int]
    tables: Mapping[str, tuple[int, int]]
    unsupported: Mapping[str, int]
    predicates: int
    facts: int
    """How many there should be, explicit and derived, in all extensions together."""
    seconds: float
    _state: State = field(repr=False, compare=False)
    _samples: Mapping[str, _Sample] = field(repr=False, compare=False)

    def missing_facts(self, predicate: str) -> pa.Table:
        """The first facts (100 at most) that the predicate's view lacks, symbols as text."""
        return self._sample(predicate).missing

    def surplus_facts(self, predicate: str) -> pa.Table:
        """The first rows (100 at most) that the predicate's view shows too many."""
        return self._sample(predicate).surplus

    def _sample(self, predicate: str) -> _Sample:
        name = resolve(predicate, self._state.schema, self._state.prefixes)
        if name not in self._state.schema:
            raise QueryError(f"there is no predicate {predicate}")
        nothing = _no_facts(self._state.schema[name])
        return self._samples.get(name, _Sample(nothing, nothing))

    def __bool__(self) -> bool:
        """Whether everything is as it should be."""
        return not (self.missing or self.surplus or self.tables or self.unsupported)


@dataclass(frozen=True, slots=True)
class _Sample:
    """The first facts of each difference."""

    missing: pa.Table
    surplus: pa.Table


def verify(store: Store, functions: Functions, progress: Progress | None = None) -> Verification:
    """Derive everything once more, aside, and compare. Changes nothing.

    Raises FunctionError if rules use a function that is not registered.
    """
    started = time.perf_counter()
    with store.aside() as aside:
        dictionary.prepare(aside)
        work = _begin(aside, functions)
        _compare_symbols(work)
        _find_strays(work)
        hypernodes = hypergraph_of(work.state).hypernodes
        _require_functions(work, [rule for h in hypernodes for rule in h.rules])
        for number, hypernode in enumerate(hypernodes):
            if progress:
                progress(hypernode.name, number, len(hypernodes))
            _verify_hypernode(work, _inner(work.state, hypernode))
        for known in work.state.schema.values():
            _compare_extension(work, known)
        if catalog.generation(aside) != work.state.generation:
            raise LockedError(
                f"{store.path} was changed through another connection while it was verified. "
                "Do it again."
            )
    return Verification(
        {name: rows for name, (rows, _) in work.extensions.items() if rows},
        {name: rows for name, (_, rows) in work.extensions.items() if rows},
        work.tables,
        work.unsupported,
        len(work.state.schema),
        work.facts,
        time.perf_counter() - started,
        work.state,
        work.samples,
    )


# --- what should be there -------------------------------------------------------------------------


@dataclass(slots=True)
class _Work:
    """What is in the file, what should be there, and the differences found so far."""

    store: Store
    state: State
    functions: Functions
    ids: Mapping[str, int]
    there: Sources
    wanted: Sources
    tables: dict[str, tuple[int, int]] = field(default_factory=dict)
    unsupported: dict[str, int] = field(default_factory=dict)
    extensions: dict[str, tuple[int, int]] = field(default_factory=dict)
    samples: dict[str, _Sample] = field(default_factory=dict)
    facts: int = 0


def _begin(store: Store, functions: Functions) -> _Work:
    """Read catalog and explicit facts anew, for the file may have changed behind our back."""
    state = catalog.load(store)
    ids = dictionary.ids_of(store, symbols_in(catalog.parsed_rules(state)))
    work = _Work(store, state, functions, ids, sources_of(state), Sources(state.schema))
    for name, parts in work.there.explicit.items():
        facts = (_explicit(work, state.schema[name], part) for part in parts)
        work.wanted.explicit[name] = tuple(facts)
    return work


def _require_functions(work: _Work, rules: Iterable[Rule]) -> None:
    known = {**work.state.functions, **work.functions}
    for rule in rules:
        require(used_functions([rule]), known, f"rule {rule.name}")


def _explicit(work: _Work, predicate: Predicate, part: Part) -> Part:
    """Explicit facts, each once. Whatever else their table holds is surplus."""
    relation = Relation(predicate.columns, (part,))
    given = [column.is_(exp.null()).not_() for column in columns_of(relation, "t")]
    facts = part_query(part, relation).where(*given).distinct()
    rows = _rows(work.store, facts)
    if rows == part.rows:
        return part
    name = f"zodiac$explicit_{predicate.sql_name}"
    work.store.run(create_temp(name, facts))
    _note(work, f"edb.{predicate.sql_name}", 0, part.rows - rows)
    return Part("temp", name, rows)


def _inner(state: State, hypernode: Hypernode) -> Inner:
    """A hypernode with the modules and trees that were at work when its tables were written."""
    (row,) = (row for row in state.hypernodes if row.id == hypernode.id)
    modules = modules_of(hypernode, state.schema) if row.modules else ()
    return with_trees(inner_of(hypernode, modules, state.schema), row.trees)


def _verify_hypernode(work: _Work, inner: Inner) -> None:
    """Compare the tables of a hypernode with what it derives."""
    hypernode = inner.hypernode
    fixpoint = _evaluate(work, inner)
    for predicate in hypernode.derives:
        _compare_table(work, predicate, inner)
        _check_ranks(work, predicate, inner)
    for closure in fixpoint.closures.values():
        _compare_classes(work, closure, hypernode)


def _evaluate(work: _Work, inner: Inner) -> Fixpoint:
    """What a hypernode derives from what its inputs should be."""
    hypernode, known = inner.hypernode, {**work.state.schema, **inner.schema}
    wanted = inside(work.wanted, inner, hypernode.id)
    context = Context(
        relation=lambda name, version: wanted.relation(name, without=hypernode.id),
        columns={n: [c.type for c in p.columns] for n, p in known.items()},
        functions=work.functions,
        ids=work.ids,
    )
    try:
        fixpoint = evaluate(work.store, hypernode, known, context, Kept(), inner.rows)
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        names = ", ".join(rule.name for rule in hypernode.rules)
        raise StoreError(f"rule {names} cannot be evaluated. {error}") from error
    for predicate, part in fixpoint.parts.items():
        work.wanted.derived.setdefault(predicate, {})[hypernode.id] = (part,)
    return fixpoint


# --- what is there --------------------------------------------------------------------------------


def _find_strays(work: _Work) -> None:
    """Tables that belong to no predicate and to no hypernode: all of their rows are surplus."""
    ours = {("edb", predicate.sql_name) for predicate in work.state.schema.values()}
    ours |= {table for _, _, table in derived_tables(work.state)}
    ours |= {table for tables in inner_tables(work.state).values() for table in tables}
    for schema, table in work.state.rows.keys() - ours:
        _note(work, f"{schema}.{table}", 0, work.state.rows[schema, table])


def _compare_symbols(work: _Work) -> None:
    """A symbol has one id and one text."""
    surplus = work.store.count(
        "SELECT count(*) - least(count(DISTINCT id), count(DISTINCT text)) FROM zodiac.symbol"
    )
    _note(work, "zodiac.symbol", 0, surplus)


def _compare_classes(work: _Work, closure: Closure, hypernode: Hypernode) -> None:
    """Compare a table of classes with what it should be, in facts."""
    name = closure.row.predicate
    there = work.there.derived.get(name, {}).get(hypernode.id, ())
    wanted = closure.now.rows
    missing, surplus = wanted, 0
    if there:
        if twice := repeated_nodes(work.store, there[0].table):
            _note(work, f"idb.{there[0].table}", 0, twice)
            return
        compare(closure.partition, there[0])
        counts = closure.partition.counts
        missing, surplus = (n - counts.now_and_before for n in (counts.now, counts.before))
    if not missing and not surplus and not _shows_pairs(work, closure):
        missing = wanted
    _note(work, f"idb.{closure.stem}", missing, surplus)


def _shows_pairs(work: _Work, closure: Closure) -> bool:
    """Whether the view in idb of a relation that is kept as classes is the one it should be."""
    known = tables_of(closure.row, work.state.schema)[classes(closure.row.predicate)]
    hypernode = closure.stem.partition("_")[0]
    there = exp.table_(f"{hypernode}_{known.sql_name}", db="idb", quoted=True)
    names = [column.name for column in closure.columns]
    query = pairs_query(Pairs(unequal=closure.row.unequal), there, names)
    work.store.run(create_temp_view("zodiac$shown", query))
    texts = work.store.rows(
        "SELECT sql FROM duckdb_views() WHERE schema_name = 'idb' AND view_name = $1"
        " AND database_name = current_database()"
        " UNION ALL SELECT sql FROM duckdb_views() WHERE temporary AND view_name = 'zodiac$shown'",
        [closure.stem],
    )
    return len(texts) == 2 and len({text.partition(" AS ")[2] for (text,) in texts}) == 1


def _compare_table(work: _Work, predicate: str, inner: Inner) -> None:
    """Compare a table of idb with what the hypernode derives."""
    hypernode = inner.hypernode
    known = {**work.state.schema, **inner.schema}[predicate]
    wanted, there = (
        Relation(known.columns, sources.derived.get(predicate, {}).get(hypernode.id, ()))
        for sources in (work.wanted, work.there)
    )
    lacking = _lacking(wanted, relation_query(wanted), relation_query(there))
    missing = _rows(work.store, lacking) if wanted.rows else 0
    surplus = there.rows - (wanted.rows - missing)
    _note(work, ".".join(place(known, hypernode.id)), missing, surplus)


def _check_ranks(work: _Work, predicate: str, inner: Inner) -> None:
    """Count the facts of a table with ranks that no rule derives from facts of lower ones."""
    hypernode, schema = inner.hypernode, {**work.state.schema, **inner.schema}
    there = inside(work.there, inner, hypernode.id)
    known = schema[predicate]
    stored = work.there.derived.get(predicate, {}).get(hypernode.id, ())
    if not any(part.ranked and part.rows for part in stored):
        return

    def relation(name: str, version: Version) -> Relation:
        columns = schema[name].columns
        own = there.derived.get(name, {}).get(hypernode.id, ())
        own = tuple(part for part in own if part.rows) if name in hypernode.derives else ()
        if version is Version.CANDIDATE:
            return Relation(columns, own, ranked=True)
        outside = there.relation(name, without=hypernode.id)
        return Relation(columns, (*outside.parts, *own), ranked=name in hypernode.derives)

    types = {n: [c.type for c in p.columns] for n, p in schema.items()}
    context = Context(relation, types, work.functions, work.ids)
    rules = (rule for rule in hypernode.rules if rule.head.predicate == predicate)
    plans = [plan for plan in map(check, rules) if not is_empty(plan, context)]
    outside = there.relation(predicate, without=hypernode.id)

    def shape(heads: exp.Query | None) -> exp.Query:
        facts = Relation(known.columns, stored)
        columns = columns_of(facts, "c")
        query = exp.select(*columns).from_(relation_query(facts).subquery("c"))
        if outside.parts:
            query = anti_join(query, columns, relation_query(outside).subquery(), "x0")
        return query if heads is None else anti_join(query, columns, heads.subquery(), "x1")

    name = f"zodiac$unsupported_{known.sql_name}"
    rows = apply_plans(
        work.store, Kept(), predicate, plans, known.columns, context, name, shape
    )  # fmt: skip
    if rows:
        work.unsupported[".".join(place(known, hypernode.id))] = rows


def _compare_extension(work: _Work, predicate: Predicate) -> None:
    """Compare the view of a predicate with its explicit and derived facts."""
    relation = work.wanted.relation(predicate.name)
    facts = count(work.store, relation)
    work.facts += facts
    wanted = distinct_query(relation)
    shown, rows = _shown(work, predicate, facts)
    lacking = _lacking(relation, wanted, _encoded(relation, shown))
    missing = _rows(work.store, lacking) if facts else 0
    surplus = rows - (facts - missing)
    if missing or surplus:
        work.extensions[predicate.name] = missing, surplus
        many = exp.except_(shown, _decoded(relation, wanted), distinct=False) if facts else shown
        work.samples[predicate.name] = _Sample(
            _first(work.store, relation, _decoded(relation, lacking)),
            _first(work.store, relation, many),
        )


def _shown(work: _Work, predicate: Predicate, facts: int) -> tuple[exp.Query, int]:
    """What people see of a predicate, and how many rows that are."""
    relation = Relation(predicate.columns, ())
    view = exp.table_(predicate.sql_name, db="main", quoted=True)
    shown = exp.select(*columns_of(relation)).from_(view)
    try:
        return shown, _rows(work.store, shown)
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        # The view, or what it reads, is gone: it shows nothing.
        work.tables[f"main.{predicate.sql_name}"] = facts, 0
        return relation_query(relation), 0


# --- comparing ------------------------------------------------------------------------------------


def _note(work: _Work, table: str, missing: int, surplus: int) -> None:
    if missing or surplus:
        work.tables[table] = missing, surplus


def _lacking(relation: Relation, wanted: exp.Query, there: exp.Query) -> exp.Select:
    """The wanted rows that are not there.

    No row is wanted twice. So each that is not lacking accounts for one row that is there, and all
    other rows there are surplus: a second join is not needed to count them.
    """
    columns = columns_of(relation, "c")
    query = exp.select(*columns).from_(wanted.subquery("c"))
    return anti_join(query, columns, there.subquery())


def _decoded(relation: Relation, facts: exp.Query) -> exp.Query:
    """Facts as people see them; a symbol that has no text is NULL."""
    return decoded(relation, facts, dictionary.KNOWN, unknown=True)


def _encoded(relation: Relation, shown: exp.Query) -> exp.Select:
    """What people see, with ids for symbols: three times faster to compare than their texts."""
    query = exp.select().from_(shown.subquery("x"))
    for index, column in enumerate(relation.stored):
        value: exp.Column = exp.column(column.name, table="x", quoted=True)
        if column.type is Type.SYMBOL:
            alias = f"t{index}"
            same = exp.column("text", table=alias).eq(value)
            query = query.join(temp_table(dictionary.KNOWN).as_(alias), on=same)
            value = exp.column("id", table=alias)
        query = query.select(value.as_(column.name, quoted=True))
    return query


def _rows(store: Store, query: exp.Query) -> int:
    return store.count(exp.select(exp.Count(this=exp.Star())).from_(query.subquery("n")))


def _first(store: Store, relation: Relation, query: exp.Query) -> pa.Table:
    """The first rows of a query, in the order of their columns."""
    columns = columns_of(relation, "f")
    ordered = exp.select(*columns).from_(query.subquery("f")).order_by(*columns)
    return store.arrow(ordered.limit(SHOWN))


def _no_facts(predicate: Predicate) -> pa.Table:
    import pyarrow as pa

    return pa.table({c.name: pa.nulls(0) for c in Relation(predicate.columns, ()).stored})
