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
    variables_of,
)
from zodiac_sql.language.constraints import says_never
from zodiac_sql.language.functions import Functions, signature
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Call,
    Comparison,
    Constant,
    Declaration,
    Literal,
    Rule,
    Variable,
    atoms_of,
)
from zodiac_sql.language.templates import fixed_atoms
from zodiac_sql.names import is_constraint
from zodiac_sql.program.best_values import problems_of
from zodiac_sql.program.moment_arguments import wrong_moment_argument
from zodiac_sql.program.patterns import wrong_pattern


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


def constraints(candidate: Candidate) -> Iterator[Problem]:
    """What violates a constraint is derived by it alone, and read by nobody."""
    for rule in candidate.templates:
        if says_never(rule):
            yield Problem(
                f"{rule.name} has a variable for a predicate, which a constraint cannot have",
                rule.span,
                "Let a rule derive what it looks for: bad(X) :- ?P(X, X). !- bad(X).",
            )
    atoms: list[Atom] = list(candidate.facts)
    for rule in candidate.arriving():
        atoms += [*([] if says_never(rule) else [rule.head]), *atoms_of(rule.body)]
    for atom in atoms:
        if is_constraint(atom.predicate):
            yield Problem(
                f"{atom.predicate} has what violates a constraint", atom.span,
                "Write a rule with the body of the constraint, and a name of your own.",
            )  # fmt: skip


def arities(candidate: Candidate) -> Iterator[Problem]:
    """A predicate has one arity in rules, facts, declarations and data.

    The schema has the predicates of the rules that were there before.
    """
    declared = {d.predicate: f"in its declaration at {d.span}" for d in candidate.declarations}
    known: dict[str, tuple[int, str]] = {
        name: (predicate.arity, declared.get(name, "in the database"))
        for name, predicate in candidate.schema.items()
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
            yield from _unsafe_else(aggregate, rule)


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


def _unsafe_else(aggregate: Aggregate, rule: Rule) -> Iterator[Problem]:
    """What has no solutions has a value only if something else says what there is."""
    named = {v.name for atom in rule.positive_atoms() for v in variables(*atom.terms)}
    for variable in aggregate.group if aggregate.otherwise else ():
        if variable.name not in named:
            yield Problem(
                f"unsafe: nothing says for which {variable} there is an ELSE", variable.span,
                f"{variable} must occur in a positive atom outside of the AGGREGATE, as in "
                "turbine(X), AGGREGATE(...) ON X WITH COUNT(T) AS N ELSE 0.",
            )  # fmt: skip


def aggregates(candidate: Candidate) -> Iterator[Problem]:
    """All over one body, not nested, and no other rule for their head (paper 1, section 4.5)."""
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
                    _best_instead(rule)
                    or "An aggregate's head predicate belongs to its rule alone: let one of the "
                    "two derive a predicate of another name.",
                )  # fmt: skip
        for second in found[1:]:
            if not _over_the_same(found[0], second):
                yield Problem(
                    "the AGGREGATEs of a rule are over different bodies or groups", second.span,
                    "Let another rule derive the second value, and join the two predicates.",
                )  # fmt: skip
        for literal in found[0].body:
            if isinstance(literal, Aggregate):
                yield Problem(
                    "an AGGREGATE cannot stand inside another", literal.span,
                    "Let a rule of its own derive the inner one.",
                )  # fmt: skip
        yield from _leaking(rule, found[0])


def _best_instead(rule: Rule) -> str:
    """How a rule is written whose MIN or MAX is over what the rule derives; "" of another one."""
    for literal in rule.body:
        if not isinstance(literal, Aggregate) or literal.function not in _BEST:
            continue
        if any(atom.predicate == rule.head.predicate for atom in atoms_of(literal.body)):
            return _best_in_head(literal)
    return ""


def _best_in_head(literal: Aggregate) -> str:
    function = literal.function.upper()
    return (
        f"Recursion over the {_BEST[literal.function]} value is written with {function} in heads: "
        f"dist(Y, {function}(D + W)) :- dist(X, D), edge(X, Y, W)."
    )


_BEST = {"min": "least", "max": "greatest"}


def _over_the_same(first: Aggregate, second: Aggregate) -> bool:
    """Whether two aggregates have the same body and group, so that they are values of one."""
    bodies = (
        [str(literal) for literal in one.body if not _names_a_value(literal)]
        for one in (first, second)
    )
    return first.group == second.group and next(bodies) == next(bodies)


def _leaking(rule: Rule, aggregate: Aggregate) -> Iterator[Problem]:
    """Variables inside an aggregate are its own unless ON names them."""
    inside = {v.name for v in variables_of(aggregate.body)} - {v.name for v in aggregate.group}
    outside = [literal for literal in rule.body if not isinstance(literal, Aggregate)]
    results = [literal.result for literal in rule.body if isinstance(literal, Aggregate)]
    for variable in [*variables_of(tuple(outside)), *results]:
        if variable.name in inside and not variable.anonymous:
            yield Problem(
                f"{variable} occurs inside and outside of the AGGREGATE", variable.span,
                f"Name it in ON to group by it, or give one of the two another name than "
                f"{variable}.",
            )  # fmt: skip


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
        best = (
            _best_in_head(literal)
            for name in cycle
            for literal in by_name[name].body
            if isinstance(literal, Aggregate) and literal.function in _BEST
        )
        yield Problem(
            f"negation or aggregation inside a cycle: {''.join(steps)}{closing}", span,
            "What is negated or aggregated must be complete before: it cannot depend on the head. "
            f"The cycle goes through the rules {', '.join(cycle)}. {next(best, '')}".rstrip(),
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
        yield from unknown_functions(rule, candidate.functions)
        for call in _calls_in(rule.body):
            builtin = signature(call.function, False, candidate.functions)
            if call.function == "regex_extract" and not _names_a_group(call):
                yield Problem(
                    "regex_extract takes the number of a group, from 0 to 9", call.span,
                    'The number is a constant: regex_extract(X, "([0-9]+) km", 1).',
                )  # fmt: skip
            built_in = call.function not in candidate.functions
            if built_in and (problem := wrong_pattern(call) or wrong_moment_argument(call)):
                yield problem
            if builtin is not None and not builtin.accepts(len(call.arguments)):
                yield Problem(
                    f"{call.function} does not take {len(call.arguments)} arguments", call.span,
                    f"It takes {builtin.counts()}.",
                )  # fmt: skip


def _names_a_group(call: Call) -> bool:
    """Whether the third argument of a call, if it has one, is the number of a group."""
    group = call.arguments[2] if len(call.arguments) > 2 else None
    return group is None or (isinstance(group, Constant) and group.value in range(10))


def unknown_functions(rule: Rule, known: Functions) -> Iterator[Problem]:
    """The functions and aggregates in a rule that are neither built in nor registered."""
    for call in _calls_in(rule.body):
        if signature(call.function, False, known) is None:
            name = call.function
            hint = "Register it with kb.register_function before the rules that use it."
            if signature(name, True, known) is not None:
                hint = (
                    f"{name.upper()} is an aggregate, which stands in the body: "
                    f"AGGREGATE(p(X, Y)) ON X WITH {name.upper()}(Y) AS N"
                )
            if name == "distinct":
                hint = "Write a space after DISTINCT: COUNT(DISTINCT X)."
            yield Problem(f"there is no function {name}", call.span, hint)
    for literal in rule.body:
        if isinstance(literal, Aggregate) and signature(literal.function, True, known) is None:
            yield Problem(
                f"there is no aggregate {literal.function}", literal.span,
                "The aggregates are COUNT, SUM, MIN, MAX, AVG, MED and those registered with "
                "kb.register_aggregate.",
            )  # fmt: skip


def _calls_in(body: tuple[Literal, ...]) -> Iterator[Call]:
    for literal in body:
        if isinstance(literal, Comparison | Binding):
            yield from calls(*expressions_of(literal))
        elif isinstance(literal, Aggregate):
            yield from _calls_in(literal.body)


def best_values(candidate: Candidate) -> Iterator[Problem]:
    """MIN and MAX in heads have one answer."""
    return problems_of(_told_apart(candidate.rules), candidate.facts)


CHECKS = (
    names, constraints, arities, safety, nesting, aggregates, stratification, best_values,
    functions,
)  # fmt: skip
