"""The statements that apply a rule with aggregates to what a change has moved.

    usual(X, M) :- AGGREGATE(near(X, Y), hasTemperature(Y, T)) ON X WITH MED(T) AS M.

A temperature that comes touches the groups of all X near to its Y, and each of these is aggregated
anew, by the facts that are there then.

The head predicate of such a rule belongs to it alone. So what it may lose is what it has of those
groups, and what is derived again stays: there are no candidates to check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.language.binding import Arranged, needed
from zodiac_sql.language.syntax import Aggregate, Atom
from zodiac_sql.lookups.body import LookupBody, Scope, Seen
from zodiac_sql.lookups.group_forms import Grouped
from zodiac_sql.lookups.rule_forms import RuleForm
from zodiac_sql.lookups.tables import (
    ENTERED,
    FACT,
    GROUPS,
    LEFT,
    LOST,
    RANK,
    WON,
    Copy,
    has,
    insertion,
)
from zodiac_sql.lookups.worth import NotLookedUpError, limits_of
from zodiac_sql.sql.plan import without_locals


@dataclass(frozen=True, slots=True)
class Groups:
    """What a rule with aggregates does when facts move, by the predicate that has moved.

    `left` and `entered` find the groups that are touched. Then `lost` has all that the rule derives
    of them, and `won` what it derives now.
    """

    left: Mapping[str, Sequence[str]]
    entered: Mapping[str, Sequence[str]]
    lost: str
    won: str


def groups_of(scope: Scope, form: RuleForm, grouped: Grouped) -> Groups:
    """The statements of one rule. Raises NotLookedUpError if its groups are too large."""
    compiler = _Compiler(scope, form, grouped, scope.copies[form.rule.head.predicate])
    return Groups(
        compiler.touched(LEFT), compiler.touched(ENTERED), compiler.lost(), compiler.won()
    )


def is_one_large_group(grouped: Grouped, size_of: Callable[[str], int]) -> bool:
    """Whether all solutions are one group that is too large, by the sizes of predicates alone.

    That is known before they are copied.
    """
    sizes = (size_of(atom.predicate) for atom in grouped.body.atoms)
    return not grouped.group and min(sizes) > limits_of(0).moved


@dataclass(frozen=True, slots=True)
class _Compiler:
    scope: Scope
    form: RuleForm
    grouped: Grouped
    head: Copy

    # --- groups that are touched ------------------------------------------------------------------

    def touched(self, source: str) -> dict[str, list[str]]:
        """A statement for each atom of which facts may have moved, in the aggregates or beside."""
        found: dict[str, list[str]] = {}
        inner, outer = self.grouped.body, self.form.body
        for body, further in ((inner, ()), (outer, inner.atoms)):
            for atom in body.atoms:
                left = [other for other in body.atoms if other is not atom]
                self._add(found, source, atom, (left, further), body)
            for negation in body.negations:
                atom = without_locals(negation, body.bound)
                self._add(found, source, atom, (body.atoms, further), body)
        return found

    def _add(
        self,
        found: dict[str, list[str]],
        source: str,
        moved: Atom,
        others: Sequence[Sequence[Atom]],
        within: Arranged,
    ) -> None:
        """Add the statement that finds the groups of the bodies that have a fact that moved.

        Other atoms are looked up only until the group is known: too many groups do no harm, but
        none may be missing. So those beside the aggregates come first, which know the group if it
        has a value without solutions.
        """
        body = LookupBody(self.scope, within.steps)
        body.scan(moved, source)
        for atoms in others:
            body.join(atoms, Seen.EVER, self.grouped.group)
        body.test([test for test in within.filters if body.knows(needed(test))])
        values: list[exp.Expr] = [exp.Literal.number(0) for _ in range(self.head.arity)]
        for name, place in zip(self.grouped.group, self.grouped.places, strict=True):
            values[place] = body.known[name].copy()
        text = insertion(self.head, GROUPS, body.select(values))
        found.setdefault(moved.predicate, []).append(text)

    # --- what is lost and won ---------------------------------------------------------------------

    def lost(self) -> str:
        """All facts that the rule derives of the groups."""
        places = sorted(self.grouped.places)
        if places:
            self.scope.lookups.add((self.form.rule.head.predicate, tuple(places)))
        same = [exp.column(f"c{p}", table="t").eq(exp.column(f"c{p}", table="d")) for p in places]
        fact = exp.Join(this=self.head.table(FACT, "t"), kind="CROSS")
        query = exp.select(*self.head.columns("t"), exp.column(RANK, table="t"))
        query = query.from_(self.head.table(GROUPS, "d")).join(fact, copy=False)
        return insertion(
            self.head, LOST, query.where(*same, has("t", self.head.bits[self.scope.number]))
        )

    def won(self) -> str:
        """The facts that the rule derives of the groups, whether it has had them or not."""
        body = LookupBody(self.scope, self.form.body.steps)
        body.items.append(self._aggregated().subquery(body.driver, copy=False))
        names = (*self.grouped.group, *(one.result.name for one in self.grouped.aggregates))
        for place, name in enumerate(names):
            body.known[name] = exp.column(f"v{place}", table=body.driver)
        body.join(self.form.body.atoms, Seen.NOW)
        body.test(self.form.body.filters)
        body.refuse(self.form.body.negations)
        heads = [body.value(term) for term in self.form.rule.head.terms]
        return insertion(self.head, WON, body.select(heads))

    def _aggregated(self) -> exp.Select:
        """The groups and their values, as v0, v1, ..."""
        grouped = self.grouped
        query, places = self._solutions()
        solutions = query.subquery("s", copy=False)
        group = [exp.column(f"x{places[name]}", table="s") for name in grouped.group]
        values = [
            self._value(one, function, places[one.argument.name])
            for one, function in zip(grouped.aggregates, grouped.functions, strict=True)
        ]
        if not grouped.has_all:
            found = exp.select(*_numbered([*group, *values])).from_(solutions)
            found = found.group_by(*(column.copy() for column in group))
            # Without groups SQL has a row even where there are no solutions.
            return found if group else found.having(exp.Count(this=exp.Star()) > 0)
        asked = [exp.column(f"c{place}", table="g") for place in grouped.places]
        same: list[exp.Expr] = [a.copy().eq(b) for a, b in zip(asked, group, strict=True)]
        found = exp.select(*_numbered([*asked, *values])).from_(self.head.table(GROUPS, "g"))
        on = exp.and_(*(same or [exp.true()]))
        found = found.join(solutions, on=on, join_type="left", copy=False)
        return found.group_by(*(column.copy() for column in asked))

    def _solutions(self) -> tuple[exp.Select, dict[str, int]]:
        """What the solutions of the groups have for some variables, as x0, x1, ..., and the places
        of these. Each solution is there once: all columns of the atoms tell it, and no fact is in
        a copy twice.
        """
        inner = self.grouped.body
        body = LookupBody(self.scope, inner.steps)
        body.items.append(self.head.table(GROUPS, body.driver))
        for name, place in zip(self.grouped.group, self.grouped.places, strict=True):
            body.known[name] = exp.column(f"c{place}", table=body.driver)
        if body.join(inner.atoms, Seen.NOW) > limits_of(0).moved:
            raise NotLookedUpError("the groups are large")
        body.test(inner.filters)
        body.refuse(inner.negations)
        arguments = (one.argument.name for one in self.grouped.aggregates)
        names = dict.fromkeys((*self.grouped.group, *arguments))
        places = {name: place for place, name in enumerate(names)}
        values = [body.known[name].copy().as_(f"x{place}") for name, place in places.items()]
        return body.select(values), places

    def _value(self, one: Aggregate, function: str, place: int) -> exp.Expr:
        """The value of a group; of one without solutions, what the rule has for it."""
        argument = exp.column(f"x{place}", table="s")
        counted = exp.Distinct(expressions=[argument]) if one.distinct else argument
        value = exp.Anonymous(this=function, expressions=[counted])
        if not self.grouped.has_all:
            return value
        assert one.otherwise is not None
        is_empty = exp.Count(this=argument.copy()).eq(0)
        return exp.case().when(is_empty, LookupBody(self.scope).value(one.otherwise)).else_(value)


def _numbered(values: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [value.copy().as_(f"v{place}") for place, value in enumerate(values)]
