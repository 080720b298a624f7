"""How many rows joins of a rule's atoms have: textbook estimates, corrected for skew.

An atom's rows and distinct values come from DuckDB: it counts modest relations, and has statistics
of larger ones. Joins are estimated as Garcia-Molina, Ullman and Widom do (Database Systems, 16.4;
so does paper 5, section 5): rows multiply, and each further atom with a variable divides by its
number of distinct values. That assumes that all values are equally frequent; on a skewed graph such
estimates are wrong by orders of magnitude. So for each variable the size of the join of two atoms
is counted, and the estimate is multiplied by its ratio to the textbook's size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from sqlglot import exp

from zodiac_sql.database.store import Store
from zodiac_sql.language.binding import variables
from zodiac_sql.language.syntax import Atom, Column, Constant, Rule, Variable
from zodiac_sql.language.types import body_types
from zodiac_sql.rewrite.hypertree.decompose import ALWAYS_SEARCHED
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.plan import Scan, Version, whole
from zodiac_sql.sql.relations import Relation, table
from zodiac_sql.sql.scans import column_name, side
from zodiac_sql.sql.select import compile_rule

LARGEST_COUNTED = 1_000_000
"""Count a relation of at most this many rows; for a larger one, ask DuckDB's statistics."""

SAMPLE_ROWS, SAMPLE_VALUES = 100_000, 30
"""A sample has about SAMPLE_ROWS rows, and at least SAMPLE_VALUES values of the variable that it is
taken by."""

Pattern = tuple[str, tuple[object, ...]]
"""An atom up to the names of its variables."""

End = tuple[Pattern, int]
"""A variable of an atom, by its place among the atom's variables."""


@dataclass(frozen=True, slots=True)
class Size:
    """The rows of an atom, and how many different values each of its variables has."""

    rows: float
    values: Mapping[str, float]


@dataclass(slots=True)
class Statistics:
    """Sizes of atoms and of their joins, each asked for once. `assumed` stands for what is not
    known yet: the rows of predicates that are being derived."""

    store: Store
    context: Context
    assumed: Mapping[str, int]
    _sizes: dict[Pattern, tuple[float, list[float]]] = field(default_factory=dict)
    _skews: dict[tuple[End, End], float] = field(default_factory=dict)

    def size(self, atom: Atom) -> Size:
        """The size of an atom."""
        names = _names(atom)
        pattern = pattern_of(atom)
        if pattern not in self._sizes:
            self._sizes[pattern] = self._asked(atom)
        rows, values = self._sizes[pattern]
        return Size(rows, dict(zip(names, values, strict=True)))

    def skew(self, first: Atom, second: Atom, name: str) -> float:
        """By what factor the join of two atoms on a variable is larger than the textbook says."""
        ends = (_end(first, name), _end(second, name))
        if ends not in self._skews:
            found = self._counted_join(first, second, name)
            self._skews[ends] = self._skews[ends[1], ends[0]] = found
        return self._skews[ends]

    def _relation(self, atom: Atom) -> Relation:
        return self.context.relation(atom.predicate, Version.ALL)

    def _asked(self, atom: Atom) -> tuple[float, list[float]]:
        relation = self._relation(atom)
        arity = len(_names(atom))
        if atom.predicate in self.assumed:
            rows = float(self.assumed[atom.predicate])
            return rows, [rows**0.75] * arity
        if relation.rows > LARGEST_COUNTED:
            return self._told(atom, relation)
        (row,) = self.store.rows(_counts(atom, self.context))
        return float(row[0]), [float(value) for value in row[1:]]

    def _told(self, atom: Atom, relation: Relation) -> tuple[float, list[float]]:
        """The size of a large atom by DuckDB's statistics of the largest table."""
        largest = max(relation.parts, key=lambda part: part.rows)
        values = [float(relation.rows) ** 0.5] * len(relation.columns)
        if not largest.read.pairs:
            stats = [
                exp.Anonymous(this="stats", expressions=[exp.column(c.name, quoted=True)])
                for c in relation.columns
            ]
            found = self.store.rows(exp.select(*stats).from_(table(largest)).limit(1))
            values = [_unique(told, relation.rows) for told in (found[0] if found else ())]
        rows = float(relation.rows)
        by_name: dict[str, float] = {}
        for term, value in zip(atom.terms, values, strict=True):
            if isinstance(term, Constant) or term.name in by_name:
                rows /= max(value, 1.0)
            else:
                by_name[term.name] = value
        return rows, list(by_name.values())

    def _counted_join(self, first: Atom, second: Atom, name: str) -> float:
        sizes = self.size(first), self.size(second)
        known = all(
            atom.predicate not in self.assumed and self._relation(atom).rows <= LARGEST_COUNTED
            for atom in (first, second)
        )
        expected = sizes[0].rows * sizes[1].rows / max(*(s.values[name] for s in sizes), 1.0)
        if not known or not expected:
            return 1.0
        counted = self.store.rows(_joined(first, second, name, self.context))[0][0]
        return float(counted or 0) / expected


def pattern_of(atom: Atom) -> Pattern:
    """An atom up to the names of its variables."""
    places: dict[str, int] = {}
    terms = (
        t if isinstance(t, Constant) else places.setdefault(t.name, len(places)) for t in atom.terms
    )
    return atom.predicate, tuple(terms)


def _names(atom: Atom) -> list[str]:
    return list(dict.fromkeys(v.name for v in variables(*atom.terms)))


def _end(atom: Atom, name: str) -> End:
    return pattern_of(atom), _names(atom).index(name)


def _unique(told: Mapping[str, Any], rows: int) -> float:
    """How many values a column has, by DuckDB's statistics; some types have none."""
    return float(told.get("approx_unique", rows**0.5))


def values_query(asked: Iterable[tuple[exp.Query, exp.Expr]]) -> exp.Select:
    """SELECT about how many different values a column of each query has, which is named "s".

    Columns of the same query that follow each other are counted at once: each query that stands
    there costs DuckDB a millisecond of planning.
    """
    counts = exp.select()
    for number, (rows, some) in enumerate(itertools.groupby(asked, key=itemgetter(0))):
        distinct = [exp.ApproxDistinct(this=column) for _, column in some]
        names = [f"n{place}" for place in range(len(distinct))]
        named = [one.as_(name) for one, name in zip(distinct, names, strict=True)]
        counted = exp.select(*named).from_(rows.subquery("s", copy=False)).subquery(f"c{number}")
        counts = counts.select(*(exp.column(n, table=f"c{number}") for n in names), copy=False)
        item = exp.Join(this=counted, kind="CROSS")
        counts = counts.join(item, copy=False) if number else counts.from_(counted, copy=False)
    return counts


def _side(atom: Atom, names: Sequence[str], context: Context) -> exp.Select:
    return side(Scan(atom, Version.ALL), [Variable(name) for name in names], context)


def _column(name: str, table_: str | None = None) -> exp.Column:
    return exp.column(column_name(name), table=table_, quoted=True)


def _counts(atom: Atom, context: Context) -> exp.Select:
    """The rows of an atom, and about how many values each of its variables has."""
    names = _names(atom)
    counts = [exp.ApproxDistinct(this=_column(name)) for name in names]
    rows = exp.Count(this=exp.Star())
    return exp.select(rows, *counts).from_(_side(atom, names, context).subquery("s"))


def _joined(first: Atom, second: Atom, name: str, context: Context) -> exp.Select:
    """The size of the join of two atoms on one variable."""

    def grouped(atom: Atom, alias: str) -> exp.Subquery:
        counted = exp.Count(this=exp.Star()).as_("n")
        values = exp.select(_column(name), counted).from_(
            _side(atom, [name], context).subquery("s")
        )
        return values.group_by(_column(name)).subquery(alias)

    pairs = exp.Mul(
        this=exp.cast(exp.column("n", table="a"), "DOUBLE"), expression=exp.column("n", table="b")
    )
    same = _column(name, "a").eq(_column(name, "b"))
    return (
        exp.select(exp.Sum(this=pairs))
        .from_(grouped(first, "a"))
        .join(grouped(second, "b"), on=same)
    )


# --- joins of several atoms -----------------------------------------------------------------------


@dataclass(slots=True)
class Estimates:
    """Sizes of the joins of some atoms, given by their places."""

    atoms: Sequence[Atom]
    statistics: Statistics
    _rows: dict[frozenset[int], float] = field(default_factory=dict)
    _costs: dict[frozenset[int], float] = field(default_factory=dict)
    _projected: dict[tuple[frozenset[int], frozenset[str]], float] = field(default_factory=dict)

    def rows(self, places: Collection[int]) -> float:
        """The rows of a join."""
        key = frozenset(places)
        if key not in self._rows:
            self._rows[key] = self._estimated(sorted(key))
        return self._rows[key]

    def values(self, places: Iterable[int], name: str) -> float:
        """How many values a variable has in a join: at most as many as in any of its atoms."""
        sizes = (self.statistics.size(self.atoms[place]) for place in places)
        return min((s.values[name] for s in sizes if name in s.values), default=1.0)

    def projected(self, places: Collection[int], names: Iterable[str]) -> float:
        """How many different rows a join has, projected onto some variables."""
        names = tuple(names)
        if found := self._projected.get((frozenset(places), frozenset(names))):
            return found
        rows = self.rows(places)
        possible = math.prod(max(self.values(places, name), 1.0) for name in names)
        if possible > 1e15 or rows <= 0:
            return max(rows, 0.0)
        return possible * -math.expm1(-rows / possible)

    def suppose(self, places: Collection[int], rows: float) -> None:
        """Set the number of rows of a join."""
        self._rows[frozenset(places)] = rows
        self._costs.clear()

    def suppose_different(
        self, places: Collection[int], names: Collection[str], rows: float
    ) -> None:
        """Set how many different rows a join has, projected onto some variables."""
        self._projected[frozenset(places), frozenset(names)] = rows

    def measure(self, places: Collection[int], names: Sequence[str]) -> None:
        """Count the rows of a join, and the different ones of some variables, in a sample.

        Estimates assume that variables are independent, but they need not be: courses with a
        student in common are in one department. The sample has all rows with some values of one
        variable, so each count in it is the same share of the whole.
        """
        key, rows = frozenset(places), self.rows(places)
        known = all(self.atoms[p].predicate not in self.statistics.assumed for p in places)
        if not known or not names or rows < SAMPLE_ROWS:
            return
        by = max(names, key=lambda name: self.values(places, name))
        share = max(1, int(min(rows / SAMPLE_ROWS, self.values(places, by) / SAMPLE_VALUES)))
        query = _sampled([self.atoms[p] for p in sorted(key)], names, by, share, self.statistics)
        ((found, different),) = self.statistics.store.rows(query)
        self.suppose(key, max(float(found) * share, 1.0))
        self.suppose_different(places, names, max(float(different) * share, 1.0))

    def join_cost(self, places: Collection[int]) -> float:
        """The rows of all intermediate results of the best order, bushy ones included.

        Infinite for a Cartesian product.
        """
        key = frozenset(places)
        if key not in self._costs:
            self._costs[key] = self._best(key)
        return self._costs[key]

    def _best(self, key: frozenset[int]) -> float:
        if len(key) == 1:
            return 0.0
        if not self.connected(key):
            return math.inf
        if len(key) > ALWAYS_SEARCHED:  # too many orders
            return self.rows(key)
        first = min(key)
        others = sorted(key - {first})
        best = math.inf
        for bits in range(2 ** len(others) - 1):
            left = frozenset([first, *(o for i, o in enumerate(others) if bits >> i & 1)])
            if self.connected(left) and self.connected(key - left):
                best = min(best, self.join_cost(left) + self.join_cost(key - left))
        return best + self.rows(key)

    def connected(self, places: Collection[int]) -> bool:
        """Whether atoms hang together by variables."""
        left = [set(_names(self.atoms[place])) for place in places]
        known = left.pop()
        while left:
            joining = [names for names in left if names & known]
            if not joining:
                return False
            left = [names for names in left if not names & known]
            known = known.union(*joining)
        return True

    def _estimated(self, places: Sequence[int]) -> float:
        atoms = [self.atoms[place] for place in places]
        rows = math.prod(self.statistics.size(atom).rows for atom in atoms)
        for name in dict.fromkeys(n for atom in atoms for n in _names(atom)):
            sharing = [atom for atom in atoms if name in _names(atom)]
            values = sorted(max(self.statistics.size(a).values[name], 1.0) for a in sharing)
            rows /= math.prod(values[1:])
            for first, second in itertools.pairwise(sharing):
                rows *= self.statistics.skew(first, second, name)
        return rows


def _sampled(
    atoms: Sequence[Atom], names: Sequence[str], by: str, share: int, statistics: Statistics
) -> exp.Select:
    """The rows of a sample of a join, and the different ones of some variables.

    The sample has those rows whose value of the variable `by` falls into one of `share` equal
    parts.
    """
    rule = Rule("", Atom("", tuple(map(Variable, names))), tuple(atoms))
    types = body_types(rule.body, statistics.context.columns, statistics.context.functions).types
    columns = [Column(column_name(name), types.get(name)) for name in names]
    joined = compile_rule(whole(rule), columns, statistics.context).query.subquery("j")
    chosen = exp.Mod(
        this=exp.Anonymous(this="hash", expressions=[_column(by)]),
        expression=exp.Literal.number(share),
    )
    values = exp.Anonymous(this="row", expressions=[_column(name) for name in names])
    different = exp.Count(this=exp.Distinct(expressions=[values]))
    query = exp.select(exp.Count(this=exp.Star()), different).from_(joined)
    return query.where(chosen.eq(exp.Literal.number(0)))
