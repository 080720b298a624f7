"""One body as the FROM, JOIN and WHERE of a SELECT.

Its scans are joined, its negations are anti joins, its filters stand in WHERE. Each group of BINDs
that do not need each other turns the SELECT so far into a subquery, so that their values are
computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from zodiac_sql.language.binding import Arranged, arrange, levels, needed, telling, variables
from zodiac_sql.language.mixed import reads_terms
from zodiac_sql.language.passed_on import datatype_passed_on
from zodiac_sql.language.syntax import (
    COPY,
    Aggregate,
    Atom,
    Binding,
    Call,
    Column,
    Comparison,
    Constant,
    Literal,
    Rule,
    Term,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types, is_narrowed
from zodiac_sql.sql.aggregates import aggregate_query, aggregate_values, alike
from zodiac_sql.sql.apart import literals_of, parts_apart
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.duplicates import repeats_solutions
from zodiac_sql.sql.emptiness import goals_are_open
from zodiac_sql.sql.forms import ENCODED
from zodiac_sql.sql.functions import is_total
from zodiac_sql.sql.joins import Joins
from zodiac_sql.sql.native_columns import native_name, with_native
from zodiac_sql.sql.plan import Plan, Scan, Version, join_order
from zodiac_sql.sql.relations import OUTSIDE, Relation, rank_of, source
from zodiac_sql.sql.values import Value, Values

_GOALS = Rule("", Atom("", ()), ())
"""The rule that a plan of goals, which have no head, belongs to."""


class Body:
    """Builds the SELECT of one body, and knows what each variable is there.

    Negations and aggregates read `state`. A provisional variable has the value that a driving scan
    gave it (a candidate, a group); the body's own literals must agree, and their value replaces it.
    `ranks` are those of the facts of ranked relations, in the order of their scans.
    """

    def __init__(
        self, context: Context, literals: tuple[Literal, ...], state: Version = Version.ALL
    ) -> None:
        self.context = context
        self.literals = literals
        self.state = state
        self.joins = Joins()
        types = body_types(literals, context.columns, context.functions).types
        self.values = Values(context, types, self.joins)
        self._provisional: set[str] = set()
        self.ranks: list[exp.Expr] = []
        self._below: exp.Expr | None = None

    def build_goals(
        self,
        arranged: Arranged,
        guard: Scan | None = None,
        kept: Collection[str] | None = None,
    ) -> None:
        """Goals over all that is known in a state; a guard limits what its variables can be."""
        scans = [Scan(atom, self.state) for atom in arranged.atoms]
        ordered = join_order([guard, *scans] if guard else scans)
        self.build(Plan(_GOALS, ordered, arranged, self.state), kept)

    def build(self, plan: Plan, kept: Collection[str] | None = None) -> None:
        """Scans, aggregates, then the bindings by level; each test as soon as it can be made.

        If only some variables are `kept`, the parts that have to do with none of them are looked at
        for one solution.
        """
        plan, apart = (plan, []) if kept is None else parts_apart(plan, kept, self._is_ranked)
        arranged = plan.body
        for scan in plan.scans:
            self._scan(scan, scan.atom not in arranged.atoms)
        groups = plan.groups or (None,) * len(arranged.aggregates)
        for aggregates, touched in alike(arranged.aggregates, groups):
            self._aggregates(aggregates, touched)
        for part in apart:
            self._look_for(part)
        waiting: list[Comparison | Atom] = [*arranged.filters]
        waiting += [negation.atom for negation in arranged.negations]
        later = {step.variable.name for step in arranged.steps}
        waiting = self._tests(waiting, later)
        for level in levels(arranged):
            self._bind(level)
            later -= {step.variable.name for step in level}
            waiting = self._tests(waiting, later)
        self.joins.restrict()

    def next_rank(self) -> exp.Expr:
        """One more than the highest rank in the body."""
        if not self.ranks:
            return exp.cast(exp.Literal.number(OUTSIDE + 1), "BIGINT")
        highest = exp.func("greatest", *self.ranks) if len(self.ranks) > 1 else self.ranks[0]
        return exp.Add(this=highest.copy(), expression=exp.Literal.number(1))

    def as_term(self, term: Term, value: Value) -> Value:
        """The value of a term as a rule with this body makes a term of it."""
        return self.values.as_term(value, self._datatype(term, value.type))

    def _datatype(self, term: Term, type_: Type | None) -> str | None:
        """The datatype of the literals that the rule makes of a term of a native type."""
        context = self.context
        return datatype_passed_on(self.literals, term, type_, context.columns, context.datatypes)

    # Joins

    def _is_ranked(self, scan: Scan) -> bool:
        return self.context.relation(scan.atom.predicate, scan.version).ranked

    def _look_for(self, part: Plan) -> None:
        """Join one row if a part of the body has a solution, and none otherwise."""
        inner = Body(self.context, literals_of(part.body), self.state)
        inner.build(part)
        one = inner.joins.query.select(exp.Literal.number(1).as_("one"), copy=False)
        self.joins.join(one.limit(1, copy=False).subquery(self.joins.alias("e"), copy=False), ())

    def _scan(self, scan: Scan, provisional: bool) -> None:
        alias = self.joins.alias("a")
        relation = self.context.relation(scan.atom.predicate, scan.version)
        before = set(self.values.known)
        read = self._read_by_value(scan.atom, relation)
        conditions = self._matches(scan.atom, relation, alias, read, bind=True)
        if provisional:
            self._provisional |= self.values.known.keys() - before
        if relation.ranked and scan.version is Version.CANDIDATE:
            self._below = rank_of(alias)
        elif relation.ranked:
            self.ranks.append(rank_of(alias))
            if self._below is not None:
                conditions.append(rank_of(alias) < self._below.copy())
        item = source(relation, alias)
        exactly = None
        if scan.version is Version.CANDIDATE:
            pairs = zip(relation.columns, scan.atom.terms, strict=True)
            exactly = {
                c.name: self._datatype(term, read[c.name]) for c, term in pairs if c.name in read
            }
        self.joins.join(with_native(self.context, item, alias, read, exactly), conditions)

    def _read_by_value(self, atom: Atom, relation: Relation) -> dict[str, Type]:
        """The mixed columns in which an atom asks for native values, with the types of these.

        A driving scan of a negated atom may have given a native value to a variable of terms.
        """
        found = {}
        for column, term in zip(relation.columns, atom.terms, strict=True):
            if not column.mixed:
                continue
            wanted = self._wanted(term)
            if isinstance(term, Variable) and term.name in self._provisional:
                wanted = self.values.known[term.name].type
            if wanted is not None and is_narrowed(column.meant, wanted):
                found[column.name] = wanted
        return found

    def _wanted(self, term: Term) -> Type | None:
        """The type that a term has in the whole body."""
        return term.type if isinstance(term, Constant) else self.values.types.get(term.name)

    def _matches(
        self, atom: Atom, relation: Relation, alias: str, read: Mapping[str, Type], bind: bool
    ) -> list[exp.Expr]:
        """The conditions under which a row is an instance of an atom.

        With `bind`, variables seen here first get their value from the row; without, they are
        existential, and only have to agree with themselves.
        """
        conditions: list[exp.Expr] = []
        known = self.values.known
        local: dict[str, Value] = {}
        for column, term in self._terms_first(relation, atom):
            is_term = column.meant is Type.SYMBOL and self._is_repeated(term, atom)
            meant = Type.ANY if is_term else column.meant
            here = stored = Value(exp.column(column.name, table=alias, quoted=True), meant)
            value = None
            if isinstance(term, Variable):
                value = known.get(term.name) or local.get(term.name)
            if column.name in read and not (value and value.type in ENCODED):
                here = Value(_native_column(column.name, alias), read[column.name])
            if isinstance(term, Constant):
                conditions.append(here.sql.eq(self.values.of(term).sql))
                continue
            if value is not None:
                conditions.append(self.values.agree(here, value))
            elif here.type is not meant:  # no other literal need ask for the native value
                conditions.append(here.sql.copy().is_(exp.null()).not_())
            if value is None or (bind and term.name in self._provisional):
                whole = stored if self._wanted(term) in ENCODED else here
                found = self.values.widened(term, whole)
                (known if bind else local)[term.name] = found
                self._provisional.discard(term.name)
        return conditions

    def _is_repeated(self, term: Term, atom: Atom) -> bool:
        """Whether a variable of terms stands in several columns of an atom. Then a symbol is one of
        its terms, which may have a value.
        """
        return self._wanted(term) is Type.ANY and atom.terms.count(term) > 1

    def _terms_first(self, relation: Relation, atom: Atom) -> list[tuple[Column, Term]]:
        """The columns of an atom with what stands there. Where a variable of terms stands in a
        native column, too, the term is its value, and the other column has to agree.
        """
        pairs = list(zip(relation.columns, atom.terms, strict=True))
        if any(self._is_repeated(term, atom) for term in atom.terms):
            pairs.sort(key=lambda pair: pair[0].meant not in ENCODED)
        return pairs

    def _confirm(self, variable: str, value: Value) -> None:
        """Give a provisional variable the value that a literal of the body has for it."""
        self.values.known[variable] = value
        self._provisional.discard(variable)

    def _aggregates(self, aggregates: Sequence[Aggregate], groups: Scan | None) -> None:
        """Join the groups of aggregates; a scan of groups limits them to those that it finds."""
        alias, aggregate = self.joins.alias("g"), aggregates[0]
        there = all(variable.name in self.values.known for variable in aggregate.group)
        has_other = aggregate.otherwise is not None and there  # a part may not name the groups
        if has_other and goals_are_open(aggregate.body, self.context, self.state):
            self._bind_result(aggregate.result, self._other(aggregate))
            return
        inner, arranged = Body(self.context, aggregate.body, self.state), arrange(aggregate.body)
        inner.build_goals(arranged, groups)
        told, types = telling(aggregate, arranged), inner.values.types
        repeats = repeats_solutions(arranged, told, types, self.context, self.state, groups)
        query = aggregate_query(aggregates, inner.values, told, repeats)
        found = aggregate_values(aggregates, inner.values, alias)
        groups_ = query.subquery(alias, copy=False)
        item, found = self._with_native(groups_, alias, found)
        conditions: list[exp.Expr] = []
        if has_other:
            self._join_or_else(aggregate, item, [value for _, value in found])
            return
        for variable, one in found:
            known = self.values.known.get(variable.name)
            value = self.values.widened(variable, one)
            if known is None:
                self.values.known[variable.name] = value
                continue
            conditions.append(self.values.same(value, known))
            if variable.name in self._provisional:
                self._confirm(variable.name, value)
        self.joins.join(item, conditions)

    def _with_native(
        self, item: exp.Expr, alias: str, found: list[tuple[Variable, Value]]
    ) -> tuple[exp.Expr, list[tuple[Variable, Value]]]:
        """Groups, and their values, with native ones where the variables are of native types."""
        read = {
            f"v{place}": wanted
            for place, (variable, value) in enumerate(found)
            if (wanted := self.values.types.get(variable.name)) is not None
            and is_narrowed(value.type, wanted)
            and not value.text
        }
        values = [
            (variable, Value(_native_column(f"v{place}", alias), read[f"v{place}"]))
            if f"v{place}" in read
            else (variable, value)
            for place, (variable, value) in enumerate(found)
        ]
        return with_native(self.context, item, alias, read), values

    def _join_or_else(self, aggregate: Aggregate, groups: exp.Expr, found: Sequence[Value]) -> None:
        """Join the groups of an aggregate that has a value for those without solutions, too."""
        *group, last = (self.values.widened(v, one) for v, one in
                        zip((*aggregate.group, aggregate.result), found, strict=True))  # fmt: skip
        same = [
            self.values.same(self.values.known[variable.name], value)
            for variable, value in zip(aggregate.group, group, strict=True)
        ]
        self.joins.join(groups, same or [exp.true()], kind="LEFT")
        other = self._other(aggregate)
        value = self.values.either(last, other)
        self._bind_result(aggregate.result, value)

    def _other(self, aggregate: Aggregate) -> Value:
        """The value of an aggregate for groups without solutions."""
        assert aggregate.otherwise is not None
        return self.values.widened(aggregate.result, self.values.of(aggregate.otherwise))

    def _bind_result(self, result: Variable, value: Value) -> None:
        before = self.values.known.get(result.name)
        if before is not None:
            self.joins.where(self.values.same(before, value))
        if before is None or result.name in self._provisional:
            self._confirm(result.name, value)

    # Tests

    def _tests(self, waiting: list[Comparison | Atom], later: set[str]) -> list[Comparison | Atom]:
        """Make every test that needs no variable bound later; return those that do."""
        left = []
        for test in waiting:
            if not later.isdisjoint(needed(test)):
                left.append(test)
            elif isinstance(test, Comparison):
                self.joins.where(self._compared(test))
            else:
                self._negate(test)
        return left

    def _compared(self, test: Comparison) -> exp.Expr:
        left, right = self.values.of(test.left), self.values.of(test.right)
        if test.operator != COPY:
            return self.values.compared(test.operator, left, right)
        assert not isinstance(test.right, Call)
        return self.values.same(left, self.as_term(test.right, right))

    def _negate(self, atom: Atom) -> None:
        relation = self.context.relation(atom.predicate, self.state)
        if relation.rows == 0:
            return
        alias = self.joins.alias("n")
        read = self._read_by_value(atom, relation)
        conditions = self._matches(atom, relation, alias, read, bind=False)
        item = with_native(self.context, source(relation, alias), alias, read)
        correlated = any(term.name in self.values.known for term in variables(*atom.terms))
        if correlated:
            self.joins.join(item, conditions, kind="ANTI")
            return
        for part in relation.parts:
            # One by one: in a recursion on one thread, DuckDB 2.0.1 takes EXISTS of a union for
            # false from the second round on.
            only = source(replace(relation, parts=(part,)), alias)
            one = with_native(self.context, only, alias, read)
            inner = exp.select(exp.Literal.number(1)).from_(one)
            for condition in conditions:
                inner = inner.where(condition.copy(), copy=False)
            self.joins.where(exp.not_(exp.Exists(this=inner)))

    # Bindings

    def _bind(self, steps: Sequence[Binding]) -> None:
        """Turn the SELECT so far into a subquery that has the new values as columns."""
        found = [
            self.values.widened(step.variable, self.values.of(step.expression)) for step in steps
        ]
        made = set()
        partial = set()
        for step, value in zip(steps, found, strict=True):
            name = step.variable.name
            if name in self._provisional:
                self.joins.where(self.values.same(self.values.known[name], value))
                self._confirm(name, value)
            self.values.known[name] = value
            if isinstance(step.expression, Call):  # else another name for a variable or constant
                made.add(name)
                functions = self.context.functions
                may_fail = reads_terms(step.expression, self.values.types, functions)
                if may_fail or not is_total(step.expression, functions):
                    partial.add(name)
        if made:
            self._close(made, partial)

    def _close(self, made: Collection[str], partial: Collection[str]) -> None:
        """Make a subquery of the SELECT so far. Rows in which a made value is NULL are dropped.

        Only `partial` values are tested: DuckDB makes a test before the joins if it can, and
        integers that no solution has may overflow there.
        """
        known = self.values.known
        names = {variable: f"v{index}" for index, variable in enumerate(known)}
        alias = self.joins.close(
            [
                *(value.sql.copy().as_(names[variable]) for variable, value in known.items()),
                *(rank.copy().as_(f"k{place}") for place, rank in enumerate(self.ranks)),
            ]
        )
        values = {
            variable: Value(
                exp.column(names[variable], table=alias),
                v.type, v.text, None if variable in made else v.shown,
            )
            for variable, v in known.items()
        }  # fmt: skip
        self.joins.where(*(values[name].sql.is_(exp.null()).not_() for name in partial))
        self.values.replace(values)
        self.ranks = [exp.column(f"k{place}", table=alias) for place in range(len(self.ranks))]


def _native_column(column: str, alias: str) -> exp.Column:
    return exp.column(native_name(column), table=alias, quoted=True)
