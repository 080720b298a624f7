"""Which rules can be applied by look-ups.

SQLite compares values as DuckDB does if they are of the same type (values.py). So rules can be
applied there whose variables have one type each, and which only join, negate, compare, compute
what Python does as DuckDB, and aggregate. All others are left to the strategies in maintain/.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from zodiac_sql.graph.hypergraph import Hypergraph, Hypernode
from zodiac_sql.language.binding import Arranged, arrange, used_functions
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import Atom, Constant, Rule, Type, Variable
from zodiac_sql.lookups.computed_values import Named, named
from zodiac_sql.lookups.group_forms import Grouped, grouped_of, with_functions
from zodiac_sql.lookups.values import MOST_EXACT, ORDERED
from zodiac_sql.program.state import HypernodeRow
from zodiac_sql.rewrite.forms import Forms
from zodiac_sql.rewrite.rewritten_hypernode import inner_of, modules_at_work


@dataclass(frozen=True, slots=True)
class RuleForm:
    """A rule that can be applied by look-ups."""

    rule: Rule
    body: Arranged
    """Its body, with the names that functions have in SQLite."""
    grouped: Grouped | None = None
    """Its aggregates, if it has some."""


def is_copied(schema: Schema, predicate: str) -> bool:
    """Whether the facts of a predicate can be copied: it has columns, for a key."""
    return predicate in schema and bool(schema[predicate].columns)


def forms_of(
    graph: Hypergraph,
    hypernode: Hypernode,
    row: HypernodeRow,
    schema: Schema,
    registered: Collection[str],
) -> tuple[RuleForm, ...] | None:
    """The rules of a hypernode if all of them can be applied by look-ups, else None.

    Functions that are `registered` are Python's own, also where they have the name of ours: files
    from before these may use some.

    A hypernode with trees, or with modules that keep tables of their own, is left to the
    strategies; of other modules, the linear rules are applied. A recursive hypernode needs reliable
    ranks, by which facts that still follow from others are found.
    """
    if row.trees or hypernode.bests or row.recursive != hypernode.recursive:
        return None
    if hypernode.recursive and not row.ranked:
        return None
    if not _is_by_predicates(graph, hypernode):
        return None
    if not used_functions(hypernode.rules).isdisjoint(registered):
        return None
    if not all(is_copied(schema, name) for name in (*hypernode.reads, *hypernode.derives)):
        return None
    if any(module.fed or module.parted or module.directed for module in row.modules):
        return None
    inner = inner_of(hypernode, modules_at_work(hypernode, row.modules, schema), schema)
    if len(inner.rows) != len(row.modules):
        return None
    known = {**schema, **inner.schema}
    if Forms(inner.hypernode, known).reads_values:
        return None
    forms = [_form(rule, known) for rule in inner.hypernode.rules]
    return tuple(form for form in forms if form) if all(forms) else None


def _is_by_predicates(graph: Hypergraph, hypernode: Hypernode) -> bool:
    """Whether all that derives what a hypernode reads comes before it, or is the hypernode.

    Where rules are stratified by constants alone, that need not be so: some facts of a predicate
    that it reads come later, and do not match.
    """
    own = set(hypernode.derives)
    negative = {name for rule in hypernode.rules for name in rule.negative()}
    if not own.isdisjoint(negative if hypernode.recursive else hypernode.reads):
        return False
    here = graph.places[hypernode.id]
    read = hypernode.reads | (own if hypernode.recursive else set())
    derivers = {h.id: h for name in read for h in graph.derivers.get(name, ())}
    others = [h for h in derivers.values() if h.id != hypernode.id]
    return all(
        graph.places[h.id] < here and not (h.recursive and not own.isdisjoint(h.derives))
        for h in others
    )


def _form(rule: Rule, schema: Schema) -> RuleForm | None:
    body = arrange(rule.body)
    if body.unplaced or not (body.atoms or body.aggregates):
        return None
    if not body.aggregates:
        found = _typed(body, schema, rule.head, {})
        return RuleForm(rule, found.body) if found else None
    plain = grouped_of(rule, body)
    inner = plain and _typed(plain.body, schema, None, {})
    if not plain or not inner:
        return None
    grouped = with_functions(replace(plain, body=inner.body), inner.types)
    if not grouped:
        return None
    results = (one.result.name for one in grouped.aggregates)
    known = dict(zip(results, grouped.results, strict=True))
    known |= {name: inner.types[name] for name in grouped.group if name in inner.types}
    found = _typed(body, schema, rule.head, known)
    return RuleForm(rule, found.body, grouped) if found else None


@dataclass(frozen=True, slots=True)
class _Typed:
    """A body with the names that functions have in SQLite, and the types of its variables."""

    body: Arranged
    types: Mapping[str, Type]


def _typed(
    body: Arranged, schema: Schema, head: Atom | None, known: Mapping[str, Type]
) -> _Typed | None:
    """The types of the variables of a body, of which some are known, and of a head.

    None: SQLite may compare or compute otherwise than DuckDB.
    """
    types = dict(known)
    atoms = [*body.atoms, *(negation.atom for negation in body.negations)]
    if not all(_fits(atom, schema, types) for atom in (*([head] if head else []), *atoms)):
        return None
    values = {name: Named(Variable(name), type_, 1) for name, type_ in types.items()}
    steps, filters = [], []
    for step in body.steps:
        value = named(step.expression, values)
        name = step.variable.name
        if value is None or types.setdefault(name, value.type) is not value.type:
            return None
        values[name] = value
        steps.append(replace(step, expression=value.expression))
    for test in body.filters:
        left, right = named(test.left, values), named(test.right, values)
        if left is None or right is None or not _is_plain(test.operator, left, right):
            return None
        filters.append(replace(test, left=left.expression, right=right.expression))
    return _Typed(replace(body, steps=tuple(steps), filters=tuple(filters)), types)


def _fits(atom: Atom, schema: Schema, types: dict[str, Type]) -> bool:
    """Whether the terms of an atom have just the types of its columns. Notes those of variables."""
    for column, term in zip(schema[atom.predicate].columns, atom.terms, strict=True):
        if column.type is None:  # there are no such facts
            continue
        known = (
            term.type if isinstance(term, Constant) else types.setdefault(term.name, column.type)
        )
        if known is not column.type:
            return False
    return True


def _is_plain(operator: str, left: Named, right: Named) -> bool:
    """Whether SQLite compares as DuckDB does."""
    if left.type is not right.type and not (_is_small(left, right) or _is_small(right, left)):
        return False
    return operator in ("=", "!=") or left.type in ORDERED


def _is_small(side: Named, other: Named) -> bool:
    """Whether a side is an int that is a float, too, and the other side is a float."""
    if side.type is not Type.INT or other.type is not Type.FLOAT:
        return False
    constant = side.expression
    if not isinstance(constant, Constant) or not isinstance(constant.value, int):
        return False
    return abs(constant.value) <= MOST_EXACT
