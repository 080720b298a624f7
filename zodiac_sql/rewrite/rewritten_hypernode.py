"""A hypernode as it is evaluated: modules and hypertrees replace some of its rules.

Predicates inside it, and their tables, have names that no program can use (names.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.schema import Predicate, Schema
from zodiac_sql.language.syntax import Aggregate, Atom, Column, Literal, Negation, Rule, Type
from zodiac_sql.language.templates import with_atoms
from zodiac_sql.names import (
    between,
    between_table,
    classes,
    classes_table,
    external,
    external_table,
    given,
)
from zodiac_sql.rewrite.closures.condensed import Condensed
from zodiac_sql.rewrite.closures.module import FIRST, NODE, SECOND, Module
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.rewrite.hypertree.rewrite import decomposed, fits
from zodiac_sql.rewrite.hypertree.stored import StoredTree, tables_of_trees


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRow:
    """A module at work in a hypernode, as the catalog keeps it (migration 0003)."""

    kind: str
    predicate: str
    fed: bool
    """Whether other rules derive external facts of the predicate."""
    parted: bool
    """Whether the relation is stored as nodes and their classes."""
    unequal: bool
    """Whether a node is related to itself by external facts only."""
    covers: bool
    """Whether the hypernode derives all external facts, too."""

    @property
    def directed(self) -> bool:
        """Whether nodes of different classes can be related, and a table tells which classes."""
        return self.kind == Condensed.kind

    def __str__(self) -> str:
        return f"{self.kind}({self.predicate})"


def tables_of(row: ModuleRow, schema: Schema) -> dict[str, Predicate]:
    """The tables of a module at work, by their names inside the hypernode."""
    known = schema[row.predicate]
    found = {}
    if row.fed:
        name = external(row.predicate)
        found[name] = replace(known, name=name, sql_name=external_table(known.sql_name))
    if row.parted:
        name = classes(row.predicate)
        columns = (
            Column(NODE, known.columns[0].meant),
            Column("class", Type.INT),
            Column("loop", Type.BOOL),
        )
        types = tuple(column.meant for column in columns)
        sql_name = classes_table(known.sql_name)
        found[name] = Predicate(name, sql_name, columns, types, (None,) * 3)
    if row.directed:
        name = between(row.predicate)
        ends = (Column(FIRST, Type.INT), Column(SECOND, Type.INT))
        sql_name = between_table(known.sql_name)
        found[name] = Predicate(name, sql_name, ends, (Type.INT,) * 2, (None,) * 2)
    return found


@dataclass(frozen=True, slots=True)
class Inner:
    """What there is to evaluate in a hypernode."""

    forms: Forms
    rows: tuple[ModuleRow, ...] = ()
    """The modules at work."""
    trees: tuple[StoredTree, ...] = ()
    """What was decided for its cyclic rules."""
    tables: Mapping[str, Predicate] = field(default_factory=dict)
    """The tables of modules and of nodes of trees."""
    schema: Mapping[str, Predicate] = field(default_factory=dict)
    """All predicates that exist only inside."""
    outside: frozenset[str] = frozenset()
    """Its own predicates of which some rules read only the facts from outside, as `given`."""

    @property
    def hypernode(self) -> Hypernode:
        """The rules that are evaluated."""
        return self.forms.hypernode


def modules_at_work(
    hypernode: Hypernode, rows: Sequence[ModuleRow], schema: Schema
) -> list[Module]:
    """The modules of a hypernode that are at work, as the catalog says."""
    forms = Forms(hypernode, schema)
    if any(row.directed for row in rows):
        return [forms.condensed] if forms.condensed else []
    closed = {row.predicate for row in rows}
    return [one for one in forms.modules if one.predicate in closed]


def inner_of(hypernode: Hypernode, modules: Sequence[Module], schema: Schema) -> Inner:
    """A hypernode with its modules at work; without modules it mostly stays as it is."""
    apart = _apart(hypernode, schema)
    if not modules:
        return apart
    closed = {module.predicate: module for module in modules}
    taken = {rule.name for module in modules for rule in module.taken}
    left = [rule for rule in apart.hypernode.rules if rule.name not in taken]
    fed = {p for p, m in closed.items() if any(m.feeds(rule) for rule in left)}
    rules = [_written(rule, closed.get(rule.head.predicate)) for rule in left]
    for module in modules:
        rules += module.rules(module.predicate in fed)
    rows = tuple(_row(module, module.predicate in fed) for module in modules)
    tables = {name: p for row in rows for name, p in tables_of(row, schema).items()}
    inputs = {given(p): replace(schema[p], name=given(p)) for p in closed}
    inside = {**tables, **inputs, **apart.schema}
    return Inner(
        Forms(replace(hypernode, rules=tuple(rules)), {**schema, **inside}),
        rows,
        tables=tables,
        schema=inside,
        outside=apart.outside.union(closed),
    )


def _row(module: Module, fed: bool) -> ModuleRow:
    """A module as the catalog keeps it."""
    return ModuleRow(
        kind=module.kind,
        predicate=module.predicate,
        fed=fed,
        parted=module.parted,
        unequal=module.unequal,
        covers=module.covers,
    )


def _apart(hypernode: Hypernode, schema: Schema) -> Inner:
    """A hypernode whose rules read as `given` what they read of its own predicates from outside.

    That is what no head matches (graph/rule_graph.py), as in the only rule of a hypernode:
    `status(X, good) :- part(X), not status(X, bad)`. One that is not recursive reads nothing of its
    own, and no hypernode reads its own under a negation or in an aggregate.
    """
    own = {*hypernode.derives}
    if hypernode.reads.isdisjoint(own):
        return Inner(Forms(hypernode, schema))
    apart: set[str] = set()

    def read(atom: Atom) -> Atom:
        if atom.predicate not in own:
            return atom
        apart.add(atom.predicate)
        return replace(atom, predicate=given(atom.predicate))

    def rewritten(literal: Literal) -> Literal:
        if hypernode.recursive and not isinstance(literal, (Negation, Aggregate)):
            return literal
        return with_atoms((literal,), read)[0]

    rules = [replace(r, body=tuple(map(rewritten, r.body))) for r in hypernode.rules]
    if not apart:
        return Inner(Forms(hypernode, schema))
    inputs = {given(p): replace(schema[p], name=given(p)) for p in apart}
    forms = Forms(replace(hypernode, rules=tuple(rules)), {**schema, **inputs})
    return Inner(forms, schema=inputs, outside=frozenset(apart))


def with_trees(inner: Inner, trees: Sequence[StoredTree]) -> Inner:
    """A hypernode that evaluates its cyclic rules along the trees decided for them."""
    by_rule = {tree.rule: tree for tree in trees if tree.nodes}
    rules: list[Rule] = []
    for rule in inner.hypernode.rules:
        if rule.name in by_rule and fits(rule, by_rule[rule.name]):
            written = decomposed(rule, by_rule[rule.name].tree)
            rules += (*written.nodes.values(), written.join)
        else:
            rules.append(rule)
    tables = tables_of_trees(trees)
    hypernode = replace(inner.hypernode, rules=tuple(rules))
    return replace(
        inner,
        forms=Forms(hypernode, {**inner.forms.schema, **inner.schema, **tables}),
        trees=tuple(trees),
        tables={**inner.tables, **tables},
        schema={**inner.schema, **tables},
    )


def _written(rule: Rule, module: Module | None) -> Rule:
    """A rule that no module takes, deriving external facts where a module closes its predicate."""
    if module is None or not module.feeds(rule):
        return rule
    return replace(rule, head=Atom(external(module.predicate), rule.head.terms))
