"""Answers why a fact does not hold: tries each rule that could derive it.

Of a rule's body, the largest part is looked for that can hold at once: everything but one literal,
and what needs the variables that it binds; or the body from its beginning up to the first literal
that fails, if that is more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp

from zodiac_sql.database.store import Store
from zodiac_sql.language.binding import arrange, needed, used_functions, variables
from zodiac_sql.language.datatypes import text_of_term
from zodiac_sql.language.functions import Functions, require
from zodiac_sql.language.literals import opposite
from zodiac_sql.language.substitution import put_in
from zodiac_sql.language.syntax import (
    Aggregate,
    Atom,
    Binding,
    Comparison,
    Constant,
    Literal,
    Negation,
    Rule,
    Term,
    Type,
    Value,
    Variable,
)
from zodiac_sql.language.types import body_types
from zodiac_sql.language.written import on_one_line, spelled_predicate
from zodiac_sql.names import VARIES
from zodiac_sql.program.state import State, parsed_templates
from zodiac_sql.read.notes_on_goals import notes_on_goals
from zodiac_sql.read.why.absence import Attempt, Kind, WhyNot
from zodiac_sql.read.why.asked import Known
from zodiac_sql.read.why.better import is_better, of_group
from zodiac_sql.read.why.explain import constant_of, solutions, words
from zodiac_sql.read.why.known import known_of, prefixes_of, search_in
from zodiac_sql.read.why.search import ProofSearch
from zodiac_sql.read.why.spelling import bare, compared, filled_in, spelled
from zodiac_sql.read.why.why import answers, goal_of, key_of, proof_of, written_name
from zodiac_sql.sql.emptiness import goals_are_empty

MOST_ATTEMPTS = 200
"""So many rules are tried, those for facts below included."""

Values = Mapping[str, tuple[Value, Type]]
"""The values of variables, with their types."""


def why_not(store: Store, state: State, functions: Functions, goal: str, depth: int) -> WhyNot:
    """Why a goal does not hold. Raises QueryError if it is no single atom of a known predicate."""
    known = known_of(store, state, functions)
    atom = goal_of(state, goal)
    search = search_in(state, known)
    notes = notes_on_goals(store, state, [(atom,)])
    if found := answers(search, state, atom):
        asked = tuple(map(written_name, atom.terms))
        proof = replace(
            proof_of(search, found), prefixes=prefixes_of(state), asked=asked, notes=notes
        )
        return WhyNot(shown(atom, {}), (), (), proof, proof.prefixes)
    if better := _better(search, state, atom):
        return WhyNot(shown(atom, {}), (), (better, *notes), prefixes=prefixes_of(state))
    told = _Tried(known, prefixes_of(state)).absent(atom, depth)
    return replace(told, notes=(*told.notes, *_not_made(state, told, atom), *notes))


def _better(search: ProofSearch, state: State, atom: Atom) -> str | None:
    """What is said of a fact that is none because its group has a better one."""
    rule = search.known.graph.with_best.get(atom.predicate)
    fact = key_of(search.known, atom) if rule and not any(variables(*atom.terms)) else None
    if rule is None or rule.best is None or fact is None:
        return None
    known = search.known
    there = of_group(known, known.sources, fact, rule.best)
    if there is None or not is_better(known, known.sources, there, fact, rule.best):
        return None
    best = "least" if rule.best.function == "min" else "greatest"
    told = words(search.known, [there], ()).fact(there)
    return f"{told} holds, and of each group only the {best} value is a fact"


def _not_made(state: State, told: WhyNot, atom: Atom) -> Iterator[str]:
    """The rules with variables for predicates of which none was made that could derive an atom."""
    tried = {attempt.rule for attempt in told.attempts}
    for template in parsed_templates(state):
        head = template.head
        fits = head.predicate == VARIES and len(head.terms) == len(atom.terms) + 1
        if fits and not any(name.startswith(f"{template.name}[") for name in tried):
            text = on_one_line(template.text)
            yield f"no rule for it is made of {template.name}: {text}"


@dataclass(slots=True)
class _Tried:
    """The rules that are tried, and how many more may be."""

    known: Known
    prefixes: Mapping[str, str]
    left: int = MOST_ATTEMPTS

    def absent(self, atom: Atom, depth: int) -> WhyNot:
        """Why no fact is an instance of an atom."""
        rules = [
            rule
            for hypernode in self.known.graph.derivers.get(atom.predicate, ())
            for rule in hypernode.rules
            if rule.head.predicate == atom.predicate
        ]
        attempts: list[Attempt] = []
        notes: list[str] = []
        for place, rule in enumerate(rules):
            if self.left <= 0:
                notes.append(f"{len(rules) - place} more rules were not tried: that is the bound")
                break
            self.left -= 1
            attempts.append(self._attempt(rule, atom, depth))
        if not rules:
            notes.append("no rule derives it, and it is not among the explicit facts")
        return WhyNot(shown(atom, {}), tuple(attempts), tuple(notes), prefixes=self.prefixes)

    def _attempt(self, rule: Rule, atom: Atom, depth: int) -> Attempt:
        require(used_functions([rule]), self.known.functions, f"rule {rule.name}")
        given = _given(rule.head, atom)
        if given is None:
            head = shown(rule.head, {})
            fails = f"it derives only {head}"
            return Attempt(rule.name, rule.text, "head", head, fails)
        ties = _ties(rule, given)
        whole = (*rule.body, *ties)
        body = _placed(whole, _shared(whole))
        computed = {tie.left for tie in ties}
        bound = {name: c for name, c in given.items() if Variable(name) not in computed}
        part, values = self._largest_part(body, bound, whole=_repeats(atom))
        failing = next((x for x in body if not any(x is one for one in part)), None)
        if failing is None:  # the goal says more of its variables: that some are equal
            head = shown(rule.head, {})
            return Attempt(rule.name, rule.text, "head", head, f"no {head} is like that")
        known = {**{n: (c.value, c.type) for n, c in given.items()}, **values}
        kind, fails = self._failure(failing, part, known, rule.body)
        below = None
        if depth > 1 and isinstance(failing, Atom):
            below = self.absent(_put(failing, known), depth - 1)
        return Attempt(
            rule.name,
            rule.text,
            kind,
            shown(failing, {}),
            fails,
            tuple(shown(x, known) for x in rule.body if any(x is one for one in part)),
            tuple((name, v) for name, (v, _) in known.items() if Variable(name).written),
            below,
        )

    # Which part holds

    def _largest_part(
        self, body: tuple[Literal, ...], given: Mapping[str, Constant], whole: bool
    ) -> tuple[tuple[Literal, ...], Values]:
        """The largest part of a body that holds, and the values that it then has.

        The body is in an order in which it can be evaluated. It can be the `whole` of it if the
        facts asked about are only some of those that it gives.
        """
        if whole and (all_ := self._first(body, given)) is not None:
            return body, all_
        # Of two that are equally large, the one that goes further from the beginning comes first.
        parts = [_without(body, literal) for literal in reversed(body)]
        best: tuple[tuple[Literal, ...], Values] = ((), {})
        for part in sorted(parts, key=len, reverse=True):
            if len(part) and (values := self._first(part, given)) is not None:
                best = self._widened(part, values, body, given)
                break
        for end in range(len(best[0]) + 1, len(body)):
            found = self._first(body[:end], given)
            if found is None:
                break
            best = body[:end], found
        return best

    def _widened(
        self,
        part: tuple[Literal, ...],
        values: Values,
        body: tuple[Literal, ...],
        given: Mapping[str, Constant],
    ) -> tuple[tuple[Literal, ...], Values]:
        """A part that holds, with the literals from the beginning of the body that hold with it.

        With a literal, those went that need its variables: it may be them that fail.
        """
        for literal in body:
            if any(literal is one for one in part):
                continue
            if len(part) == len(body) - 1:
                break  # the whole body does not hold
            wider = tuple(x for x in body if x is literal or any(x is one for one in part))
            found = self._first(wider, given)
            if found is None:
                break
            part, values = wider, found
        return part, values

    def _first(self, part: tuple[Literal, ...], given: Mapping[str, Constant]) -> Values | None:
        """The values of the first solution of literals; None if there is none."""
        if not part:
            return {}
        bound = arrange(part).bound
        ties = [Comparison(Variable(n), "=", c) for n, c in given.items() if n in bound]
        goals = (*part, *ties)
        context = self.known.context(lambda name, _: self.known.sources.relation(name))
        if goals_are_empty(goals, context):
            return None
        names = sorted(bound)
        columns = [exp.column(name, quoted=True) for name in names]
        query = solutions(self.known, goals, names).subquery("q", copy=False)
        first = exp.select(*columns).from_(query).order_by(*(c.copy() for c in columns)).limit(1)
        if not names:
            first = exp.select(exp.Star()).from_(query).limit(1)
        rows = self.known.store.rows(first)
        if not rows:
            return None
        types = body_types(goals, self.known.types, self.known.functions).types
        kinds = (types.get(name) or Type.SYMBOL for name in names)
        return dict(zip(names, zip(rows[0], kinds, strict=False), strict=True)) if names else {}

    # What fails

    def _failure(
        self, literal: Literal, part: tuple[Literal, ...], values: Values, body: Sequence[Literal]
    ) -> tuple[Kind, str]:
        if isinstance(literal, Atom):
            return "no fact", f"no {shown(literal, values)}"
        if isinstance(literal, Negation):
            return "blocked", f"blocked by {self._blocking(literal.atom, values)}"
        if isinstance(literal, Aggregate):
            return "no group", f"no group: {_of_group(literal, values)}"
        if literal.span is not None:
            test = _as_test(literal)
            if not self._has_value(test, part, values):
                return "no value", f"{shown(test, values)} has no value"
            return "comparison", f"{shown(test, values)} is false"
        assert isinstance(literal, Comparison) and isinstance(literal.left, Variable)  # by _ties
        wanted = filled_in(literal.right, {})
        found = spelled(*values[literal.left.name])
        told = _told(literal.left, body)
        return "other value", f"{told} would be {found}, and not {wanted}"

    def _has_value(self, test: Comparison, part: tuple[Literal, ...], known: Values) -> bool:
        """Whether a test that fails beside a part of its body is false: then its opposite holds.

        What cannot be compared has no value, nor has it an opposite: a text beside a number.
        """
        placed = arrange(part)
        given = {name: constant_of(*value) for name, value in known.items()}
        free = {name: c for name, c in given.items() if name not in placed.bound}
        opposite_ = put_in(replace(test, operator=opposite(test.operator)), free)
        assert isinstance(opposite_, Comparison)
        if not needed(opposite_) <= placed.bound:
            return False  # it computes a variable that nothing else has
        terms = chain.from_iterable(atom.terms for atom in placed.atoms)
        groups = chain.from_iterable(one.group for one in placed.aggregates)
        read = {v.name for v in variables(*terms, *groups)}
        there = {name: c for name, c in given.items() if name in read}
        return self._first((*part, opposite_), there) is not None

    def _blocking(self, atom: Atom, values: Values) -> str:
        """The first fact that a negated atom forbids and that is there."""
        found = self._first((named := _named(_put(atom, values)),), {})
        return shown(named, found or {})


def _as_test(literal: Comparison | Binding) -> Comparison:
    if isinstance(literal, Comparison):
        return literal
    return Comparison(literal.variable, "=", literal.expression, literal.span)


def _told(variable: Variable, body: Sequence[Literal]) -> str:
    """A variable as the user wrote it: as an expression, if it stands for one."""
    for literal in body if variable.made else ():
        if isinstance(literal, Comparison) and literal.left == variable and literal.span:
            return bare(str(literal.right))
    return str(variable)


def _given(head: Atom, atom: Atom) -> dict[str, Constant] | None:
    """The values of a head's variables in the facts asked about; None if there are none."""
    given: dict[str, Constant] = {}
    for term, wanted in _meeting(head, atom):
        if isinstance(term, Constant):
            if _differ(term, wanted):
                return None
        elif _differ(given.setdefault(term.name, wanted), wanted):
            return None
    return given


def _differ(one: Constant, other: Constant) -> bool:
    """Whether two constants differ; a native one may be given by the text of its literal."""
    if Type.SYMBOL in (one.type, other.type) and one.type is not other.type:
        return text_of_term(one) != text_of_term(other)
    return one.value != other.value


def _meeting(head: Atom, atom: Atom) -> Iterator[tuple[Term, Constant]]:
    """The terms of a head, each with the constant that it must be in the facts asked about.

    A variable that the question has twice is a constant if the head has one in either place.
    """
    meant = {
        wanted.name: term
        for term, wanted in zip(head.terms, atom.terms, strict=True)
        if isinstance(wanted, Variable) and isinstance(term, Constant)
    }
    for term, wanted in zip(head.terms, atom.terms, strict=True):
        constant = meant.get(wanted.name) if isinstance(wanted, Variable) else wanted
        if constant is not None:
            yield term, constant


def _repeats(atom: Atom) -> bool:
    """Whether an atom has a variable twice."""
    names = [term.name for term in atom.terms if isinstance(term, Variable)]
    return len(set(names)) < len(names)


def _ties(rule: Rule, given: Mapping[str, Constant]) -> list[Comparison]:
    """Values that the rule computes must be those of the fact."""
    atoms = {t.name for a in rule.positive_atoms() for t in a.terms if isinstance(t, Variable)}
    for literal in rule.body:
        if isinstance(literal, Aggregate):
            atoms |= {variable.name for variable in literal.group}
    return [
        Comparison(Variable(name), "=", constant)
        for name, constant in given.items()
        if name not in atoms
    ]


def _without(body: Sequence[Literal], left_out: Literal) -> tuple[Literal, ...]:
    """A body without a literal, and without what needs the variables that it binds."""
    return _placed([literal for literal in body if literal is not left_out], _shared(body))


def _placed(literals: Sequence[Literal], shared: frozenset[str]) -> tuple[Literal, ...]:
    """Literals in an order in which each finds its variables bound, without those that never do.

    A variable of a negated atom must be bound if it is among the `shared` ones.
    """
    placed: list[Literal] = []
    waiting = list(literals)
    while waiting:
        bound = arrange(tuple(placed)).bound
        ready = next((x for x in waiting if _is_ready(x, placed, bound, shared)), None)
        if ready is None:
            break
        placed.append(ready)
        waiting = [literal for literal in waiting if literal is not ready]
    return tuple(placed)


def _is_ready(
    literal: Literal, placed: Sequence[Literal], bound: frozenset[str], shared: frozenset[str]
) -> bool:
    if isinstance(literal, Negation):
        named = {v.name for v in variables(*literal.atom.terms)}
        return named & shared <= bound
    if isinstance(literal, Comparison) and literal.span is None:  # a tie, which computes nothing
        return {v.name for v in variables(literal.left)} <= bound
    return not arrange((*placed, literal)).unplaced


def _shared(body: Sequence[Literal]) -> frozenset[str]:
    """The variables that a body binds."""
    return arrange(tuple(body)).bound


def _named(atom: Atom) -> Atom:
    """An atom whose anonymous variables have names, so that their values are told."""
    terms = tuple(
        Variable(f"zodiac:{place}") if isinstance(term, Variable) and term.anonymous else term
        for place, term in enumerate(atom.terms)
    )
    return Atom(atom.predicate, terms)


def _put(atom: Atom, values: Values) -> Atom:
    return Atom(atom.predicate, tuple(_term(term, values) for term in atom.terms))


def _term(term: Term, values: Values) -> Term:
    if isinstance(term, Variable) and term.name in values:
        value, type_ = values[term.name]
        return constant_of(value, type_)
    return term


def shown(literal: Literal, values: Values) -> str:
    """A literal as text, with the values of its variables put in; others stand as `_` in atoms."""
    texts = {name: spelled(*value) for name, value in values.items()}
    if isinstance(literal, Atom):
        terms = (
            filled_in(term, texts)
            if isinstance(term, Constant) or term.name in texts
            else (str(term) if not values or literal.terms.count(term) > 1 else "_")
            for term in literal.terms
        )
        return f"{spelled_predicate(literal.predicate)}({', '.join(terms)})"
    if isinstance(literal, Negation):
        return f"not {shown(literal.atom, values)}"
    if isinstance(literal, Comparison):
        return compared(literal, texts)
    if isinstance(literal, Binding):
        value = texts.get(literal.variable.name)
        text = f"{literal.variable} = {bare(filled_in(literal.expression, texts))}"
        return text if value is None else f"{text} = {value}"
    result = texts.get(literal.result.name)
    text = _of_group(literal, values)
    return text if result is None else f"{text}: {literal.result} = {result}"


def _of_group(aggregate: Aggregate, values: Values) -> str:
    """What an aggregate computes of what, and in which group."""
    of = ", ".join(shown(literal, {}) for literal in aggregate.body)
    group = [v for v in aggregate.group if v.name in values]
    on = ", ".join(f"{v} = {spelled(*values[v.name])}" for v in group)
    return f"{aggregate.of(aggregate.argument)} of {of}" + (f" with {on}" if on else "")
