"""A second way from rules to facts, for `verify` alone.

It exists to disagree: an error in how rules become SQL must not stand on both sides of a comparison.
So it shares neither plans nor joins nor strategies with evaluation, only the parsed rules, their
types and the SQL of single functions. A body is closed into a subquery after each thing it says;
negation is NOT EXISTS; a hypernode's rules are applied to the facts of the last round, until
there are none, without modules, trees, products, ranks or join orders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql import dictionary
from zodiac_sql.functions import Functions
from zodiac_sql.infer import body_types, expression_type
from zodiac_sql.names import RANK
from zodiac_sql.relations import (
    HOLDS,
    OUTSIDE,
    SQL_TYPES,
    Part,
    Relation,
    columns_of,
    rank_of,
    relation_query,
)  # fmt: skip
from zodiac_sql.rules import (
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
from zodiac_sql.safety import arrange, variables
from zodiac_sql.schema import Predicate
from zodiac_sql.sql_functions import (
    OPERATORS,
    aggregated,
    built,
    literal,
    python_call,
    spelled,
    typed,
)
from zodiac_sql.store import Store
from zodiac_sql.trees import anti_join, create_temp, distinct, temp_table, union_all

Reads = Callable[[int, Atom], Relation]
"""What an atom reads, by its place in a body and itself. Those of a negation have place -1."""


@dataclass(frozen=True, slots=True)
class Program:
    """What rules mean: predicates with their types, functions, and the ids of their constants."""

    schema: Mapping[str, Predicate]
    functions: Functions
    ids: Mapping[str, int]

    @property
    def columns(self) -> dict[str, list[Type | None]]:
        return {name: [c.type for c in known.columns] for name, known in self.schema.items()}


def derive(
    store: Store,
    program: Program,
    rules: Sequence[Rule],
    outside: Callable[[str], Relation],
) -> dict[str, Part]:
    """What some rules derive: their least fixpoint over `outside`, a temporary table for each head.

    Facts from outside take part, and are in a table only where a rule derives them.
    """
    heads = dict.fromkeys(rule.head.predicate for rule in rules)
    if not any(atom.predicate in heads for rule in rules for atom in rule.positive_atoms()):
        return _derive_at_once(store, program, rules, outside)
    own = {name: _Own.begin(store, name, program.schema[name]) for name in heads}

    def everything(place: int, atom: Atom) -> Relation:
        known = outside(atom.predicate)
        if atom.predicate not in own:
            return known
        return replace(known, parts=(*known.parts, own[atom.predicate].known))

    variants: list[tuple[Rule, Reads]] = [(rule, everything) for rule in rules]
    while variants:
        for rule, reads in variants:
            rows = heads_of(store, program, rule, reads)
            if rows is not None:
                own[rule.head.predicate].add(store, rows)
        for one in own.values():
            one.finish_round(store)
        variants = [
            (rule, _with_delta(everything, place, own[atom.predicate].delta))
            for rule in rules
            for place, atom in enumerate(rule.positive_atoms())
            if atom.predicate in own and own[atom.predicate].delta.rows
        ]
    return {name: one.known for name, one in own.items() if one.known.rows}


def _derive_at_once(
    store: Store, program: Program, rules: Sequence[Rule], outside: Callable[[str], Relation]
) -> dict[str, Part]:
    """What rules derive of which none reads what another derives: nothing is new in a second round."""
    found: dict[str, list[exp.Query]] = {}
    for rule in rules:
        rows = heads_of(store, program, rule, lambda _, atom: outside(atom.predicate))
        if rows is not None:
            found.setdefault(rule.head.predicate, []).append(rows)
    derived = {}
    for name, queries in found.items():
        relation = Relation(program.schema[name].columns, ())
        values = [
            exp.cast(value, SQL_TYPES[column.type or Type.SYMBOL]).as_(column.name, quoted=True)
            for column, value in zip(relation.stored, columns_of(relation, "u"), strict=True)
        ]
        united = [
            exp.select(*values).from_(query.subquery("u", copy=False), copy=False)
            for query in queries
        ]
        table = store.fresh("known")
        count = store.count(create_temp(table, distinct(union_all(united))))
        if count:
            derived[name] = Part("temp", table, count)
    return derived


def _with_delta(reads: Reads, delta_place: int, delta: Part) -> Reads:
    def read(place: int, atom: Atom) -> Relation:
        relation = reads(place, atom)
        return replace(relation, parts=(delta,)) if place == delta_place else relation

    return read


@dataclass(slots=True)
class _Own:
    """The table of one head: what is known, what the last round added, and what this one found."""

    relation: Relation
    known: Part
    delta: Part
    found: str

    @classmethod
    def begin(cls, store: Store, name: str, predicate: Predicate) -> _Own:
        relation = Relation(predicate.columns, ())
        tables = [store.fresh(stem) for stem in ("known", "delta", "found")]
        for table in tables:
            store.run(create_temp(table, relation_query(relation)))
        known, delta = (Part("temp", table, 0) for table in tables[:2])
        return cls(relation, known, delta, tables[2])

    def add(self, store: Store, rows: exp.Query) -> None:
        store.run(exp.Insert(this=temp_table(self.found), expression=rows))

    def finish_round(self, store: Store) -> None:
        """What was found and is not known becomes the delta, and known."""
        columns = columns_of(self.relation, "c")
        rows = distinct(exp.select("*").from_(temp_table(self.found)))
        new = exp.select(*columns).from_(rows.subquery("c"))
        new = anti_join(new, columns, temp_table(self.known.table))
        count = store.count(create_temp(self.delta.table, new))
        delta = exp.select("*").from_(temp_table(self.delta.table))
        store.run(exp.Insert(this=temp_table(self.known.table), expression=delta))
        store.run(exp.TruncateTable(expressions=[temp_table(self.found)]))
        self.delta = replace(self.delta, rows=count)
        self.known = replace(self.known, rows=self.known.rows + count)


def heads_of(
    store: Store, program: Program, rule: Rule, reads: Reads, ranked: bool = False
) -> exp.Query | None:
    """A query for the heads that a rule derives, symbols as ids; None where it reads nothing.

    With `ranked` it has the highest rank of the ranked relations that the rule reads, too.
    """
    body = _Body(store, program, reads, rule.body)
    if not body.build():
        return None
    head = program.schema[rule.head.predicate].columns
    query, texts = body.head(rule.head, head, ranked)
    if not texts:
        return query
    raw, encoded = store.fresh("raw"), store.fresh("encoded")
    store.run(create_temp(raw, query))
    dictionary.encode(store, raw, texts, encoded)
    return exp.select("*").from_(temp_table(encoded))


def unsupported(
    store: Store,
    program: Program,
    rules: Sequence[Rule],
    reads: Reads,
    table: Relation,
    outside: Relation,
) -> int:
    """How many facts of a ranked table no rule derives from facts of lower ranks.

    `reads` gives ranked relations for what the hypernode derives. Facts that are known from outside
    need no support.
    """
    heads = [query for rule in rules if (query := heads_of(store, program, rule, reads, True))]
    columns = columns_of(table, "c")
    ranked = replace(table, ranked=True)
    facts = exp.select(*columns).from_(relation_query(ranked).subquery("c"))
    for number, query in enumerate(heads):
        alias = f"h{number}"
        same = [c.copy().eq(exp.column(c.name, table=alias, quoted=True)) for c in columns]
        lower = exp.LT(this=rank_of(alias), expression=rank_of("c"))
        facts = facts.join(query.subquery(alias), on=exp.and_(*same, lower), join_type="ANTI")
    if outside.parts:
        facts = anti_join(facts, columns, relation_query(outside).subquery(), "o")
    return store.count(exp.select(exp.Count(this=exp.Star())).from_(facts.subquery("n")))


# --- bodies --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Value:
    """A value in SQL: native, the id of a symbol, or with `text` the text that a function made."""

    sql: exp.Expr
    type: Type | None
    text: bool = False


_LEVELS = 20
"""So many subqueries stand one in the other."""


@dataclass(slots=True)
class _Body:
    """A query that grows: each thing that the body says is a subquery around what was there.

    `values` are the variables as columns of that subquery, which is always called b.
    """

    store: Store
    program: Program
    reads: Reads
    literals: tuple[Literal, ...]
    query: exp.Select = field(default_factory=lambda: exp.select(exp.true().as_("one")))
    values: dict[str, _Value] = field(default_factory=dict)
    types: Mapping[str, Type | None] = field(default_factory=dict)
    ranks: list[exp.Column] = field(default_factory=list)
    made: int = 0
    nested: int = 0

    def build(self) -> bool:
        """Put the whole body into the query; False where an atom or aggregate has no facts."""
        program = self.program
        self.types = body_types(self.literals, program.columns, program.functions).types
        arranged = arrange(self.literals)
        if not all(self.scan(place, atom) for place, atom in enumerate(arranged.atoms)):
            return False
        if not all(map(self.aggregate, arranged.aggregates)):
            return False
        later = {step.variable.name for step in arranged.steps}
        tests: list[Comparison | Atom] = [*arranged.filters]
        tests += [negation.atom for negation in arranged.negations]
        for step in (None, *arranged.steps):
            if step is not None:
                self.bind(step)
                later.discard(step.variable.name)
            ready = [test for test in tests if later.isdisjoint(_needed(test))]
            tests = [test for test in tests if test not in ready]
            for test in ready:
                self.compare(test) if isinstance(test, Comparison) else self.negate(test)
        return True

    def column(self) -> str:
        self.made += 1
        return f"v{self.made}"

    def inner(self) -> exp.Subquery:
        """What is there so far. After some levels it becomes a table, for no tree may be too deep."""
        self.nested += 1
        if self.nested % _LEVELS == 0:
            table = self.store.fresh("level")
            self.store.run(create_temp(table, self.query))
            self.query = exp.select("*").from_(temp_table(table))
        return self.query.subquery("b", copy=False)

    def extended(self, value: exp.Expr) -> exp.Column:
        """One more column."""
        name = self.column()
        query = exp.select(_everything(), value.as_(name))
        self.query = query.from_(self.inner(), copy=False)
        return exp.column(name, table="b")

    def joined(
        self, rows: exp.Subquery, new: Sequence[exp.Expr], conditions: Sequence[exp.Expr]
    ) -> None:
        """Each row with each of some others that fits, and new columns from these."""
        query = exp.select(_everything(), *new).from_(self.inner(), copy=False)
        query = query.join(rows, join_type="CROSS", copy=False)
        self.query = query.where(*conditions, copy=False)

    def kept(self, condition: exp.Expr) -> None:
        """Only the rows where a condition holds."""
        query = exp.select(_everything()).from_(self.inner(), copy=False)
        self.query = query.where(condition, copy=False)

    # What a body says

    def scan(self, place: int, atom: Atom) -> bool:
        relation = self.reads(place, atom)
        if not relation.rows:
            return False
        taken: dict[str, _Value] = {}
        conditions, new = [], []
        for column, term in zip(relation.columns, atom.terms, strict=True):
            here = _Value(exp.column(column.name, table="a", quoted=True), column.type)
            if isinstance(term, Constant):
                conditions.append(self.equal(here, self.value(term)))
                continue
            here = self.converted(here, term.name)
            known = taken.get(term.name) or self.values.get(term.name)
            if known is not None:
                conditions.append(self.equal(here, known))
                continue
            taken[term.name] = here
            name = self.column()
            new.append(here.sql.copy().as_(name))
            self.values[term.name] = replace(here, sql=exp.column(name, table="b"))
        if relation.ranked:
            name = self.column()
            new.append(rank_of("a").as_(name))
            self.ranks.append(exp.column(name, table="b"))
        self.joined(relation_query(relation).subquery("a", copy=False), new, conditions)
        return True

    def converted(self, value: _Value, variable: str) -> _Value:
        """A column as a variable of the body: an int that meets floats is a float."""
        if value.type is Type.INT and self.types.get(variable) is Type.FLOAT:
            return _Value(exp.cast(value.sql, SQL_TYPES[Type.FLOAT]), Type.FLOAT)
        return value

    def aggregate(self, aggregate: Aggregate) -> bool:
        inside = _Body(self.store, self.program, self.reads, aggregate.body)
        if not inside.build():
            return False
        rows, found = inside.grouped(aggregate)
        conditions, new = [], []
        for value, variable in zip(found, (*aggregate.group, aggregate.result), strict=True):
            here = self.converted(value, variable.name)
            known = self.values.get(variable.name)
            if known is not None:
                conditions.append(self.equal(here, known))
                continue
            name = self.column()
            new.append(here.sql.copy().as_(name))
            self.values[variable.name] = replace(here, sql=exp.column(name, table="b"))
        self.joined(rows.subquery("g", copy=False), new, conditions)
        return True

    def grouped(self, aggregate: Aggregate) -> tuple[exp.Select, list[_Value]]:
        """One row for each group of this body's distinct solutions; its values, as columns of g."""
        argument = self.values[aggregate.argument.name]
        ordered = None
        registered = self.program.functions.get(aggregate.function)
        if argument.type is Type.SYMBOL and aggregate.function != "count":
            shown = self.shown(argument)
            meant = self.meant(argument)
            # Symbols are ordered by what they mean, and by their text where that is the same.
            ordered = meant if registered else exp.Tuple(expressions=[meant, shown])
        names = {v: f"x{i}" for i, v in enumerate(v for v in self.values if v[:2] != "_:")}
        columns = [self.values[v].sql.copy().as_(name) for v, name in names.items()]
        more = [ordered.as_("t")] if ordered is not None else []
        solutions = exp.select(*columns, *more).distinct().from_(self.inner())
        group = [exp.column(names[v.name], table="d") for v in aggregate.group]
        result = aggregated(
            aggregate.function,
            exp.column(names[aggregate.argument.name], table="d"),
            argument.type,
            exp.column("t", table="d") if ordered is not None else None,
            self.program.functions,
        )
        columns = [column.as_(f"y{i}") for i, column in enumerate([*group, result])]
        rows = exp.select(*columns).from_(solutions.subquery("d"))
        rows = rows.group_by(*group) if group else rows.having(exp.Count(this=exp.Star()) > 0)
        last = exp.column(f"y{len(group)}", table="s")
        rows = exp.select("*").from_(rows.subquery("s")).where(last.is_(exp.null()).not_())
        made = argument.text and aggregate.function != "count"
        if registered:
            made = registered.returns is Type.SYMBOL
        type_ = body_types((aggregate,), self.program.columns, self.program.functions).types
        values = [self.values[v.name] for v in aggregate.group]
        values.append(_Value(exp.null(), type_[aggregate.result.name], made))
        return rows, [
            replace(value, sql=exp.column(f"y{i}", table="g")) for i, value in enumerate(values)
        ]

    def bind(self, step: Binding) -> None:
        value = self.value(step.expression)
        column = self.extended(value.sql)
        self.values[step.variable.name] = self.converted(
            replace(value, sql=column), step.variable.name
        )
        self.kept(column.copy().is_(exp.null()).not_())

    def compare(self, comparison: Comparison) -> None:
        left, right = self.value(comparison.left), self.value(comparison.right)
        if comparison.operator in ("=", "!="):
            same = self.equal(left, right)
            self.kept(same if comparison.operator == "=" else exp.not_(exp.paren(same)))
            return
        if Type.SYMBOL in (left.type, right.type):
            a, b = self.meant(left), self.meant(right)
        else:
            a, b = _alike(left, right)
        self.kept(OPERATORS[comparison.operator](this=a, expression=b))

    def negate(self, atom: Atom) -> None:
        relation = self.reads(-1, atom)
        if not relation.rows:
            return
        conditions: list[exp.Expr] = []
        local: dict[str, _Value] = {}
        for column, term in zip(relation.columns, atom.terms, strict=True):
            here = _Value(exp.column(column.name, table="n", quoted=True), column.type)
            if isinstance(term, Constant):
                conditions.append(self.equal(here, self.value(term)))
                continue
            here = self.converted(here, term.name)
            known = self.values.get(term.name) or local.get(term.name)
            if known is not None:
                conditions.append(self.equal(here, known))
            local.setdefault(term.name, here)
        rows = exp.select(exp.Literal.number(1))
        rows = rows.from_(relation_query(relation).subquery("n", copy=False))
        if conditions:
            rows = rows.where(exp.and_(*conditions))
        self.kept(exp.not_(exp.Exists(this=rows)))

    def head(
        self, atom: Atom, columns: Sequence[Column], ranked: bool
    ) -> tuple[exp.Select, list[str]]:
        """The head of each solution, and which of its columns are text."""
        selected, texts = [], []
        for column, term in zip(columns, atom.terms, strict=True):
            value = self.value(term)
            sql = self.shown(value) if value.text else value.sql.copy()
            if value.text:
                texts.append(column.name)
            if column.type is Type.FLOAT and value.type is Type.INT:
                sql = exp.cast(sql, SQL_TYPES[Type.FLOAT])
            selected.append(sql.as_(column.name, quoted=True))
        if not columns:
            selected.append(exp.true().as_(HOLDS.name, quoted=True))
        if ranked:
            ranks = [*(rank.copy() for rank in self.ranks), exp.Literal.number(OUTSIDE)]
            selected.append(exp.func("greatest", *ranks).as_(RANK, quoted=True))
        return exp.select(*selected).from_(self.inner(), copy=False), texts

    # Values

    def value(self, expression: Expression) -> _Value:
        if isinstance(expression, Variable):
            return self.values[expression.name]
        if isinstance(expression, Call):
            return self.call(expression)
        if expression.type is Type.SYMBOL:
            # An id that no symbol has stands for one that the dictionary does not know.
            id_ = self.program.ids.get(str(expression.value), -1)
            return _Value(exp.Literal.number(id_), Type.SYMBOL)
        return _Value(literal(expression), expression.type)

    def call(self, call: Call) -> _Value:
        functions = self.program.functions
        values = [self.value(argument) for argument in call.arguments]
        arguments = [self.meant(v) if v.type is Type.SYMBOL else v.sql.copy() for v in values]
        type_ = expression_type(call, self.types, functions)
        registered = functions.get(call.function)
        if registered is None:
            if call.function == "concat":
                arguments = [spelled(a, v.type) for a, v in zip(arguments, values, strict=True)]
            sql = built(call.function, type_, arguments)
        else:
            wanted = ["TEXT" if p is Type.SYMBOL else SQL_TYPES[p] for p in registered.parameters]
            given = [exp.cast(a, t) for a, t in zip(arguments, wanted, strict=True)]
            there = exp.and_(*(a.copy().is_(exp.null()).not_() for a in given))
            sql = exp.case().when(there, python_call(call.function, given))
        if type_ is not Type.SYMBOL:
            return _Value(typed(type_ or Type.INT, sql), type_)
        return _Value(sql, type_, text=True)

    def shown(self, value: _Value) -> exp.Expr:
        """A symbol's text as people see it."""
        if value.text:
            return exp.Anonymous(
                this="zodiac.quote_where_needed", expressions=[self.once(value.sql)]
            )
        same = exp.column("id", table="k").eq(value.sql.copy())
        # One text even where a damaged dictionary has several.
        text = exp.select(exp.Min(this=exp.column("text", table="k")))
        return exp.Subquery(this=text.from_(temp_table(dictionary.KNOWN).as_("k")).where(same))

    def meant(self, value: _Value) -> exp.Expr:
        """A symbol's text as functions get it."""
        if value.text:
            return value.sql.copy()
        return exp.Anonymous(this="zodiac.lexical", expressions=[self.once(self.shown(value))])

    def once(self, value: exp.Expr) -> exp.Expr:
        """A value that is written several times, as a macro does with what it is given."""
        return value.copy() if isinstance(value, exp.Column) else self.extended(value)

    def equal(self, left: _Value, right: _Value) -> exp.Expr:
        if left.text or right.text:
            return self.shown(left).eq(self.shown(right))
        a, b = _alike(left, right)
        return a.eq(b)


def _everything() -> exp.Column:
    return exp.Column(this=exp.Star(), table=exp.to_identifier("b"))


def _alike(left: _Value, right: _Value) -> tuple[exp.Expr, exp.Expr]:
    """Two values that can be compared: an int is compared with a float as a float."""
    if {left.type, right.type} == {Type.INT, Type.FLOAT}:
        a, b = (exp.cast(v.sql.copy(), SQL_TYPES[Type.FLOAT]) for v in (left, right))
        return a, b
    return left.sql.copy(), right.sql.copy()


def _needed(test: Comparison | Atom) -> set[str]:
    """The names of the variables that a test is about."""
    if isinstance(test, Atom):
        return {v.name for v in variables(*test.terms)}
    return {v.name for v in variables(test.left, test.right)}
