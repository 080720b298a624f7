"""The least fixpoint of one hypernode over its inputs, from scratch, in temporary tables.

A hypernode that is not recursive is one rule, and one statement. A recursive one is either
one recursive statement, where that is possible (`linear`), or a loop over delta tables (`loop`).
Measured (random DAG, 22.1 million pairs, 2 cores, DuckDB 1.5): the statement 9.8 s, the loop 11.6;
but the statement cannot hold non-linear rules, and several predicates only at the price of tags.
A loop that takes many rounds goes on in one statement (rest_at_once.py).
Closures of which large parts overlap are united layer by layer instead (layers.py).

In both, facts that reach the hypernode from elsewhere are read but never become its own, unless
one of its rules derives them too (ARCHITECTURE.md, "Invariants").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.database.statements import create_temp, distinct, drop, union_all
from zodiac_sql.database.store import Store
from zodiac_sql.evaluate.copied import copied, shared
from zodiac_sql.evaluate.cost.most_facts import most_facts
from zodiac_sql.evaluate.improve import best_values
from zodiac_sql.evaluate.in_shares import among, in_shares, pays
from zodiac_sql.evaluate.layers import forget, in_layers
from zodiac_sql.evaluate.linear_rules import has_linear_rules
from zodiac_sql.evaluate.make_tables import in_one_table
from zodiac_sql.evaluate.partition.closure import Closure, begin_closure
from zodiac_sql.evaluate.partition.condensation import Condensation, condense
from zodiac_sql.evaluate.run_plans import apply_plans
from zodiac_sql.evaluate.semi_naive import Fixpoint, semi_naive, table_name
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Rule
from zodiac_sql.names import RANK, given, is_node
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.rewrite.rewritten_hypernode import ModuleRow
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.duplicates import has_duplicates
from zodiac_sql.sql.emptiness import is_empty, lacks_facts
from zodiac_sql.sql.plan import Plan, Version, delta_variants, whole
from zodiac_sql.sql.recursion import COLLECTED, with_recursion
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.sql.tagged import layout_of, typed

LARGEST_COPIED = 5_000_000
"""Inputs of more rows are not put into a table before a recursive statement reads them."""

LARGEST_IN_ONE = 100_000
"""Find the facts of several predicates in one recursive statement only if a hypernode reads at most
this many: the loop takes some thirty statements, and a large one works on several cores."""

MOST_RULES_IN_ONE = 20
"""And only if it has at most this many rules: planning all takes longer than some rounds then."""


MOST_PARTS = 4
"""So many tables of one predicate may be read in several places of one recursive statement."""


def evaluate(
    store: Store,
    forms: Forms,
    schema: Schema,
    context: Context,
    cache: StatementCache,
    modules: Sequence[ModuleRow] = (),
) -> Fixpoint:
    """Compute a hypernode, given by its forms. `context` reads all but the hypernode's own tables.

    With `modules` at work, it has only the rules that they leave
    (rewrite/rewritten_hypernode.py).
    """
    hypernode = forms.hypernode
    if hypernode.bests:
        return best_values(store, hypernode, schema, context, cache)
    if not hypernode.recursive:
        return _in_order(store, hypernode, schema, context, cache)
    if found := _condensed(store, hypernode, schema, context, modules):
        parts = {name: each.now for name, each in found.items() if each.rows}
        return Fixpoint(parts, 1, "components", condensed=found)
    if closures := closures_at_work(store, hypernode, schema, context, modules):
        return semi_naive(store, hypernode, schema, context=context, cache=cache, closures=closures)
    empty = all(context.relation(p, Version.ALL).rows == 0 for p in hypernode.derives)
    if empty and not any(map(is_node, hypernode.derives)):
        return Fixpoint({}, 0, "loop")  # every rule needs a fact of one of them to begin with
    if store.watch.counts:
        return semi_naive(store, hypernode, schema, context=context, cache=cache, closures={})
    if done := copied(store, forms, schema, context):
        return done
    if done := _in_layers(store, forms, schema, context):
        return done
    if is_linear(hypernode, context):
        return _linear(store, forms, schema, context)
    if _is_small(hypernode, context) and has_linear_rules(hypernode, context):
        return linear_of_several(store, hypernode, schema, context)
    return semi_naive(store, hypernode, schema, context=context, cache=cache, closures={})


def _condensed(
    store: Store,
    hypernode: Hypernode,
    schema: Schema,
    context: Context,
    modules: Sequence[ModuleRow],
) -> dict[str, Condensation]:
    """The relation that is kept as components, if there is one; then it is the only one."""
    return {
        row.predicate: condense(
            store,
            row,
            columns=schema[row.predicate].columns,
            stem=table_name(hypernode, row.predicate, schema),
            given=context.relation(given(row.predicate), Version.ALL),
        )
        for row in modules
        if row.directed
    }


def closures_at_work(
    store: Store,
    hypernode: Hypernode,
    schema: Schema,
    context: Context,
    modules: Sequence[ModuleRow],
) -> dict[str, Closure]:
    """The relations that are kept as partitions, closed over what is known from outside."""
    closures = {}
    for row in modules:
        if row.parted and not row.directed:
            name = row.predicate

            outside = context.relation(given(name), Version.ALL)
            closures[name] = begin_closure(
                store,
                row,
                columns=schema[name].columns,
                stem=table_name(hypernode, name, schema),
                given=outside,
                alone=not hypernode.rules,
            )
            closures[name].add(outside, None)
    return closures


# --- one rule -------------------------------------------------------------------------------------


def _in_order(
    store: Store, hypernode: Hypernode, schema: Schema, context: Context, cache: StatementCache
) -> Fixpoint:
    """The rules of a hypernode that is not recursive, in their order.

    Usually this is one rule; if it is decomposed, first come the nodes of its tree, then their
    join.
    """
    parts: dict[str, Part] = {}

    def relation(name: str, version: Version) -> Relation:
        if name in hypernode.derives:
            return Relation(schema[name].columns, (parts[name],) if name in parts else ())
        return context.relation(name, version)

    inside = replace(context, relation=relation)
    for rule in hypernode.rules:
        parts |= _single(store, hypernode, rule, schema=schema, context=inside, cache=cache).parts
    return Fixpoint(parts, len(hypernode.rules) if parts else 0, "rule")


def _single(
    store: Store,
    hypernode: Hypernode,
    rule: Rule,
    schema: Schema,
    context: Context,
    cache: StatementCache,
) -> Fixpoint:
    """What one rule derives."""
    predicate = rule.head.predicate
    if lacks_facts(rule, context):
        return Fixpoint({}, 0, "rule")  # without a plan: of an ontology's rules, most lack facts
    if store.watch.bounds is None and (part := shared(rule, schema, context)):
        return Fixpoint({predicate: part}, 1, "rule")
    plan = cache.get(("whole", rule.name), partial(whole, rule))
    if is_empty(plan, context):
        return Fixpoint({}, 0, "rule")
    name = table_name(hypernode, predicate, schema)
    columns = schema[predicate].columns
    rows = apply_plans(
        store,
        cache,
        [plan],
        context,
        key="whole",
        columns=columns,
        table=name,
        shape=distinct if has_duplicates(plan, columns, context) else _as_they_are,
        grows=True,
    )
    return Fixpoint({predicate: Part("temp", name, rows)} if rows else {}, 1, "rule")


def _as_they_are(heads: exp.Query | None) -> exp.Query:
    assert heads is not None
    return heads


def _in_layers(store: Store, forms: Forms, schema: Schema, context: Context) -> Fixpoint | None:
    """One relation, closed along another that has no cycle (layers.py); None if that is no gain."""
    layered = in_layers(store, forms, context)
    if layered is None:
        return None
    predicate = forms.hypernode.derives[0]
    part = layered.make(store, table_name(forms.hypernode, predicate, schema))
    forget(store)
    return Fixpoint({predicate: part} if part else {}, layered.depth, "layers")


# --- one recursive statement ----------------------------------------------------------------------


def is_linear(hypernode: Hypernode, context: Context) -> bool:
    """Whether one recursive statement will do: it can hold one predicate."""
    return len(hypernode.derives) == 1 and has_linear_rules(hypernode, context)


def _linear(store: Store, forms: Forms, schema: Schema, context: Context) -> Fixpoint:
    """WITH RECURSIVE: what the rules derive from the outside facts, and then from each other.

    The statement starts from the first derived facts, not from the outside ones, so it returns
    exactly what the rules derive. An outside fact that is derived too is passed on twice, which
    costs but does no harm.
    """
    hypernode = forms.hypernode
    (predicate,) = hypernode.derives
    context = _with_tables(store, hypernode, context)
    columns = schema[predicate].columns
    outside = context.relation(predicate, Version.ALL)
    own = Relation(columns, (Part("", "r", outside.rows),))
    before = replace(context, relation=_instead(context, {predicate: outside}))
    inside = replace(context, relation=_instead(context, {predicate: own}))
    rules = [rule for rule in hypernode.rules if not is_empty(whole(rule), context)]
    if not rules:
        return Fixpoint({}, 0, "linear")
    names = [column.name for column in own.stored]
    plans = {rule.name: _begins_inside(rule, hypernode) for rule in rules}
    seeds = {name: compile_rule(plan, columns, before).query for name, plan in plans.items()}
    steps = {name: compile_rule(plan, columns, inside).query for name, plan in plans.items()}
    name = table_name(hypernode, predicate, schema)
    kept = columns[forms.preserved[0]].name if forms.preserved else None
    inputs = sum(context.relation(p, Version.ALL).rows for p in hypernode.reads)
    if kept and pays(store, inputs, lambda: most_facts(store, predicate, rules, before)):

        def recursion(first: int, end: int) -> exp.Select:
            begun = [among(query, kept, first, end) for query in seeds.values()]
            others = [r.name for r in rules if predicate not in r.positive()]
            more = {n: among(steps[n], kept, first, end) for n in others}
            return _recursion(names, union_all(begun), union_all([*{**steps, **more}.values()]))

        rows = in_shares(store, name, recursion)
    else:
        query = _recursion(names, union_all([*seeds.values()]), union_all([*steps.values()]))
        rows = store.count(create_temp(name, query), as_written=True)
    return Fixpoint({predicate: Part("temp", name, rows, ranked=True)} if rows else {}, 1, "linear")


def _begins_inside(rule: Rule, hypernode: Hypernode) -> Plan:
    """The plan of a rule that begins with its recursive atom, if it has one.

    A recursive statement looks up what stands after it (Store.run).
    """
    return next(iter(delta_variants(rule, hypernode.derives)), whole(rule))


def _instead(
    context: Context, others: Mapping[str, Relation]
) -> Callable[[str, Version], Relation]:
    """What scans read, with other relations in the place of some predicates."""
    return lambda name, version: others.get(name) or context.relation(name, version)


def _is_small(hypernode: Hypernode, context: Context) -> bool:
    """Whether one statement about several predicates costs less than rounds of many."""
    if len(hypernode.rules) > MOST_RULES_IN_ONE or any(map(is_node, hypernode.derives)):
        return False
    return sum(context.relation(p, Version.ALL).rows for p in hypernode.reads) <= LARGEST_IN_ONE


def linear_of_several(
    store: Store, hypernode: Hypernode, schema: Schema, context: Context
) -> Fixpoint:
    """The same for several predicates: the statement finds the facts of all, with tags."""
    context = _with_tables(store, hypernode, _with_united(store, hypernode, context))
    layout = layout_of({p: typed(_of(p, schema).stored, False) for p in hypernode.derives})

    def tagged(rule: Rule, around: Context) -> exp.Query:
        head = rule.head.predicate
        plan = _begins_inside(rule, hypernode)
        rows = compile_rule(plan, schema[head].columns, around).query
        names = columns_of(_of(head, schema), "h")
        return layout.put(head, exp.select(*names).from_(rows.subquery("h", copy=False)))

    def found(name: str) -> Relation:
        return Relation(schema[name].columns, (Part("", "r", 1, picked=layout.picked[name]),))

    own = hypernode.derives
    outside = {name: context.relation(name, Version.ALL) for name in own}
    before = replace(context, relation=_instead(context, outside))
    inside = replace(context, relation=_instead(context, {name: found(name) for name in own}))
    seeds = [r for r in hypernode.rules if not is_empty(whole(r), context)]
    if not seeds:
        return Fixpoint({}, 0, "linear")
    steps = [r for r in hypernode.rules if not is_empty(whole(r), inside)]
    query = _recursion(
        layout.columns,
        union_all([tagged(rule, before) for rule in seeds]),
        union_all([tagged(rule, inside) for rule in steps]),
    )
    whole_table = f"found_{hypernode.name}"
    store.run(create_temp(whole_table, query), as_written=True)
    parts = {}
    for predicate in hypernode.derives:
        picked = layout.picked[predicate]
        picked = replace(picked, columns=(*picked.columns, (RANK, RANK)))
        part = Part("temp", whole_table, 1, ranked=True, picked=picked)
        name = table_name(hypernode, predicate, schema)
        rows = relation_query(Relation(schema[predicate].columns, (part,), ranked=True))
        if count := store.count(create_temp(name, rows)):
            parts[predicate] = Part("temp", name, count, ranked=True)
    store.run(drop(whole_table))
    return Fixpoint(parts, 1, "linear")


def _with_united(store: Store, hypernode: Hypernode, context: Context) -> Context:
    """The context, in which what has many parts and is read more than once is in one table.

    Each reading would plan a scan of every part, and take facts again that stand in several.
    """
    times = Counter(a.predicate for rule in hypernode.rules for a in rule.positive_atoms())

    def pays(name: str, relation: Relation) -> bool:
        return times[name] > 1 and len(relation.parts) > MOST_PARTS

    return in_one_table(store, context, f"united_{hypernode.name}", pays, distinct=True)


def _with_tables(store: Store, hypernode: Hypernode, context: Context) -> Context:
    """The context, in which what rounds read is in one table, if it is not too large.

    (One edge of a cycle of 450 nodes took 350 ms, and 170 are enough.)
    """

    def pays(name: str, relation: Relation) -> bool:
        if name in hypernode.derives or relation.rows > LARGEST_COPIED:
            return False
        several = len(relation.parts) > 1 or any(part.minus for part in relation.parts)
        return several and not any(part.pairs for part in relation.parts)

    return in_one_table(store, context, f"read_{hypernode.name}", pays)


def _of(predicate: str, schema: Schema) -> Relation:
    """A relation with the columns of a predicate."""
    return Relation(schema[predicate].columns, ())


def _recursion(columns: Sequence[str], seeds: exp.Query, steps: exp.Query) -> exp.Select:
    """What follows from the seeds, ranked in the order in which it is found."""
    names = [exp.column(name, quoted=True) for name in columns]
    rank = exp.Window(this=exp.RowNumber()).as_(RANK, quoted=True)
    recursion = exp.union(seeds, steps, distinct=True, copy=False)
    return with_recursion(exp.select(*names, rank).from_(COLLECTED), "r", recursion)
