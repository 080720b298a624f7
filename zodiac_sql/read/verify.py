"""Whether a database holds exactly what its rules and explicit facts entail.

Everything is derived once more from what the catalog and edb say, in another way than the one that
filled the tables (second_opinion.py), and compared with the tables in idb and with what the views
show to people. That happens on a connection of its own, in whose
temporary tables all of it stays: the file is only read, and so are the facts of the last Change.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from zodiac_sql.change.choose_rewrites import types_of
from zodiac_sql.database import dictionary
from zodiac_sql.database.permitted import require_harmless
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import anti_join, create_temp, create_temp_view, temp_table
from zodiac_sql.database.statements import shown as shown_view
from zodiac_sql.database.store import Store
from zodiac_sql.errors import QueryError, StoreError
from zodiac_sql.evaluate.fixpoint import evaluate
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.evaluate.partition.partition import compare, repeated_nodes
from zodiac_sql.evaluate.run_plans import evaluating
from zodiac_sql.evaluate.semi_naive import Fixpoint
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.binding import symbols_in, used_functions
from zodiac_sql.language.functions import Functions, require
from zodiac_sql.language.schema import Predicate, resolve
from zodiac_sql.language.syntax import Atom, Rule, Type
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, classes, is_classes, whole
from zodiac_sql.program.state import HypernodeRow, State, hypergraph_of, parsed_rules
from zodiac_sql.read.second_opinion import Program, derive, unsupported
from zodiac_sql.read.together import Compared, all_given_once, batches, same
from zodiac_sql.rewrite.closures.recognise import modules_of
from zodiac_sql.rewrite.hypertree.rewrite import fits
from zodiac_sql.rewrite.rewritten_hypernode import Inner, ModuleRow, inner_of, tables_of, with_trees
from zodiac_sql.sql.class_pairs import Pairs, pairs_query
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, relation_query
from zodiac_sql.storage import catalog
from zodiac_sql.storage.extensions import (
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

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.change.materialise import Progress

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
        with aside.transaction(read_only=True):
            state = catalog.load(aside)
        try:
            work = _compared(aside, state, functions, progress)
        except StoreError as error:
            if catalog.generation(aside) == state.generation:
                raise
            raise catalog.changed_meanwhile(store, "it was verified") from error
        if catalog.generation(aside) != state.generation:
            raise catalog.changed_meanwhile(store, "it was verified")
    return Verification(
        {name: rows for name, (rows, _) in sorted(work.extensions.items()) if rows},
        {name: rows for name, (_, rows) in sorted(work.extensions.items()) if rows},
        dict(sorted(work.tables.items())),
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
    types: Mapping[str, Sequence[Type | None]]
    tables: dict[str, tuple[int, int]] = field(default_factory=dict)
    unsupported: dict[str, int] = field(default_factory=dict)
    extensions: dict[str, tuple[int, int]] = field(default_factory=dict)
    samples: dict[str, _Sample] = field(default_factory=dict)
    waiting: list[tuple[str, Inner]] = field(default_factory=list)
    """Tables of hypernodes that are to be compared with what these derive."""
    facts: int = 0


def _compared(store: Store, state: State, functions: Functions, progress: Progress | None) -> _Work:
    """All that is in the file, compared with what should be there."""
    work = _begin(store, state, functions)
    _compare_symbols(work)
    _find_strays(work)
    hypernodes = hypergraph_of(work.state).hypernodes
    _require_functions(work, [rule for h in hypernodes for rule in h.rules])
    rows = {row.id: row for row in work.state.hypernodes}
    for number, hypernode in enumerate(hypernodes):
        if progress:
            progress(hypernode.name, number, len(hypernodes))
        _verify_hypernode(work, _inner(work.state, hypernode, rows[hypernode.id]), hypernode)
    _compare_tables(work)
    _compare_extensions(work)
    return work


def _begin(store: Store, state: State, functions: Functions) -> _Work:
    """Read explicit facts anew, for the file may have changed behind our back."""
    ids = dictionary.ids_of(store, symbols_in(parsed_rules(state)))
    there, wanted = sources_of(state), Sources(state.schema)
    work = _Work(store, state, functions, ids, there, wanted, types_of(state.schema))
    explicit = work.there.explicit
    for some in batches(explicit, lambda name: _of(state.schema[name], explicit[name])):
        if _are_given_once(work, some):
            work.wanted.explicit.update((name, explicit[name]) for name in some)
            continue
        for name in some:
            facts = (_explicit(work, state.schema[name], part) for part in explicit[name])
            work.wanted.explicit[name] = tuple(facts)
    return work


def _of(predicate: Predicate, parts: tuple[Part, ...]) -> Relation:
    return Relation(predicate.columns, parts)


def _are_given_once(work: _Work, names: Sequence[str]) -> bool:
    """Whether the tables of explicit facts of several predicates have each fact once, and no NULL."""
    if len(names) == 1:
        return False
    explicit = work.there.explicit
    return all_given_once(work.store, [_of(work.state.schema[n], explicit[n]) for n in names])


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
    name = f"zodiac$explicit_{whole(predicate.sql_name)}"
    work.store.run(create_temp(name, facts))
    _note(work, f"edb.{predicate.sql_name}", 0, part.rows - rows)
    return Part("temp", name, rows)


def _known(work: _Work, inner: Inner) -> Mapping[str, Predicate]:
    """All predicates, those inside a hypernode too."""
    return {**work.state.schema, **inner.schema} if inner.schema else work.state.schema


def _types(work: _Work, inner: Inner) -> Mapping[str, Sequence[Type | None]]:
    """The types of their columns."""
    if not inner.schema:
        return work.types
    return {**work.types, **types_of(inner.schema)}


def _inner(state: State, hypernode: Hypernode, row: HypernodeRow) -> Inner:
    """A hypernode with the modules and trees that were at work when its tables were written.

    Without the trees of an older version that do not fit: the next change decides them anew.
    """
    modules = modules_of(hypernode, state.schema) if row.modules else ()
    rules = {rule.name: rule for rule in hypernode.rules}
    trees = [tree for tree in row.trees if not tree.nodes or fits(rules[tree.rule], tree)]
    return with_trees(inner_of(hypernode, modules, state.schema), trees)


def _verify_hypernode(work: _Work, inner: Inner, hypernode: Hypernode) -> None:
    """Compare the tables of a hypernode with what it derives."""
    closures: Mapping[str, Closure] = {}
    if _is_affordable(work, inner):
        _derive_otherwise(work, inner, hypernode)
    else:
        closures = _evaluate(work, inner).closures
    parted = {row.predicate: row for row in inner.rows if row.parted}
    for predicate in dict.fromkeys((*hypernode.derives, *inner.tables)):
        if predicate in parted:
            _compare_classes(work, parted[predicate], inner, closures.get(predicate))
        elif not is_classes(predicate):
            work.waiting.append((predicate, inner))
            _check_ranks(work, predicate, inner)


AFFORDABLE_FACTS = 100_000
"""A relation that a module closes is derived by its own rules up to so many facts: these may look
at each pair of facts, where the module looks at each fact."""

AFFORDABLE_BODY = 2_000
"""A cyclic rule is evaluated as a whole up to so many facts to read."""


def _is_affordable(work: _Work, inner: Inner) -> bool:
    """Whether a hypernode's own rules can be evaluated, without modules and trees."""
    closed = (work.there.relation(row.predicate).rows for row in inner.rows)
    read = (tree.facts for tree in inner.trees if tree.nodes)
    return max(closed, default=0) <= AFFORDABLE_FACTS and max(read, default=0) <= AFFORDABLE_BODY


def _derive_otherwise(work: _Work, inner: Inner, hypernode: Hypernode) -> None:
    """What a hypernode derives from what its inputs should be, by a way of verify's own.

    Then, from that, what its modules and trees keep beside it.
    """
    program = _program(work, inner, hypernode)
    outside = partial(work.wanted.relation, without=hypernode.id)
    with evaluating(hypernode.rules):
        _keep(work, hypernode, derive(work.store, program, hypernode.rules, outside))
    beside = [rule for rule in inner.hypernode.rules if rule.head.predicate in inner.tables]
    if beside:
        around = inside(work.wanted, inner, hypernode.id).relation
        _keep(work, hypernode, derive(work.store, program, beside, around))


def _keep(work: _Work, hypernode: Hypernode, parts: Mapping[str, Part]) -> None:
    for predicate, part in parts.items():
        work.wanted.derived.setdefault(predicate, {})[hypernode.id] = (part,)


def _program(work: _Work, inner: Inner, hypernode: Hypernode) -> Program:
    """What the rules of a hypernode mean, as they are written and as they are evaluated."""
    known = _known(work, inner)
    both = (inner.hypernode, hypernode)
    names = {name for one in both for name in one.reads.union(one.derives)}
    return Program({name: known[name] for name in sorted(names)}, work.functions, work.ids)


def _evaluate(work: _Work, inner: Inner) -> Fixpoint:
    """What a hypernode derives from what its inputs should be, with its modules and trees."""
    hypernode, known = inner.hypernode, _known(work, inner)
    wanted = inside(work.wanted, inner, hypernode.id)
    context = Context(
        relation=lambda name, version: wanted.relation(name, without=hypernode.id),
        columns=_types(work, inner),
        functions=work.functions,
        ids=work.ids,
    )
    with evaluating(hypernode.rules):
        fixpoint = evaluate(work.store, hypernode, known, context, StatementCache(), inner.rows)
    _keep(work, hypernode, fixpoint.parts)
    return fixpoint


# --- what is there --------------------------------------------------------------------------------


def _find_strays(work: _Work) -> None:
    """Tables that belong to no predicate and to no hypernode: all of their rows are surplus."""
    ours = {(EXPLICIT_SCHEMA, predicate.sql_name) for predicate in work.state.schema.values()}
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


def _compare_classes(work: _Work, row: ModuleRow, inner: Inner, closure: Closure | None) -> None:
    """Compare a table of classes with what it should be, in facts.

    With a closure, classes are compared with classes, without making the pairs.
    """
    name, number = row.predicate, inner.hypernode.id
    table = ".".join(place(work.state.schema[name], number))
    there = work.there.derived.get(name, {}).get(number, ())
    if there and (twice := repeated_nodes(work.store, there[0].table)):
        _note(work, f"idb.{there[0].table}", 0, twice)
        return
    if closure is None:
        missing, surplus, wanted = _difference(work, name, inner)
    else:
        wanted = closure.now.rows
        missing, surplus = wanted, 0
        if there:
            compare(closure.partition, there[0])
            counts = closure.partition.counts
            missing, surplus = (n - counts.now_and_before for n in (counts.now, counts.before))
    if not missing and not surplus and not _shows_pairs(work, row, number):
        missing = wanted
    _note(work, table, missing, surplus)


def _shows_pairs(work: _Work, row: ModuleRow, number: int) -> bool:
    """Whether the view in idb of a relation that is kept as classes is the one it should be."""
    known = work.state.schema[row.predicate]
    _, table = place(tables_of(row, work.state.schema)[classes(row.predicate)], number)
    _, shown = place(known, number)
    names = [column.name for column in known.columns]
    there = exp.table_(table, db=DERIVED_SCHEMA, quoted=True)
    query = pairs_query(Pairs(unequal=row.unequal), there, names)
    work.store.run(create_temp_view("zodiac$shown", query))
    texts = work.store.rows(
        "SELECT sql FROM duckdb_views() WHERE schema_name = 'idb' AND view_name = $1"
        " AND database_name = $2"
        " UNION ALL SELECT sql FROM duckdb_views() WHERE temporary AND view_name = 'zodiac$shown'",
        [shown, work.store.database],
    )
    return len(texts) == 2 and len({text.partition(" AS ")[2] for (text,) in texts}) == 1


def _difference(work: _Work, predicate: str, inner: Inner) -> tuple[int, int, int]:
    """How many facts a hypernode's table lacks, how many it has too many, and how many are wanted."""
    number, known = inner.hypernode.id, _known(work, inner)[predicate]
    wanted, there = (
        Relation(known.columns, sources.derived.get(predicate, {}).get(number, ()))
        for sources in (work.wanted, work.there)
    )
    if not wanted.rows:
        return 0, there.rows, 0
    lacking = _lacking(wanted, relation_query(wanted), relation_query(there))
    missing = _rows(work.store, lacking)
    surplus = there.rows - (wanted.rows - missing)
    closed = (row for row in inner.rows if row.predicate == predicate)
    if missing and any(row.unequal and not row.covers for row in closed):
        # A module with an inequality leaves out what only a fact from outside could derive again.
        outside = work.wanted.relation(predicate, without=number)
        missing = _rows(work.store, _lacking(wanted, lacking, relation_query(outside)))
    return missing, surplus, wanted.rows


def _relations(work: _Work, predicate: str, inner: Inner) -> tuple[Relation, Relation]:
    """What a hypernode's table should hold, and what it holds."""
    number, known = inner.hypernode.id, _known(work, inner)[predicate]
    wanted, there = (
        _of(known, sources.derived.get(predicate, {}).get(number, ()))
        for sources in (work.wanted, work.there)
    )
    return wanted, there


def _compare_tables(work: _Work) -> None:
    """Compare the tables of hypernodes with what they should hold."""

    def both(table: tuple[str, Inner]) -> Relation:
        wanted, there = _relations(work, *table)
        return replace(wanted, parts=(*wanted.parts, *there.parts))

    for some in batches(work.waiting, both):
        if not _are_same(work, some):
            for predicate, inner in some:
                _compare_table(work, predicate, inner)


def _are_same(work: _Work, tables: Sequence[tuple[str, Inner]]) -> bool:
    """Whether several tables hold what they should."""
    if len(tables) == 1:
        return False
    relations = (_relations(work, *table) for table in tables)
    compared = [Compared(w, relation_query(w), relation_query(t)) for w, t in relations]
    return same(work.store, compared) is not None


def _compare_table(work: _Work, predicate: str, inner: Inner) -> None:
    """Compare a table of idb or hd with what it should hold."""
    known = _known(work, inner)[predicate]
    missing, surplus, _ = _difference(work, predicate, inner)
    _note(work, ".".join(place(known, inner.hypernode.id)), missing, surplus)


def _check_ranks(work: _Work, predicate: str, inner: Inner) -> None:
    """Count the facts of a table with ranks that no rule derives from facts of lower ones."""
    hypernode = inner.hypernode
    program = _program(work, inner, hypernode)
    known = program.schema[predicate]
    stored = work.there.derived.get(predicate, {}).get(hypernode.id, ())
    if not any(part.ranked and part.rows for part in stored):
        return
    there = inside(work.there, inner, hypernode.id)

    def reads(place: int, atom: Atom) -> Relation:
        name = atom.predicate
        outside = there.relation(name, without=hypernode.id)
        if place < 0 or name not in hypernode.derives:
            return there.relation(name) if place < 0 else outside
        own = there.derived.get(name, {}).get(hypernode.id, ())
        own = tuple(part for part in own if part.rows)
        return replace(outside, parts=(*outside.parts, *own), ranked=True)

    rules = [rule for rule in hypernode.rules if rule.head.predicate == predicate]
    table = Relation(known.columns, stored)
    outside = there.relation(predicate, without=hypernode.id)
    if rows := unsupported(work.store, program, rules, reads, table, outside):
        work.unsupported[".".join(place(known, hypernode.id))] = rows


def _compare_extensions(work: _Work) -> None:
    """Compare the views of all predicates with their facts."""
    schema = work.state.schema.values()
    for some in batches(schema, lambda known: work.wanted.relation(known.name)):
        facts = _shown_facts(work, some)
        if facts is not None:
            work.facts += facts
            continue
        for known in some:
            _compare_extension(work, known)


def _shown_facts(work: _Work, predicates: Sequence[Predicate]) -> int | None:
    """How many facts several views show, if each shows exactly those that it should."""
    if len(predicates) == 1:
        return None
    compared = []
    for known in predicates:
        relation = work.wanted.relation(known.name)
        compared.append(Compared(relation, distinct_query(relation), _view(work, known)))
    try:
        for known in predicates:
            require_harmless(work.store, known.sql_name)
        return same(work.store, compared, as_text=True)
    except StoreError as error:
        if type(error) is not StoreError:
            raise
        return None  # one of them is gone, or not ours: each by itself


def _view(work: _Work, predicate: Predicate) -> exp.Select:
    """What the view of a predicate shows."""
    view = shown_view(work.store.database, predicate.sql_name)
    return exp.select(*columns_of(_of(predicate, ()))).from_(view)


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
    shown = _view(work, predicate)
    try:
        require_harmless(work.store, predicate.sql_name)
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
            # A view that somebody else has put there may show numbers.
            written = exp.column("text", table=alias).eq(exp.cast(value, "TEXT"))
            query = query.join(temp_table(dictionary.KNOWN).as_(alias), on=written)
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
