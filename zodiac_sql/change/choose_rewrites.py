"""Hypernodes as they are evaluated: with modules at work, and with cyclic rules decomposed.

The decision for a cyclic rule holds until the rule has much more to read, or the tables of its
nodes have grown beyond the limit (cost/choose_trees.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from zodiac_sql.change.workspace import Basis, Outcomes, Workspace
from zodiac_sql.cost.choose_trees import (
    Question,
    at_work,
    decision,
    shape,
    within,
)
from zodiac_sql.cost.closures import pays, still_pays
from zodiac_sql.database.statement_cache import StatementCache
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Rule, Type
from zodiac_sql.maintain.contract import Maintained
from zodiac_sql.names import DERIVED_SCHEMA, derived
from zodiac_sql.program.build import Planned
from zodiac_sql.program.state import State
from zodiac_sql.rewrite.closures.condensed import Condensed
from zodiac_sql.rewrite.copies import copied
from zodiac_sql.rewrite.forms import Forms, worthwhile
from zodiac_sql.rewrite.hypertree.rewrite import fits
from zodiac_sql.rewrite.hypertree.stored import StoredTree, tables_of_trees
from zodiac_sql.rewrite.rewritten_hypernode import (
    Inner,
    ModuleRow,
    inner_of,
    tables_of,
    with_trees,
)
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Part, Relation
from zodiac_sql.storage.sources import Sources, inside

T = TypeVar("T")


def with_modules(basis: Basis, hypernode: Hypernode) -> Inner:
    """A hypernode with its modules at work."""
    schema = basis.planned.schema

    def make() -> Inner:
        modules = worthwhile(forms_of(basis, hypernode)) if basis.settings.modules else ()
        return inner_of(hypernode, modules, schema)

    return basis.cache.of(hypernode.id).get(("inner", hypernode.rules), make)


def with_components(work: Workspace, hypernode: Hypernode, new: bool) -> Inner:
    """A hypernode with its modules at work, a transitive closure perhaps as components.

    Rule: which of the two it is, is decided when it is evaluated anew, and holds until then, except
    that components are given up where they no longer pay.
    Reason: to decide takes a look at all edges.
    """
    basis, extensions = work.basis, work.extensions
    inner = with_modules(basis, hypernode)
    before = work.outcomes.modules.get(hypernode.id, ())
    other = as_components(basis, extensions.new, hypernode)
    if other is None or (not new and inner.rows == before):
        return inner
    (row,) = other.rows
    if not new and other.rows == before:
        facts = sum(p.rows for p in _parts(extensions.old, row.predicate, hypernode))
        if still_pays(facts, _rows_of_tables(basis.state, hypernode, row)):
            return other
    given = extensions.new.relation(row.predicate, without=hypernode.id)
    return other if pays(basis.store, given) else inner


def reconsiders(basis: Basis, new: Sources, hypernode: Hypernode, inner: Inner) -> bool:
    """Whether a hypernode may get components if it is evaluated anew."""
    other = as_components(basis, new, hypernode)
    return other is not None and other.rows != inner.rows


def as_components(basis: Basis, new: Sources, hypernode: Hypernode) -> Inner | None:
    """A hypernode whose transitive closure is kept as components, if it can be."""

    def make() -> tuple[Condensed, Inner] | None:
        module = forms_of(basis, hypernode).condensed
        return (module, inner_of(hypernode, [module], basis.planned.schema)) if module else None

    if not basis.settings.modules:
        return None
    found = basis.cache.of(hypernode.id).get(("components", hypernode.rules), make)
    if found is None:
        return None
    module, inner = found
    outside = copied_from_outside(basis.planned, new, hypernode, module.predicate)
    return inner if module.edges in (None, outside) else None


def forms_of(basis: Basis, hypernode: Hypernode) -> Forms:
    """The forms of a hypernode as it is written."""
    cache = basis.cache.of(hypernode.id)
    return cache.get(("forms", hypernode.rules), lambda: Forms(hypernode, basis.planned.schema))


def copied_from_outside(
    planned: Planned, new: Sources, hypernode: Hypernode, predicate: str
) -> str | None:
    """The predicate whose facts are all that another one has from outside a hypernode, if any is.

    Rule: one rule copies them, and nothing else can give it any.
    Reason: to compare the facts would take a look at all of them, whenever one has come.
    """
    if any(part.rows for part in new.explicit.get(predicate, ())):
        return None
    derivers = planned.graph.deriving(predicate)
    rules = [rule for one in derivers if one.id != hypernode.id for rule in one.rules]
    edges = copied(rules[0]) if len(rules) == 1 else None
    if edges is None:
        return None
    kinds = [[c.meant for c in planned.schema[name].columns] for name in (predicate, edges)]
    return edges if kinds[0] == kinds[1] else None


def _parts(sources: Sources, predicate: str, hypernode: Hypernode) -> tuple[Part, ...]:
    """The table of what a hypernode derives of a predicate."""
    return sources.derived.get(predicate, {}).get(hypernode.id, ())


def _rows_of_tables(state: State, hypernode: Hypernode, row: ModuleRow) -> int:
    """How many rows the tables of a relation kept as components have."""
    rows = state.rows
    tables = tables_of(row, state.schema).values()
    return sum(rows.get((DERIVED_SCHEMA, derived(hypernode.id, t.sql_name)), 0) for t in tables)


def with_decisions(work: Workspace, hypernode: Hypernode, inner: Inner, new: bool) -> Inner:
    """A hypernode with its cyclic rules decomposed, by an earlier decision or by one made now."""
    basis = work.basis
    cache = basis.cache.of(hypernode.id)
    cyclic = _cyclic(hypernode, inner)
    if not cyclic or basis.settings.hypertree is False:
        return inner
    before = {} if new else {t.rule: t for t in work.outcomes.trees.get(hypernode.id, ())}
    before = {r.name: before[r.name] for r in cyclic if _lasts(cache, r, before.get(r.name))}
    trees = _decided(work, inner, cyclic, before, {})
    return expand(basis.cache, hypernode, inner, trees)


def _lasts(cache: StatementCache, rule: Rule, tree: StoredTree | None) -> bool:
    """Whether the decision for a rule can still be carried out."""
    if tree is None or not tree.nodes:
        return tree is not None
    return cache.get(("fits", rule.name, tree.nodes), lambda: fits(rule, tree))


def expand(
    caches: StatementCache, hypernode: Hypernode, inner: Inner, trees: tuple[StoredTree, ...]
) -> Inner:
    """A hypernode with some trees. Its cache is emptied if the trees have changed their shape."""
    cache = caches.of(hypernode.id)
    if cache.get("shape", lambda: shape(trees)) != shape(trees):
        caches.forget(hypernode.id)
        cache = caches.of(hypernode.id)
        cache.get("shape", lambda: shape(trees))
    expanded = cache.get(("trees", shape(trees)), lambda: with_trees(inner, trees))
    return replace(expanded, trees=trees)


def is_otherwise(outcomes: Outcomes, hypernode: Hypernode, inner: Inner) -> bool:
    """Whether a hypernode has other modules or trees at work than before."""
    modules, trees = outcomes.modules.get(hypernode.id, ()), outcomes.trees.get(hypernode.id, ())
    return inner.rows != modules or shape(inner.trees) != shape(trees)


def _cyclic(hypernode: Hypernode, inner: Inner) -> tuple[Rule, ...]:
    """The rules of a hypernode that may be decomposed, without the rules that modules bring."""
    if not inner.forms.cyclic:
        return ()
    names = {rule.name for rule in hypernode.rules}
    return tuple(rule for rule in inner.forms.cyclic if rule.name in names)


def _decided(
    work: Workspace,
    inner: Inner,
    cyclic: Sequence[Rule],
    before: Mapping[str, StoredTree],
    found: Mapping[str, int],
) -> tuple[StoredTree, ...]:
    """The decisions for the cyclic rules of a hypernode; mostly the decisions from before.

    `found` has the numbers of derived facts, where they are known already.
    """
    basis, extensions, hypernode = work.basis, work.extensions, inner.hypernode
    sources = inside(extensions.new, inner, hypernode.id)
    types = with_all(basis.types, types_of(inner.schema))

    def relation(name: str, version: Version) -> Relation:
        return sources.relation(name)

    context = Context(relation, types, basis.functions, basis.ids)
    assumed = {**_assumed(inner, sources), **found}
    tables = {
        name: sum(p.rows for p in _parts(extensions.old, name, hypernode))
        for name in tables_of_trees(before.values())
    }
    always = basis.settings.hypertree is True
    trees: list[StoredTree] = []
    for rule in cyclic:
        question = Question(basis.store, context, rule, assumed)
        tree = decision(question, before.get(rule.name), tables, always)
        trees.append(tree.apart({t.table for tree in trees for t in tree.nodes}))
    return tuple(trees)


def _assumed(inner: Inner, sources: Sources) -> dict[str, int]:
    """How many facts a recursive hypernode is assumed to derive: at least as many as it reads."""
    hypernode = inner.hypernode
    if not hypernode.recursive:
        return {}
    given = hypernode.reads - set(hypernode.derives)
    most = max((sources.relation(name).rows for name in given), default=0)
    return {name: max(most, sources.relation(name).rows) for name in hypernode.derives}


def other_trees(
    work: Workspace,
    hypernode: Hypernode,
    inner: Inner,
    *,
    context: Context,
    done: Maintained,
    decide_again: bool,
) -> tuple[StoredTree, ...]:
    """Other trees, if some nodes have turned out to be too large; empty if none has.

    With `decide_again`, a recursive hypernode's trees are chosen anew, because the number of facts
    that it derives is known now.
    """
    if work.basis.settings.hypertree != "auto" or not any(at_work(inner.trees)):
        return ()
    rows = {name: sum(p.rows for p in edit.incoming) for name, edit in done.edits.items()}

    def facts(rule: str) -> int:
        names = _read(hypernode, rule)
        return sum(context.relation(name, Version.ALL).rows + rows.get(name, 0) for name in names)

    fitting = tuple(within(tree, rows, facts(tree.rule)) for tree in inner.trees)
    if shape(fitting) == shape(inner.trees):
        return ()
    if decide_again and hypernode.recursive:
        outer = with_modules(work.basis, hypernode)
        found = {name: rows.get(name, 0) for name in hypernode.derives}
        cyclic = _cyclic(hypernode, outer)
        again = _decided(work, outer, cyclic, {}, found)
        if shape(again) != shape(inner.trees):
            return again
    return fitting


def _read(hypernode: Hypernode, rule: str) -> set[str]:
    """The predicates in the head and body of a rule, as the user wrote it."""
    written = next(r for r in hypernode.rules if r.name == rule)
    return {written.head.predicate, *written.positive()}


def with_all(everywhere: Mapping[str, T], inside: Mapping[str, T]) -> Mapping[str, T]:
    """The entries of all predicates, and of those inside one hypernode.

    Mostly there are none inside. Then nothing is copied, because this function is called for each
    of thousands of hypernodes.
    """
    return {**everywhere, **inside} if inside else everywhere


def types_of(schema: Mapping[str, Predicate]) -> dict[str, tuple[Type | None, ...]]:
    return {name: tuple(c.meant for c in known.columns) for name, known in schema.items()}
