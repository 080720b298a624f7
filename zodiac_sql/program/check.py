"""Is a program right? Names, arities, safety, stratification and functions, all at once.

Each check is a function from the program to the problems it sees; `check` collects what `CHECKS`
find. Types are checked in language/types.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from zodiac_sql.errors import Problem, Span
from zodiac_sql.graph.rule_graph import negative_cycles, rule_graph
from zodiac_sql.language.binding import (
    MOST_LEVELS,
    Arranged,
    arrange,
    calls,
    expressions_of,
    levels,
    variables,
)
from zodiac_sql.language.functions import Functions, signature
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Call,
    Comparison,
    Declaration,
    Literal,
    Rule,
    Variable,
    atoms_of,
)
from zodiac_sql.language.templates import fixed_atoms


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program as it would be after a change: all rules, and what is declared and known."""

    rules: tuple[Rule, ...]
    new: frozenset[str]
    """Names of the rules that the change brings."""
    declarations: tuple[Declaration, ...]
    facts: tuple[Atom, ...]
    schema: Schema
    functions: Functions
    templates: tuple[Rule, ...] = ()
    """The rules with variables for predicates, of which some of `rules` are made."""

    def arriving(self) -> Iterator[Rule]:
        """The rules that the change brings; all others were checked when they came."""
        written = (rule for rule in self.rules if rule.origin is None)
        return (rule for rule in (*written, *self.templates) if rule.name in self.new)

    def unchecked(self) -> Iterator[Rule]:
        """The same, and all rules that are made of templates."""
        yield from self.arriving()
        yield from (rule for rule in self.rules if rule.origin is not None)


def check(candidate: Candidate) -> list[Problem]:
    """Every problem of a program but those of types."""
    return [problem for one in CHECKS for problem in one(candidate)]


def in_order(problems: Sequence[Problem]) -> list[Problem]:
    """Problems by source and place, each once."""

    def place(problem: Problem) -> tuple[str, int, int]:
        span = problem.span
        return (span.source.name, span.line, span.column) if span else ("", 0, 0)

    return sorted(dict.fromkeys(problems), key=place)


def names(candidate: Candidate) -> Iterator[Problem]:
    """Two rules must not have the same name."""
    seen: dict[str, Rule] = {}
    written = (rule for rule in candidate.rules if rule.origin is None)
    for rule in (*written, *candidate.templates):
        first = seen.setdefault(rule.name, rule)
        if first is not rule:
            yield Problem(
                f"there is already a rule named {rule.name}: {first.text}", rule.span,
                "Choose another name. To put this rule in its place, add it with replace "
                "(--replace).",
            )  # fmt: skip


def arities(candidate: Candidate) -> Iterator[Problem]:
    """A predicate has one arity in rules, facts, declarations and data.

    The schema has the predicates of the rules that were there before.
    """
    known: dict[str, tuple[int, str]] = {
        name: (predicate.arity, "in the database") for name, predicate in candidate.schema.items()
    }
    for declaration in candidate.declarations:
        arity = len(declaration.columns)
        yield from _arity(declaration.predicate, arity, declaration.span, known, "declared")
    atoms: list[Atom] = list(candidate.facts)
    for rule in candidate.unchecked():
        atoms += fixed_atoms(rule)
    for atom in atoms:
        yield from _arity(atom.predicate, len(atom.terms), atom.span, known, "used")


def _arity(
    name: str, arity: int, span: Span | None, known: dict[str, tuple[int, str]], how: str
) -> Iterator[Problem]:
    first, where = known.setdefault(name, (arity, f"at {span}"))
    if first != arity:
        yield Problem(
            f"{name} is {how} with {_columns(arity)}, but it has {first} {where}", span,
            f"A predicate has one arity: give {name} {_columns(first)} here.",
        )  # fmt: skip


def _columns(count: int) -> str:
    return f"{count} column{'' if count == 1 else 's'}"


def safety(candidate: Candidate) -> Iterator[Problem]:
    """Every variable that carries a value must get one (paper 1, section 2.1)."""
    for rule in candidate.arriving():
        arranged = arrange(rule.body)
        yield from _unplaced(arranged)
        yield from _unbound_head(rule, arranged)
        for aggregate in arranged.aggregates:
            yield from _unsafe_aggregate(aggregate)


def nesting(candidate: Candidate) -> Iterator[Problem]:
    """Values may be computed from computed values only so often: each time nests SQL deeper."""
    for rule in candidate.arriving():
        bodies = [rule.body, *(lit.body for lit in rule.body if isinstance(lit, Aggregate))]
        longest = max(len(levels(arrange(body))) for body in bodies)
        if longest > MOST_LEVELS:
            yield Problem(
                f"{rule.name} computes {longest} values each from the one before; {MOST_LEVELS} "
                "are the limit", rule.span,
                "Let a rule of its own derive the first of them, and go on with what it derives.",
            )  # fmt: skip


def _unplaced(arranged: Arranged) -> Iterator[Problem]:
    for literal in arranged.unplaced:
        for variable in variables(*expressions_of(literal)):
            if variable.name not in arranged.bound and not variable.made:
                told = literal.right if _names_a_value(literal) else literal
                yield Problem(
                    f"unsafe: {variable} has no value in `{told}`", variable.span,
                    f"{variable} must occur in a positive atom, or be given by BIND.",
                )  # fmt: skip


def _names_a_value(literal: Literal) -> TypeGuard[Comparison]:
    """Whether a comparison says what a variable stands for that the user has not written."""
    return (
        isinstance(literal, Comparison) and isinstance(literal.left, Variable) and literal.left.made
    )


def _unbound_head(rule: Rule, arranged: Arranged) -> Iterator[Problem]:
    pending = {step.variable.name for step in arranged.unplaced if isinstance(step, Binding)}
    for variable in variables(*rule.head.terms):
        if variable.name in arranged.bound | pending or variable.made:
            continue
        only_negated = any(
            variable.name == v.name for n in arranged.negations for v in variables(*n.atom.terms)
        )
        under = f" ({variable} occurs only under a negation)" if only_negated else ""
        yield Problem(
            f"unsafe: {variable} in the head of {rule.name} has no value{under}", variable.span,
            f"{variable} must occur in a positive atom of the body, or be given by BIND or by "
            "an aggregate.",
        )  # fmt: skip


def _unsafe_aggregate(aggregate: Aggregate) -> Iterator[Problem]:
    inside = arrange(aggregate.body)
    yield from _unplaced(inside)
    for variable in (*aggregate.group, aggregate.argument):
        if variable.name not in inside.bound and not variable.made:
            yield Problem(
                f"unsafe: {variable} has no value inside the AGGREGATE", variable.span,
                f"{variable} must occur in a positive atom between the parentheses.",
            )  # fmt: skip


def aggregates(candidate: Candidate) -> Iterator[Problem]:
    """One aggregate a rule, not nested, and no other rule for its head (paper 1, section 4.5)."""
    heads = {rule.head.predicate for rule in candidate.unchecked()}
    deriving: dict[str, list[Rule]] = defaultdict(list)
    for rule in candidate.rules:
        if rule.head.predicate in heads:
            deriving[rule.head.predicate].append(rule)
    for rule in (rule for rules in deriving.values() for rule in rules):
        found = [literal for literal in rule.body if isinstance(literal, Aggregate)]
        if not found:
            continue
        for other in deriving[rule.head.predicate]:
            if other is not rule:
                yield Problem(
                    f"{rule.head.predicate} is derived by the aggregate of {rule.name} and also "
                    f"by {other.name}", rule.head.span,
                    "An aggregate's head predicate belongs to its rule alone: let one of the two "
                    "derive a predicate of another name.",
                )  # fmt: skip
        for second in found[1:]:
            yield Problem(
                "a rule has at most one AGGREGATE", second.span,
                "Let another rule derive the second value, and join the two predicates.",
            )  # fmt: skip
        for literal in found[0].body:
            if isinstance(literal, Aggregate):
                yield Problem(
                    "an AGGREGATE cannot stand inside another", literal.span,
                    "Let a rule of its own derive the inner one.",
                )  # fmt: skip
        yield from _leaking(rule, found[0])


def _leaking(rule: Rule, aggregate: Aggregate) -> Iterator[Problem]:
    """Variables inside an aggregate are its own unless ON names them."""
    inside = {v.name for v in _body_variables(aggregate.body)} - {v.name for v in aggregate.group}
    outside = [literal for literal in rule.body if literal is not aggregate]
    for variable in [*_body_variables(tuple(outside)), aggregate.result]:
        if variable.name in inside and not variable.anonymous:
            yield Problem(
                f"{variable} occurs inside and outside of the AGGREGATE", variable.span,
                f"Name it in ON to group by it, or give one of the two another name than "
                f"{variable}.",
            )  # fmt: skip


def _body_variables(body: tuple[Literal, ...]) -> Iterator[Variable]:
    for atom in atoms_of(body):
        yield from variables(*atom.terms)
    for literal in body:
        if isinstance(literal, Comparison | Binding):
            yield from variables(*expressions_of(literal))
        if isinstance(literal, Binding):
            yield literal.variable


def stratification(candidate: Candidate) -> Iterator[Problem]:
    """No negation or aggregation through a cycle of rules."""
    if not any(rule.negative() for rule in candidate.rules):
        return
    rules = _told_apart(candidate.rules)
    graph = rule_graph(rules)
    by_name = {rule.name: rule for rule in rules}
    for cycle in negative_cycles(graph):
        pairs = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        steps = [
            f"{by_name[a].head.predicate} -[{'not ' if (a, b) in graph.negative else ''}{b}]-> "
            for a, b in pairs
        ]
        closing = by_name[cycle[0]].head.predicate
        span = next((by_name[n].span for n in cycle if n in candidate.new), by_name[cycle[0]].span)
        yield Problem(
            f"negation or aggregation inside a cycle: {''.join(steps)}{closing}", span,
            "What is negated or aggregated must be complete before: it cannot depend on the head. "
            f"The cycle goes through the rules {', '.join(cycle)}.",
        )  # fmt: skip


def _told_apart(rules: Sequence[Rule]) -> list[Rule]:
    """The rules under different names: `names` reports those that have the same."""
    seen: Counter[str] = Counter()
    apart = []
    for rule in rules:
        seen[rule.name] += 1
        number = seen[rule.name]
        apart.append(rule if number == 1 else replace(rule, name=f"{rule.name} ({number})"))
    return apart


def functions(candidate: Candidate) -> Iterator[Problem]:
    """Functions must be known and get the right number of arguments."""
    for rule in candidate.arriving():
        for literal in rule.body:
            yield from _functions_in(literal, candidate.functions)


def _functions_in(literal: Literal, known: Functions) -> Iterator[Problem]:
    if isinstance(literal, Comparison | Binding):
        for call in calls(*expressions_of(literal)):
            yield from _call(call, known)
    elif isinstance(literal, Aggregate):
        if signature(literal.function, True, known) is None:
            yield Problem(
                f"there is no aggregate {literal.function}", literal.span,
                "The aggregates are COUNT, SUM, MIN, MAX, AVG, MED and those registered with "
                "kb.register_aggregate.",
            )  # fmt: skip
        for inner in literal.body:
            yield from _functions_in(inner, known)


def _call(call: Call, known: Functions) -> Iterator[Problem]:
    builtin = signature(call.function, False, known)
    if builtin is None:
        yield Problem(
            f"there is no function {call.function}", call.span,
            "Register it with kb.register_function before the rules that use it.",
        )  # fmt: skip
    elif not builtin.accepts(len(call.arguments)):
        yield Problem(
            f"{call.function} does not take {len(call.arguments)} arguments", call.span,
            f"It takes {len(builtin.parameters)}.",
        )  # fmt: skip


CHECKS = (names, arities, safety, nesting, aggregates, stratification, functions)
