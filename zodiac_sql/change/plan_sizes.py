"""What a change is expected to derive: facts and bytes of each hypernode, without evaluating it.

Joins are estimated from statistics of the explicit facts (cost/statistics.py), rule by
rule in the order of evaluation, so an error of one hypernode is one of all above it. What recursion
derives cannot be known from statistics. A closure along edges that are known is estimated from a
sample of what its components reach (plan_closures.py); any other recursive hypernode is told with
bounds: what one round is expected to derive, and all combinations of the values that can come into
its columns, which are never more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from zodiac_sql.change.choose_rewrites import as_components, forms_of, types_of
from zodiac_sql.change.plan_closures import closure_of
from zodiac_sql.change.workspace import Basis
from zodiac_sql.cost.closures import Sizes, gains
from zodiac_sql.cost.most_facts import Origins, origins_in
from zodiac_sql.cost.statistics import Estimates, Size, Statistics
from zodiac_sql.database.known_symbols import KNOWN_SYMBOLS
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.binding import expressions_of, variables
from zodiac_sql.language.substitution import put_in
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Constant,
    Expression,
    Literal,
    Rule,
    Type,
    Variable,
)
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Version
from zodiac_sql.sql.relations import Relation
from zodiac_sql.storage.sources import Sources

WIDTHS = {
    Type.SYMBOL: 4, Type.INT: 8, Type.DECIMAL: 16, Type.FLOAT: 8, Type.BOOL: 1, Type.DATE: 4,
    Type.TIMESTAMP: 8,
}  # fmt: skip
"""How many bytes a value has in memory, and at most in a file, where DuckDB compresses it."""

RANK_WIDTH = 8
"""What a rank adds to each fact of a recursive hypernode."""

CLASS_WIDTH = 16
"""How many bytes a row of the tables of components has."""

SHARE_THAT_PASSES = 1 / 3
"""The share of solutions that a comparison with < or > is assumed to let pass."""

WRITTEN_TWICE = 2
"""While a change is computed, what it derives is in temporary tables, too, which go to the disk
where they do not fit the memory."""


_SYMBOLS = f'SELECT CAST(coalesce(sum(strlen(text) + 16), 0) AS BIGINT) FROM temp."{KNOWN_SYMBOLS}"'
"""The bytes of the dictionary: each symbol has its text, an id and a kind."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What one hypernode is expected to hold of all its predicates.

    Where `how` says "bounds", one round is expected to derive `least`, and there are never more
    than `most`, which is None where it is infinite; else both are `rows`, and no bounds. `bytes` is
    for the tables of `rows` facts in the file, at most.
    """

    hypernode: str
    derives: tuple[str, ...]
    rules: int
    recursive: bool
    rows: int
    least: int
    most: int | None
    bytes: int
    how: str


@dataclass(frozen=True, slots=True)
class PlannedSizes:
    """What a change is expected to derive.

    `free` are the bytes that are free on the disk of the file, if it has one. `temporary` bytes are
    needed beside `bytes` while the change is computed, if the memory does not hold them. `notes`
    are the remarks on what was read, as a Change has them.
    """

    hypernodes: tuple[Expected, ...]
    explicit: int
    bytes: int
    temporary: int
    free: int | None
    notes: tuple[str, ...] = ()

    @property
    def problem(self) -> str | None:
        """Why the disk may be too small; None if it is not."""
        needed = self.bytes + self.temporary
        if self.free is None or needed <= self.free:
            return None
        return f"the change may need {needed:,} bytes of disk, and {self.free:,} are free"


@dataclass(slots=True)
class _Column:
    """How many different values a column is expected to have, and which columns they come from.

    None if some are computed: then nobody knows.
    """

    values: float
    sources: Origins


@dataclass(slots=True)
class _Known:
    """What is expected of a predicate: its rows, and those of its columns."""

    rows: float
    columns: list[_Column]


@dataclass(slots=True)
class _Planner:
    """The hypernodes of a change, one after the other."""

    basis: Basis
    new: Sources
    known: dict[str, _Known] = field(default_factory=dict)
    values: dict[tuple[str, int], float] = field(default_factory=dict)
    """How many values columns of explicit facts have."""

    def relation(self, name: str, _: Version) -> Relation:
        """The explicit facts of a predicate: all that is known before evaluation."""
        columns = self.basis.planned.schema[name].columns
        parts = tuple(p for p in self.new.explicit.get(name, ()) if p.rows)
        return Relation(columns, parts)

    @property
    def context(self) -> Context:
        basis = self.basis
        return Context(self.relation, types_of(basis.planned.schema), basis.functions, basis.ids)

    def explicit(self, name: str) -> _Known:
        """What is known of a predicate before any rule."""
        relation = self.relation(name, Version.ALL)
        columns = []
        for place in range(len(relation.columns)):
            terms = tuple(Variable(f"V{i}") for i in range(len(relation.columns)))
            size = Statistics(self.basis.store, self.context, {}).size(Atom(name, terms))
            values = size.values[f"V{place}"] if relation.rows else 0.0
            self.values[name, place] = values
            columns.append(_Column(values, frozenset({(name, place)})))
        return _Known(float(relation.rows), columns)

    def of(self, name: str) -> _Known:
        """What is expected of a predicate, as far as hypernodes were planned."""
        if name not in self.known:
            self.known[name] = self.explicit(name)
        return self.known[name]


@dataclass(slots=True)
class _Guessed(Statistics):
    """Statistics in which the columns of derived predicates have the values expected of them."""

    planner: _Planner | None = None

    def size(self, atom: Atom) -> Size:
        assert self.planner is not None
        known = self.planner.of(atom.predicate)
        if atom.predicate not in self.assumed:
            return Statistics.size(self, atom)
        rows, values = known.rows, dict[str, float]()
        for term, column in zip(atom.terms, known.columns, strict=True):
            if isinstance(term, Variable) and term.name not in values:
                values[term.name] = column.values
            else:
                rows /= max(column.values, 1.0)
        return Size(rows, values)


@dataclass(frozen=True, slots=True)
class _Heads:
    """What a rule is expected to derive."""

    rows: float
    columns: list[_Column]


def plan_of(basis: Basis, new: Sources, free: int | None) -> PlannedSizes:
    """What a change is expected to derive, hypernode by hypernode."""
    planner = _Planner(basis, new)
    found = [_planned(planner, hypernode) for hypernode in basis.planned.graph.hypernodes]
    explicit = 0
    size = sum(one.bytes for one in found)
    temporary = WRITTEN_TWICE * max((one.bytes for one in found), default=0)
    for name in basis.planned.schema:
        relation = planner.relation(name, Version.ALL)
        explicit += relation.rows
        size += relation.rows * _width(planner, name)
    size += basis.store.count(_SYMBOLS)
    return PlannedSizes(tuple(found), explicit, size, temporary, free)


def _width(planner: _Planner, name: str) -> int:
    columns = planner.basis.planned.schema[name].columns
    return sum(WIDTHS[column.type or Type.SYMBOL] for column in columns) or 1


def _planned(planner: _Planner, hypernode: Hypernode) -> Expected:
    """What one hypernode is expected to hold; the planner knows it from then on."""
    for name in hypernode.derives:
        planner.of(name)
    heads = {name: [] for name in hypernode.derives}  # type: dict[str, list[_Heads]]
    forms = forms_of(planner.basis, hypernode)
    closure = closure_of(planner.basis, planner.new, planner.context, forms)
    condensed = closure if closure and _as_components(planner, hypernode, closure) else None
    for rule in hypernode.rules:
        heads[rule.head.predicate].append(_heads(planner, rule))
    rows = {name: _least(planner, name, found) for name, found in heads.items()}
    how, least = "joins", math.ceil(sum(rows.values()))
    most: float = least
    if hypernode.recursive:
        how, bounds = "bounds", _bounds(planner, hypernode)
        most = max(sum(bounds.values()), least)
        for name, bound in bounds.items():
            rows[name] = bound if bound <= rows[name] else _between(rows[name], bound)
    if closure is not None:
        (name,) = rows
        kept = "components" if condensed else "closure"
        how, rows[name] = f"{kept}, from a sample", closure.pairs
        least, most = (math.ceil(closure.pairs),) * 2
    for name, found in heads.items():
        _learn(planner, name, rows[name], found)
    total = math.ceil(sum(rows.values()))
    return Expected(
        hypernode.name, tuple(hypernode.derives), len(hypernode.rules), hypernode.recursive,
        rows=total, least=least, most=None if math.isinf(most) else math.ceil(most),
        bytes=_bytes(planner, hypernode, rows, condensed), how=how,
    )  # fmt: skip


def _between(least: float, most: float) -> float:
    """A number between two bounds that are far apart: no sum would be nearer to both."""
    return max(least, 1.0) if math.isinf(most) else math.sqrt(max(least, 1.0) * most)


def _bytes(
    planner: _Planner, hypernode: Hypernode, rows: Mapping[str, float], condensed: Sizes | None
) -> int:
    if condensed is not None:
        return math.ceil(condensed.rows * CLASS_WIDTH)
    rank = RANK_WIDTH if hypernode.recursive else 0
    return math.ceil(sum(n * (_width(planner, name) + rank) for name, n in rows.items()))


def _as_components(planner: _Planner, hypernode: Hypernode, closure: Sizes) -> bool:
    """Whether a closure would be kept as components."""
    can_be = as_components(planner.basis, planner.new, hypernode) is not None
    return can_be and gains(closure)


# --- rules ----------------------------------------------------------------------------------------


def _heads(planner: _Planner, rule: Rule) -> _Heads:
    """What a rule is expected to derive in one round."""
    rule = _with_constants(rule)
    atoms = list(_atoms(rule.body))
    assumed = {a.predicate: 1 for a in atoms if _is_derived(planner, a.predicate)}
    statistics = _Guessed(planner.basis.store, planner.context, assumed, planner=planner)
    estimates = Estimates(atoms, statistics)
    places = range(len(atoms))
    terms = {name for name, _ in _names(rule, atoms)}
    rows = estimates.projected(places, sorted(terms)) if atoms else 1.0
    rows *= SHARE_THAT_PASSES ** sum(
        isinstance(part, Comparison) and part.operator in ("<", ">", "<=", ">=")
        for part in rule.body
    )
    return _Heads(rows, [_column(planner, atoms, estimates, t, rows) for t in rule.head.terms])


def _with_constants(rule: Rule) -> Rule:
    """A rule with the constants that its variables are equal to."""
    equal: dict[str, Constant] = {}
    for part in rule.body:
        if isinstance(part, Binding):
            sides: tuple[Expression, Expression] = part.variable, part.expression
        elif isinstance(part, Comparison) and part.operator == "=":
            sides = part.left, part.right
        else:
            continue
        for one, other in (sides, sides[::-1]):
            if isinstance(one, Variable) and isinstance(other, Constant):
                equal[one.name] = other
    head = cast(Atom, put_in(rule.head, equal))
    return replace(rule, head=head, body=tuple(put_in(part, equal) for part in rule.body))


def _is_derived(planner: _Planner, name: str) -> bool:
    known = planner.of(name)
    return known.rows != planner.relation(name, Version.ALL).rows


def _atoms(body: Sequence[Literal]) -> Iterator[Atom]:
    """The atoms of a body, those under aggregates included."""
    for part in body:
        if isinstance(part, Atom):
            yield part
        elif isinstance(part, Aggregate):
            yield from _atoms(part.body)


def _names(rule: Rule, atoms: Sequence[Atom]) -> Iterator[tuple[str, bool]]:
    """The variables that a head depends on, and whether it shows them."""
    bound = {name.name for atom in atoms for name in variables(*atom.terms)}
    shown = [term for term in rule.head.terms if isinstance(term, Variable)]
    for term in shown:
        if term.name in bound:
            yield term.name, True
    for part in rule.body:
        if isinstance(part, Aggregate):
            yield from ((name.name, False) for name in part.group if name.name in bound)
        elif isinstance(part, Binding) and part.variable in shown:
            names = variables(*expressions_of(part))
            yield from ((name.name, False) for name in names if name.name in bound)


def _column(
    planner: _Planner, atoms: Sequence[Atom], estimates: Estimates, term: object, rows: float
) -> _Column:
    """What comes into a column of a head."""
    if not isinstance(term, Variable):
        return _Column(1.0, frozenset())
    values, sources = math.inf, None
    for place, atom in enumerate(atoms):
        for position, other in enumerate(atom.terms):
            if other == term:
                values = min(values, estimates.values([place], term.name))
                come = planner.of(atom.predicate).columns[position].sources
                sources = come if sources is None else sources
    return _Column(min(values, max(rows, 0.0)), sources)


def _least(planner: _Planner, name: str, heads: Sequence[_Heads]) -> float:
    """How many different facts several rules derive, at most as many as their columns allow."""
    rows = sum(each.rows for each in heads)
    columns = range(len(planner.of(name).columns))
    possible = _product(sum(h.columns[i].values for h in heads) for i in columns)
    return min(rows, possible) if possible else rows


def _product(numbers: Iterable[float]) -> float:
    """The product of some numbers, of which 0 counts more than an infinite one."""
    listed = list(numbers)
    return 0.0 if 0.0 in listed else math.prod(listed)


def _learn(planner: _Planner, name: str, rows: float, heads: Sequence[_Heads]) -> None:
    """Note what is expected of a predicate now that one more hypernode derives it."""
    known = planner.of(name)
    columns = []
    for place, column in enumerate(known.columns):
        come = [head.columns[place] for head in heads]
        sources = column.sources
        for other in come:
            both = sources is not None and other.sources is not None
            sources = sources | other.sources if both else None  # type: ignore[operator]
        values = max([column.values, *(other.values for other in come)])
        columns.append(_Column(values, sources))
    planner.known[name] = _Known(known.rows + rows, columns)


# --- recursion ------------------------------------------------------------------------------------


def _bounds(planner: _Planner, hypernode: Hypernode) -> dict[str, float]:
    """The most facts that there can be: all combinations of values that can come into columns."""
    first = {
        (name, place): column.sources
        for name in hypernode.derives
        for place, column in enumerate(planner.of(name).columns)
    }
    sources = origins_in(
        hypernode.rules, first, lambda one: planner.of(one[0]).columns[one[1]].sources
    )
    found = {}
    for name in hypernode.derives:
        columns = [sources[name, place] for place in range(len(planner.of(name).columns))]
        found[name] = _product(
            math.inf if each is None else sum(planner.values.get(s, 1.0) for s in each)
            for each in columns
        )
    return found
