"""Plan -> sqlglot tree, dialect-neutral. No SQL is ever put together as text.

A rule becomes one SELECT: its scans joined, negations as anti joins, filters in WHERE, the head as
projection. BINDs that do not need each other close what is there so far into a subquery, so that
their values are computed once. Variables of symbol type are ids; inside functions and order comparisons they are their text,
which is joined in from the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from zodiac_sql.database.dictionary import KNOWN
from zodiac_sql.database.statements import temp_table, text
from zodiac_sql.language.binding import Arranged, arrange, levels, needed, variables
from zodiac_sql.language.functions import Functions, result_type, signature
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Call,
    Column,
    Comparison,
    Constant,
    Expression,
    Literal,
    Rule,
    Type,
    Variable,
)
from zodiac_sql.language.types import body_types, expression_type, widens
from zodiac_sql.names import MARK, RANK
from zodiac_sql.sql.functions import (
    OPERATORS,
    POSITIVE,
    aggregated,
    built,
    is_total,
    literal,
    python_call,
    python_call_if_there,
    spelled,
    typed,
)
from zodiac_sql.sql.plan import Plan, Scan, Version, join_order
from zodiac_sql.sql.relations import HOLDS, OUTSIDE, SQL_TYPES, Relation, mark_of, rank_of, source

Relations = Callable[[str, Version], Relation]


@dataclass(frozen=True, slots=True)
class Context:
    """What rendering needs to know besides the plan.

    `relation` maps a predicate and a version to what to read, `columns` gives the types of all
    predicates, `ids` the dictionary's ids of the symbols that rules mention. With `spelled`, symbols
    have no ids, but stand as their text.
    """

    relation: Relations
    columns: Mapping[str, Sequence[Type | None]]
    functions: Functions
    ids: Mapping[str, int]
    spelled: bool = False


@dataclass(frozen=True, slots=True)
class Compiled:
    """A rule's SELECT. `texts` are the head columns that hold text, still to be encoded.

    `duplicates` tells whether the same row may come out twice.
    """

    query: exp.Select
    texts: tuple[str, ...]
    duplicates: bool


def compile_rule(
    plan: Plan,
    head: Sequence[Column],
    context: Context,
    *,
    ranked: bool = False,
    marked: bool = False,
    as_text: Collection[str] = (),
) -> Compiled:
    """The SELECT of a plan: one output column for each column of the head's predicate.

    Symbols are ids, but for those that a function made, and those in the columns `as_text`. With
    `ranked` it has the column of ranks, too: the least rank that comes after all facts of
    ranked relations in the body. Where a ranked candidate is scanned, only facts of lower ranks
    than its own take part. With `marked` it has that of marks: whether a fact of the body is marked.
    """
    body = _Body(context, plan.rule.body, plan.state)
    body.build(plan)
    texts = []
    query = body.query
    for column, term in zip(head, plan.rule.head.terms, strict=True):
        value = body.value(term)
        made = value.text or column.name in as_text
        if made:
            texts.append(column.name)
        stored = body.shown(value) if made else body.stored(value, column)
        query = query.select(stored.as_(column.name, quoted=True), copy=False)
    if not head:
        query = query.select(exp.true().as_(HOLDS.name, quoted=True))
    if ranked:
        query = query.select(body.next_rank().as_(RANK, quoted=True), copy=False)
    if marked:
        query = query.select(body.some_marked().as_(MARK, quoted=True), copy=False)
    return Compiled(query, tuple(texts), has_duplicates(plan, head, context))


def compile_goals(
    goals: tuple[Literal, ...], answers: Sequence[str], context: Context
) -> exp.Select:
    """The SELECT DISTINCT that answers a query: one column, decoded, for each variable."""
    body = _Body(context, goals)
    body.build_goals(arrange(goals))
    columns = [body.shown(body.value(Variable(name))).as_(name, quoted=True) for name in answers]
    if not columns:
        columns = [exp.true().as_(HOLDS.name, quoted=True)]
    return body.query.select(*columns, copy=False).distinct(copy=False)


def makes_text(rule: Rule, context: Context) -> bool:
    """Whether a rule's head holds text that a function made, so that it must be encoded."""
    bound = {v.name for atom in rule.positive_atoms() for v in variables(*atom.terms)}
    types = body_types(rule.body, context.columns, context.functions).types
    return any(
        isinstance(term, Variable)
        and term.name not in bound
        and types.get(term.name) is Type.SYMBOL
        for term in rule.head.terms
    )


def is_empty(plan: Plan, context: Context) -> bool:
    """Whether the body cannot have a solution, because something it needs has no facts."""
    scanned = any(context.relation(s.atom.predicate, s.version).rows == 0 for s in plan.scans)
    return scanned or any(
        goals_are_empty(a.body, context, plan.state) for a in plan.body.aggregates
    )


def goals_are_empty(
    goals: tuple[Literal, ...], context: Context, state: Version = Version.ALL
) -> bool:
    """Whether goals cannot have a solution, because something they need has no facts."""
    arranged = arrange(goals)
    if any(context.relation(atom.predicate, state).rows == 0 for atom in arranged.atoms):
        return True
    return any(goals_are_empty(aggregate.body, context, state) for aggregate in arranged.aggregates)


def has_duplicates(plan: Plan, head: Sequence[Column], context: Context) -> bool:
    """Whether the same row may come out twice.

    A head that tells all variables of a body whose scans read single tables repeats no row."""
    types = body_types(plan.rule.body, context.columns, context.functions).types
    told = _told(plan.rule, head, types)
    for scan in plan.scans:
        relation = context.relation(scan.atom.predicate, scan.version)
        if len(relation.parts) > 1:
            return True
        if not _tells_row(told, scan.atom, [c.type for c in relation.columns], types):
            return True
    for aggregate in plan.body.aggregates:
        if any(v.name not in told for v in (*aggregate.group, aggregate.result)):
            return True
        if _widens_groups(aggregate, types, context):
            return True
    return False


def is_injective(rule: Rule, head: Sequence[Column], context: Context) -> bool:
    """Whether each fact that the rule derives has one derivation by it: its head tells the body."""
    body = arrange(rule.body)
    types = body_types(rule.body, context.columns, context.functions).types
    told = _told(rule, head, types)
    return not body.aggregates and all(
        _tells_row(told, atom, context.columns[atom.predicate], types) for atom in body.atoms
    )


def _widens_groups(
    aggregate: Aggregate, types: Mapping[str, Type | None], context: Context
) -> bool:
    """Whether groups of an aggregate that differ by an int are one by the float that it becomes."""
    inside = body_types(aggregate.body, context.columns, context.functions).types
    return widens(aggregate.group, [inside.get(v.name) for v in aggregate.group], types)


def _told(rule: Rule, head: Sequence[Column], types: Mapping[str, Type | None]) -> set[str]:
    """The variables whose values a head tells: not of an int that becomes a float there."""
    return {
        term.name
        for term, column in zip(rule.head.terms, head, strict=True)
        if isinstance(term, Variable)
        and not (types.get(term.name) is Type.INT and column.type is Type.FLOAT)
    }


def _tells_row(
    told: Collection[str],
    atom: Atom,
    columns: Sequence[Type | None],
    types: Mapping[str, Type | None],
) -> bool:
    """Whether values of variables tell which row an atom of a body stands for."""
    known = all(variable.name in told for variable in variables(*atom.terms))
    return known and not widens(atom.terms, columns, types)


# --- bodies ---------------------------------------------------------------------------------------


_GOALS = Rule("", Atom("", ()), ())
"""What a plan of goals without a head belongs to."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value in SQL: an id or a native value, or, where `text`, the text of a plain symbol.

    `shown` is the text of a symbol that is a constant of the rule.
    """

    sql: exp.Expr
    type: Type | None
    text: bool = False
    shown: str | None = None


@dataclass(slots=True)
class _Body:
    """Builds the FROM, JOIN and WHERE of one body, and knows what each variable is there.

    Negations and aggregates read `state`. `provisional` variables have the value that a driving
    scan gave them (a candidate, a group); the body's own literals must agree, and replace it.
    """

    context: Context
    literals: tuple[Literal, ...]
    state: Version = Version.ALL
    query: exp.Select = field(default_factory=exp.select)
    values: dict[str, _Value] = field(default_factory=dict)
    types: Mapping[str, Type | None] = field(default_factory=dict)
    texts: dict[str, exp.Expr] = field(default_factory=dict)
    provisional: set[str] = field(default_factory=set)
    ranks: list[exp.Expr] = field(default_factory=list)
    marks: list[exp.Expr] = field(default_factory=list)
    below: exp.Expr | None = None
    aliases: int = 0
    empty: bool = True
    conditions: list[exp.Expr] = field(default_factory=list)
    """Of WHERE: put there together, for one by one each would nest the others deeper."""

    def build_goals(self, arranged: Arranged, guard: Scan | None = None) -> None:
        """Goals over all that is known in a state; a guard limits what its variables can be."""
        scans = [Scan(atom, self.state) for atom in arranged.atoms]
        ordered = join_order([guard, *scans] if guard else scans)
        self.build(Plan(_GOALS, ordered, arranged, self.state))

    def build(self, plan: Plan) -> None:
        """Scans and aggregates, then level by level of bindings; each test as soon as it can be made."""
        self.types = body_types(
            self.literals, self.context.columns, self.context.functions
        ).types  # fmt: skip
        arranged = plan.body
        for scan in plan.scans:
            self.scan(scan, scan.atom not in arranged.atoms)
        for index, aggregate in enumerate(arranged.aggregates):
            self.aggregate(aggregate, plan.groups[index] if plan.groups else None)
        waiting: list[Comparison | Atom] = [*arranged.filters]
        waiting += [negation.atom for negation in arranged.negations]
        later = {step.variable.name for step in arranged.steps}
        waiting = self.tests(waiting, later)
        for level in levels(arranged):
            self.bind(level)
            later -= {step.variable.name for step in level}
            waiting = self.tests(waiting, later)
        self.restrict()

    def restrict(self) -> None:
        """Put the conditions found so far into WHERE."""
        if self.conditions:
            self.query = self.query.where(*self.conditions, copy=False)
            self.conditions = []

    def alias(self, letter: str) -> str:
        self.aliases += 1
        return f"{letter}{self.aliases}"

    # Joins

    def scan(self, scan: Scan, provisional: bool) -> None:
        alias = self.alias("a")
        relation = self.context.relation(scan.atom.predicate, scan.version)
        before = set(self.values)
        conditions = self.matches(scan.atom, relation, alias, bind=True)
        if provisional:
            self.provisional |= self.values.keys() - before
        if relation.ranked and scan.version is Version.CANDIDATE:
            self.below = rank_of(alias)
        elif relation.ranked:
            self.ranks.append(rank_of(alias))
            if self.below is not None:
                conditions.append(rank_of(alias) < self.below.copy())
        if relation.marked:
            self.marks.append(mark_of(alias))
        self.join(source(relation, alias), conditions)

    def some_marked(self) -> exp.Expr:
        """Whether a fact of the body is marked."""
        return exp.or_(*(mark.copy() for mark in self.marks)) if self.marks else exp.false()

    def next_rank(self) -> exp.Expr:
        """One more than the highest rank in the body."""
        if not self.ranks:
            return exp.cast(exp.Literal.number(OUTSIDE + 1), "BIGINT")
        highest = exp.func("greatest", *self.ranks) if len(self.ranks) > 1 else self.ranks[0]
        return exp.Add(this=highest.copy(), expression=exp.Literal.number(1))

    def join(self, item: exp.Expr, conditions: Sequence[exp.Expr], kind: str = "") -> None:
        """Add an item to FROM. What only looks for partners needs a row that looks: one of nothing."""
        if self.empty and kind:
            nothing = exp.select(exp.Literal.number(1).as_("one")).subquery(self.alias("o"))
            self.query = self.query.from_(nothing, copy=False)
            self.empty = False
        if self.empty:
            self.query = self.query.from_(item, copy=False)
            self.conditions += conditions
            self.restrict()
            self.empty = False
        elif conditions:
            self.query = self.query.join(
                item, on=exp.and_(*conditions, copy=False), join_type=kind, copy=False
            )
        else:
            self.query = self.query.join(item, join_type=kind or "CROSS", copy=False)

    def matches(self, atom: Atom, relation: Relation, alias: str, bind: bool) -> list[exp.Expr]:
        """The conditions under which a row is an instance of an atom.

        With `bind`, variables seen here first get their value from the row; without, they are
        existential, and only have to agree with themselves.
        """
        conditions: list[exp.Expr] = []
        local: dict[str, _Value] = {}
        for column, term in zip(relation.columns, atom.terms, strict=True):
            here = exp.column(column.name, table=alias, quoted=True)
            if isinstance(term, Constant):
                conditions.append(here.eq(self.constant(term).sql))
                continue
            known = self.values.get(term.name) or local.get(term.name)
            if known is not None:
                conditions.append(here.eq(self.as_id(known)))
                if bind and term.name in self.provisional:
                    self.settle(term.name, self.widened(term, _Value(here, column.type)))
            else:
                value = self.widened(term, _Value(here, column.type))
                (self.values if bind else local)[term.name] = value
        return conditions

    def widened(self, variable: Variable, value: _Value) -> _Value:
        """A value as a variable has it: an int that meets floats in the body is one of them."""
        if value.type is Type.INT and self.types.get(variable.name) is Type.FLOAT:
            return _Value(exp.cast(value.sql, SQL_TYPES[Type.FLOAT]), Type.FLOAT)
        return value

    def settle(self, variable: str, value: _Value) -> None:
        """Give a provisional variable the value that a literal of the body has for it."""
        self.values[variable] = value
        self.provisional.discard(variable)

    def aggregate(self, aggregate: Aggregate, groups: Scan | None) -> None:
        alias = self.alias("g")
        query, found = _aggregate_query(aggregate, alias, self.context, self.state, groups)
        conditions: list[exp.Expr] = []
        for variable, one in zip((*aggregate.group, aggregate.result), found, strict=True):
            known = self.values.get(variable.name)
            value = self.widened(variable, one)
            if known is None:
                self.values[variable.name] = value
                continue
            if value.text:
                conditions.append(self.shown(known).eq(self.shown(value)))
            else:
                conditions.append(value.sql.copy().eq(self.as_id(known)))
            if variable.name in self.provisional:
                self.settle(variable.name, value)
        self.join(query.subquery(alias, copy=False), conditions)

    # Tests

    def tests(self, waiting: list[Comparison | Atom], later: set[str]) -> list[Comparison | Atom]:
        """Make every test that needs no variable bound later; return those that do."""
        left = []
        for test in waiting:
            if not later.isdisjoint(needed(test)):
                left.append(test)
            elif isinstance(test, Comparison):
                self.conditions.append(self.comparison(test))
            else:
                self.negate(test)
        return left

    def negate(self, atom: Atom) -> None:
        relation = self.context.relation(atom.predicate, self.state)
        if relation.rows == 0:
            return
        alias = self.alias("n")
        conditions = self.matches(atom, relation, alias, bind=False)
        item = source(relation, alias)
        correlated = any(term.name in self.values for term in variables(*atom.terms))
        if correlated:
            self.join(item, conditions, kind="ANTI")
            return
        inner = exp.select(exp.Literal.number(1)).from_(item)
        for condition in conditions:
            inner = inner.where(condition, copy=False)
        self.conditions.append(exp.not_(exp.Exists(this=inner)))

    def comparison(self, comparison: Comparison) -> exp.Expr:
        return self.compared(
            comparison.operator, self.value(comparison.left), self.value(comparison.right)
        )

    def compared(self, operator: str, left: _Value, right: _Value) -> exp.Expr:
        symbols = Type.SYMBOL in (left.type, right.type)
        if symbols and operator not in ("=", "!="):
            a: exp.Expr = self.text(left)
            b = self.text(right)
        elif symbols and (left.text or right.text):
            a, b = self.shown(left), self.shown(right)
        else:
            a, b = left.sql, right.sql
        return OPERATORS[operator](this=a.copy(), expression=b.copy())

    # Values

    def value(self, expression: Expression) -> _Value:
        if isinstance(expression, Constant):
            return self.constant(expression)
        if isinstance(expression, Variable):
            return self.values[expression.name]
        return self.call(expression)

    def constant(self, constant: Constant) -> _Value:
        if constant.type is Type.SYMBOL:
            # An id that no symbol has stands for one that the dictionary does not know.
            shown = str(constant.value)
            if self.context.spelled:
                return _Value(text(shown), Type.SYMBOL, shown=shown)
            id_ = self.context.ids.get(shown, -1)
            return _Value(exp.Literal.number(id_), Type.SYMBOL, shown=shown)
        return _Value(literal(constant), constant.type)

    def call(self, call: Call) -> _Value:
        type_ = expression_type(call, self.types, self.context.functions)
        arguments = [self.argument(argument) for argument in call.arguments]
        registered = self.context.functions.get(call.function)
        if registered is not None:
            wanted = (
                SQL_TYPES[p] if p is not Type.SYMBOL else "TEXT" for p in registered.parameters
            )
            cast = [exp.cast(a, t) for a, t in zip(arguments, wanted, strict=True)]
            computed = any(isinstance(argument, Call) for argument in call.arguments)
            sql = (python_call_if_there if computed else python_call)(call.function, cast)
        else:
            if call.function == "concat":
                types = (
                    expression_type(a, self.types, self.context.functions) for a in call.arguments
                )
                arguments = list(map(spelled, arguments, types))
            sql = built(call.function, type_, arguments)
        if type_ is Type.SYMBOL:
            return _Value(sql, type_, text=True)
        positive = registered is None and call.function in POSITIVE
        return _Value(typed(type_ or Type.INT, sql, positive), type_)

    def argument(self, expression: Expression) -> exp.Expr:
        """What a function gets: symbols as text."""
        value = self.value(expression)
        return self.text(value) if value.type is Type.SYMBOL else value.sql.copy()

    def text(self, value: _Value) -> exp.Expr:
        """The text that a symbol means."""
        if value.text:
            return value.sql.copy()
        return exp.Anonymous(this="zodiac.lexical", expressions=[self.shown(value)])

    def shown(self, value: _Value) -> exp.Expr:
        """A value as people see it: symbols decoded."""
        if value.type is not Type.SYMBOL:
            return value.sql.copy()
        if value.shown is not None:
            return text(value.shown)
        if value.text:
            return exp.Anonymous(this="zodiac.quote_where_needed", expressions=[value.sql.copy()])
        if self.context.spelled:
            return value.sql.copy()
        key = value.sql.sql()
        if key not in self.texts:
            alias = self.alias("t")
            same = exp.column("id", table=alias).eq(value.sql.copy())
            self.join(temp_table(KNOWN).as_(alias), [same])
            self.texts[key] = exp.column("text", table=alias)
        return self.texts[key].copy()

    def as_id(self, value: _Value) -> exp.Expr:
        """A value as it is stored; text that no symbol has becomes NULL, which equals nothing."""
        if not value.text:
            return value.sql.copy()
        if self.context.spelled:
            return self.shown(value)
        alias = self.alias("k")
        same = exp.column("text", table=alias).eq(self.shown(value))
        self.join(temp_table(KNOWN).as_(alias), [same], kind="LEFT")
        return exp.column("id", table=alias)

    def stored(self, value: _Value, column: Column) -> exp.Expr:
        """A value that is no text as the head's column stores it."""
        if value.type is column.type or column.type is None:
            return value.sql.copy()
        return exp.cast(value.sql.copy(), SQL_TYPES[column.type])

    # Bindings

    def bind(self, steps: Sequence[Binding]) -> None:
        """Close what is there into a subquery that has the new values as columns."""
        found = [self.widened(step.variable, self.value(step.expression)) for step in steps]
        made = set()
        partial = set()
        for step, value in zip(steps, found, strict=True):
            name = step.variable.name
            if name in self.provisional:
                self.conditions.append(self.compared("=", self.values[name], value))
                self.settle(name, value)
            self.values[name] = value
            if isinstance(step.expression, Call):  # else another name for a variable or constant
                made.add(name)
                if not is_total(step.expression, self.context.functions):
                    partial.add(name)
        if made:
            self.close(made, partial)

    def close(self, made: Collection[str], partial: Collection[str]) -> None:
        """Make a subquery of all there is. Where what was made has no value, there is no solution.

        That is tested of `partial` ones only: DuckDB makes a test before the joins, where it can, and
        integers that no solution has may overflow there.
        """
        names = {known: f"v{index}" for index, known in enumerate(self.values)}
        self.restrict()
        inner = self.query.select(
            *(v.sql.copy().as_(names[known]) for known, v in self.values.items()),
            *([self.next_rank().as_("k")] if self.ranks else []),
            *([self.some_marked().as_("m")] if self.marks else []),
            copy=False,
        )
        alias = self.alias("b")
        values = {
            known: _Value(
                exp.column(names[known], table=alias),
                v.type, v.text, None if known in made else v.shown,
            )
            for known, v in self.values.items()
        }  # fmt: skip
        self.query = exp.select().from_(inner.subquery(alias, copy=False), copy=False)
        self.conditions += [values[name].sql.is_(exp.null()).not_() for name in partial]
        self.values, self.texts, self.empty = values, {}, False
        self.ranks = [exp.column("k", table=alias) - 1] if self.ranks else []
        self.marks = [exp.column("m", table=alias)] if self.marks else []


def _repeats_solutions(aggregate: Aggregate, body: _Body, groups: Scan | None) -> bool:
    """Whether the same solution of an aggregate's body may come out twice.

    Named variables make up a solution; where each atom's are all named, and it reads a single table,
    there is one row for each. (Removing repetitions costs four times as much as the median itself.)
    """
    if groups is not None and groups.version is not Version.TOUCHED:
        return True
    arranged, context = arrange(aggregate.body), body.context
    named = {name for name in body.types if not Variable(name).anonymous}
    for atom in arranged.atoms:
        if len(context.relation(atom.predicate, body.state).parts) > 1:
            return True
        if not _tells_row(named, atom, context.columns[atom.predicate], body.types):
            return True
    return any(
        any(variable.anonymous for variable in (*inner.group, inner.result))
        or _widens_groups(inner, body.types, context)
        for inner in arranged.aggregates
    )


def _aggregate_query(
    aggregate: Aggregate, alias: str, context: Context, state: Version, groups: Scan | None
) -> tuple[exp.Select, list[_Value]]:
    """SELECT group AS v0.., f(argument) AS vN over the distinct solutions of the body.

    `groups`, if given, limits the groups to those that it finds.

    Also tells what the values in these columns are, where the query is joined under an alias.
    """
    body = _Body(context, aggregate.body, state)
    body.build_goals(arrange(aggregate.body), groups)
    solution = [name for name in body.values if not name.startswith("_:")]
    places = {name: f"x{index}" for index, name in enumerate(solution)}
    extra = None
    argument = body.values[aggregate.argument.name]
    registered = context.functions.get(aggregate.function)
    if argument.type is Type.SYMBOL and not argument.text and aggregate.function != "count":
        shown = body.shown(argument)
        meant = body.text(argument)
        # Symbols are ordered by what they mean, and by their text where that is the same.
        ordered = exp.DPipe(
            this=exp.DPipe(
                this=meant,
                expression=exp.Anonymous(this="chr", expressions=[exp.Literal.number(1)]),
            ),
            expression=shown,
        )
        extra = (ordered if registered is None else meant.copy()).as_("t")
    inner = body.query.select(
        *(body.values[name].sql.copy().as_(places[name]) for name in solution),
        *([extra] if extra is not None else []),
    )
    if _repeats_solutions(aggregate, body, groups):
        inner = inner.distinct(copy=False)
    group = [exp.column(places[v.name], table="d") for v in aggregate.group]
    value = exp.column(places[aggregate.argument.name], table="d")
    text = exp.column("t", table="d") if extra is not None else None
    result = aggregated(aggregate.function, value, argument.type, text, context.functions)
    outer = exp.select(
        *(g.as_(f"v{index}") for index, g in enumerate(group)), result.as_(f"v{len(group)}")
    ).from_(inner.subquery("d", copy=False))
    made = argument.text and aggregate.function != "count"
    result_text = made if registered is None else registered.returns is Type.SYMBOL
    builtin = signature(aggregate.function, True, context.functions)
    assert builtin is not None
    kinds = [(body.values[v.name].type, body.values[v.name].text) for v in aggregate.group]
    kinds.append((result_type(builtin, [argument.type]), result_text))
    values = [
        _Value(exp.column(f"v{index}", table=alias), type_, text)
        for index, (type_, text) in enumerate(kinds)
    ]
    if group:
        outer = outer.group_by(*(g.copy() for g in group))
    else:
        # Without groups SQL would answer for an empty body, too; Datalog has no solution there.
        outer = outer.having(exp.Count(this=exp.Star()) > 0)
    if registered is None:
        return outer, values
    # A registered aggregate may have no value for a group.
    there = exp.column(f"v{len(group)}").is_(exp.null()).not_()
    return exp.select("*").from_(outer.subquery("g", copy=False)).where(there), values
