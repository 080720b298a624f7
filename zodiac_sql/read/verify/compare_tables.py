"""Compares the tables of the file with what should be in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.database.statements import anti_join, joining
from zodiac_sql.database.store import Store
from zodiac_sql.database.term_values import VALUE_COLUMNS, with_values
from zodiac_sql.evaluate.partition.closure import Closure
from zodiac_sql.evaluate.partition.condensation import Condensation, repeated_pairs
from zodiac_sql.evaluate.partition.partition import compare, repeated_nodes
from zodiac_sql.language.syntax import Atom, Rule
from zodiac_sql.names import DERIVED_SCHEMA, EXPLICIT_SCHEMA, classes
from zodiac_sql.read.verify.compare_views import is_made_of
from zodiac_sql.read.verify.rule_body import Reads
from zodiac_sql.read.verify.second_opinion import heads_of
from zodiac_sql.read.verify.together import ComparedRows, batches, same
from zodiac_sql.read.verify.values import ProgramMeaning
from zodiac_sql.read.verify.work import VerifiedFile, count_rows, relation_of, rows_lacking
from zodiac_sql.rewrite.rewritten_hypernode import Inner, ModuleRow, tables_of
from zodiac_sql.sql.class_pairs import pairs_query
from zodiac_sql.sql.relations import Part, Relation, columns_of, rank_of, relation_query
from zodiac_sql.storage.sources import derived_tables, inner_tables, inside, pairs_of, place


def find_strays(work: VerifiedFile) -> None:
    """Note tables that belong to no predicate and no hypernode: all of their rows are surplus."""
    ours = {(EXPLICIT_SCHEMA, predicate.sql_name) for predicate in work.state.schema.values()}
    ours |= {table for _, _, table in derived_tables(work.state)}
    ours |= {table for tables in inner_tables(work.state).values() for table in tables}
    for schema, table in work.state.rows.keys() - ours:
        work.note(f"{schema}.{table}", 0, work.state.rows[schema, table])


def compare_symbols(work: VerifiedFile) -> None:
    """Note surplus symbols: each id and each text must occur only once. Compare their values with
    what their texts say.
    """
    surplus = work.store.count(
        "SELECT count(*) - least(count(DISTINCT id), count(DISTINCT text)) FROM zodiac.symbol"
    )
    work.note("zodiac.symbol", 0, surplus)
    work.note("zodiac.symbol_value", *map(work.store.count, (_MISSING_VALUES, _SURPLUS_VALUES)))


_THERE = f"SELECT id, {', '.join(VALUE_COLUMNS)} FROM zodiac.symbol_value"
_RIGHT = with_values("SELECT DISTINCT id, text FROM zodiac.symbol")
_MISSING_VALUES = f"SELECT count(*) FROM ({_RIGHT} EXCEPT ALL {_THERE}) AS v"
_SURPLUS_VALUES = f"SELECT count(*) FROM ({_THERE} EXCEPT ALL {_RIGHT}) AS v"


def compare_classes(
    work: VerifiedFile, row: ModuleRow, inner: Inner, closure: Closure | Condensation | None
) -> None:
    """Compare a table of classes with what it should be, and count the differences in facts.

    With a closure, classes are compared with classes, so the pairs need not be computed.
    """
    name, number = row.predicate, inner.hypernode.id
    table = ".".join(place(work.state.schema[name], number))
    there = work.there.derived.get(name, {}).get(number, ())
    if there and (twice := repeated_nodes(work.store, there[0].table)):
        work.note(f"idb.{there[0].table}", 0, twice)
        return
    pairs = there[0].read.pairs if there else None
    if pairs and pairs.between and (twice := repeated_pairs(work.store, pairs.between)):
        work.note(f"idb.{pairs.between.table}", 0, twice)
        return
    if closure is None:
        missing, surplus, wanted = _difference(work, name, inner)
    else:
        wanted = closure.now.rows
        missing, surplus = wanted, 0
        if there:
            missing, surplus = _compared(closure, there[0])
    if not missing and not surplus and not _shows_pairs(work, row, number):
        missing = wanted
    work.note(table, missing, surplus)


def _compared(closure: Closure | Condensation, there: Part) -> tuple[int, int]:
    """How many facts a relation has that its tables lack, and the other way round."""
    if isinstance(closure, Condensation):
        closure.compare(there)
        missing, surplus = closure.inserted, closure.deleted
        return missing.rows if missing else 0, surplus.rows if surplus else 0
    compare(closure.partition, there)
    counts = closure.partition.counts
    return counts.now - counts.now_and_before, counts.before - counts.now_and_before


def _shows_pairs(work: VerifiedFile, row: ModuleRow, number: int) -> bool:
    """Whether the view in idb that shows the pairs of a table of classes is the right one."""
    known = work.state.schema[row.predicate]
    tables = tables_of(row, work.state.schema)
    _, table = place(tables[classes(row.predicate)], number)
    _, shown = place(known, number)
    names = [column.name for column in known.columns]
    there = exp.table_(table, db=DERIVED_SCHEMA, quoted=True)
    query = pairs_query(pairs_of(row, number, tables), there, names)
    return is_made_of(work.store, DERIVED_SCHEMA, shown, query)


def _difference(work: VerifiedFile, predicate: str, inner: Inner) -> tuple[int, int, int]:
    """How many facts a hypernode's table lacks, has too many, and should have."""
    number, known = inner.hypernode.id, work.known(inner)[predicate]
    wanted, there = (
        Relation(known.columns, sources.derived.get(predicate, {}).get(number, ()))
        for sources in (work.wanted, work.there)
    )
    if not wanted.rows:
        return 0, there.rows, 0
    lacking = rows_lacking(wanted, relation_query(wanted), relation_query(there))
    missing = count_rows(work.store, lacking)
    surplus = there.rows - (wanted.rows - missing)
    closed = (row for row in inner.rows if row.predicate == predicate)
    if missing and any(row.unequal and not row.covers for row in closed):
        # A module with an inequality may leave out facts that also come from outside: they are not
        # missing.
        outside = work.wanted.relation(predicate, without=number)
        missing = count_rows(work.store, rows_lacking(wanted, lacking, relation_query(outside)))
    return missing, surplus, wanted.rows


def _relations(work: VerifiedFile, predicate: str, inner: Inner) -> tuple[Relation, Relation]:
    """What a hypernode's table should hold, and what it holds."""
    number, known = inner.hypernode.id, work.known(inner)[predicate]
    wanted, there = (
        relation_of(known, sources.derived.get(predicate, {}).get(number, ()))
        for sources in (work.wanted, work.there)
    )
    return wanted, there


def compare_tables(work: VerifiedFile) -> None:
    """Compare the tables of hypernodes with what they should hold."""

    def both(table: tuple[str, Inner]) -> Relation:
        wanted, there = _relations(work, *table)
        return replace(wanted, parts=(*wanted.parts, *there.parts))

    for some in batches(work.waiting, both):
        if not _are_same(work, some):
            for predicate, inner in some:
                _compare_table(work, predicate, inner)


def _are_same(work: VerifiedFile, tables: Sequence[tuple[str, Inner]]) -> bool:
    """Whether several tables hold what they should."""
    if len(tables) == 1:
        return False
    relations = (_relations(work, *table) for table in tables)
    compared = [ComparedRows(w, relation_query(w), relation_query(t)) for w, t in relations]
    return same(work.store, compared) is not None


def _compare_table(work: VerifiedFile, predicate: str, inner: Inner) -> None:
    """Compare one table of idb or hd with what it should hold."""
    known = work.known(inner)[predicate]
    missing, surplus, _ = _difference(work, predicate, inner)
    work.note(".".join(place(known, inner.hypernode.id)), missing, surplus)


def check_ranks(work: VerifiedFile, predicate: str, inner: Inner) -> None:
    """Count the facts of a ranked table that no rule derives from facts of lower ranks."""
    hypernode = inner.hypernode
    program = work.program(inner, hypernode)
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
    if rows := _unsupported(work.store, program, rules, reads, table, outside):
        work.unsupported[".".join(place(known, hypernode.id))] = rows


def _unsupported(
    store: Store,
    program: ProgramMeaning,
    rules: Sequence[Rule],
    reads: Reads,
    table: Relation,
    outside: Relation,
) -> int:
    """How many facts of a ranked table no rule derives from facts of lower ranks.

    `reads` returns ranked relations for the predicates that the hypernode derives. Facts known from
    outside need no support.
    """
    heads = [found for rule in rules if (found := heads_of(store, program, rule, reads, True))]
    columns = columns_of(table, "c")
    ranked = replace(table, ranked=True)
    facts = exp.select(*columns).from_(relation_query(ranked).subquery("c", copy=False), copy=False)
    for number, found in enumerate(heads):
        alias = f"h{number}"
        same = [c.copy().eq(exp.column(c.name, table=alias, quoted=True)) for c in columns]
        lower = exp.LT(this=rank_of(alias), expression=rank_of("c"))
        none = joining(found.query.subquery(alias, copy=False), "ANTI")
        facts = facts.join(none, on=exp.and_(*same, lower, copy=False), copy=False)
    if outside.parts:
        facts = anti_join(facts, columns, relation_query(outside).subquery(), "o")
    return store.count(
        exp.select(exp.Count(this=exp.Star())).from_(facts.subquery("n", copy=False))
    )
