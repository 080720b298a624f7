"""Accepts or rejects what `why_not` says, as proof_checker.py does for `why`.

A claim is confirmed if the part of the body that is said to hold does hold, with the values told
and those of the goal; if what is said to fail does fail with them; and if no larger part of a
certain form holds: all of the body but one literal, or, if there is no such part, the beginning of
the body up to the literal that fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.programs import Aggregate, Atom, Bind, Compare, Literal, Not, Rule, Var
from support import naive, naive_types
from support.naive_functions import evaluate
from support.naive_values import Environment, NoValue, equal
from support.proof_checker import WrongProof, check, variable
from support.proof_world import World, is_instance
from support.spelled import bare, expression, readings, spelled, with_values

from zodiac_sql.read.why.absence import Attempt, WhyNot

_VERDICTS = {"comparison": "is false", "no value": "has no value"}


def check_why_not(told: WhyNot, world: World, goal: Atom, depth: int = 1) -> None:
    """Raises WrongProof unless what is said of a goal, maybe with variables, is so."""
    if bare(told.goal) not in readings(goal, {}):
        raise WrongProof(f"{told.goal} is another goal than {goal}")
    there = _holds(world, [goal], {})
    if told.holds is not None:
        if not there or told.attempts:
            raise WrongProof(f"{told.goal} does not hold, or there are attempts")
        check(told.holds, world)
        return
    if there:
        raise WrongProof(f"{told.goal} does hold")
    rules = [rule for rule in world.rules.values() if rule.head.predicate == goal.predicate]
    if sorted(one.rule for one in told.attempts) != sorted(rule.name for rule in rules):
        raise WrongProof(f"{told.goal}: the rules are {[rule.name for rule in rules]}")
    if bool(told.notes) != (not rules):
        raise WrongProof(f"{told.goal}: {told.notes}")
    for one in told.attempts:
        try:
            _Claim(world, world.rules[one.rule], goal, one, depth).check()
        except WrongProof as error:
            raise WrongProof(f"{told.goal}, by {one.rule}: {error}\n{told}") from None


@dataclass(frozen=True)
class _Claim:
    """What is said of one rule."""

    world: World
    rule: Rule
    goal: Atom
    told: Attempt
    depth: int

    def check(self) -> None:
        given = self._given()
        if given is not None and self._differs(given):
            return
        if (self.told.kind == "head") != (given is None):
            raise WrongProof(f"the values of the head are {given}")
        if given is None:
            return
        values = self._values(given)
        kept = self._kept(values)
        failing = [x for x in self.rule.body if all(x is not one for one in kept)]
        if not _holds(self.world, kept, values):
            raise WrongProof(f"{self.told.holds} does not hold")
        if self.told.kind == "other value":
            self._other_value(values, failing, given)
            return
        fitting = [x for x in failing if _fits_kind(x, self.told.kind)] or [None]
        literal = next((x for x in fitting if self._is_told(x, values)), fitting[0])
        if literal is None or (len(failing) == 1 and literal is not failing[0]):
            raise WrongProof(f"what fails is one of {failing}")
        self._fails(literal, values)
        self._is_largest(kept, literal, given)
        below = self.depth > 1 and isinstance(literal, Atom)
        if below != (self.told.below is not None):
            raise WrongProof(f"{below=}")
        if self.told.below is not None:
            assert isinstance(literal, Atom)
            check_why_not(self.told.below, self.world, _put(literal, values), self.depth - 1)

    def _is_told(self, literal: Literal | None, values: Environment) -> bool:
        """Whether a test is the one that is said to fail. (Some may not be said anything of,
        because their variables get no values.)"""
        return isinstance(literal, Compare | Bind) and bare(self.told.fails) == bare(
            f"{with_values(_as_test(literal), values)} {_VERDICTS[self.told.kind]}"
        )

    def _given(self) -> Environment | None:
        """What the goal says of the rule's variables; None if the rule derives no such fact."""
        given: Environment = {}
        pairs = list(zip(self.rule.head.terms, self.goal.terms, strict=True))
        pairs = [(term, asked) for term, asked in pairs if not _is_anything(asked)]
        said = {w: t for t, w in pairs if isinstance(w, Var) and not isinstance(t, Var)}
        for term, asked in pairs:
            wanted = said.get(asked, asked) if isinstance(asked, Var) else asked
            if isinstance(wanted, Var):
                continue
            known = given.setdefault(term, wanted) if isinstance(term, Var) else term
            if not equal(known, wanted):  # type: ignore[arg-type]
                return None
        return given

    def _differs(self, given: Environment) -> bool:
        """Whether the body holds, and what it gives differs where the goal has a variable twice."""
        asked = [t for t in self.goal.terms if isinstance(t, Var) and not _is_anything(t)]
        if self.told.kind != "head" or len(set(asked)) == len(asked):
            return False
        return _holds(self.world, list(self.rule.body), given)

    def _values(self, given: Environment) -> Environment:
        values = {Var(variable(name)): value for name, value in self.told.values}
        computed = {x.variable for x in self.rule.body if isinstance(x, Bind)}
        computed |= {x.result for x in self.rule.body if isinstance(x, Aggregate)}
        for v, value in given.items():
            if v not in values or not (v in computed or equal(values[v], value)):
                raise WrongProof(f"{v.name} should be {value!r} in {self.told.values}")
        return values

    def _kept(self, values: Environment) -> list[Literal]:
        """The literals that are said to hold."""
        left = list(self.rule.body)
        kept: list[Literal] = []
        for text in self.told.holds:
            while left and not self._reads(left[0], values, text):
                left.pop(0)
            if not left:
                raise WrongProof(f"{text} is not in the body, or stands before the one before it")
            kept.append(left.pop(0))
        return kept

    def _reads(self, literal: Literal, values: Environment, text: str) -> bool:
        """Whether a text is a literal that holds, perhaps with the values of all its variables."""
        if isinstance(literal, Aggregate):
            return text.upper().startswith(f"{literal.function}(")
        if isinstance(literal, Atom):
            name = literal.predicate
            rows = [row for row in self.world.known[name] if is_instance(row, literal, values)]
            return bare(text) in {bare(spelled((name, row))) for row in rows}
        if isinstance(literal, Not):
            return bare(text) in {f"not{one}" for one in readings(literal.atom, values)}
        return bare(with_values(literal, values)) == bare(text)

    # --- what fails -------------------------------------------------------------------------------

    def _fails(self, literal: Literal, values: Environment) -> None:
        """Whether a literal fails, whatever the values of its other variables are."""
        if isinstance(literal, Compare | Bind):
            missing = (
                naive_types.variables_of(literal.left) if isinstance(literal, Compare) else set()
            )
            if missing - values.keys():
                raise WrongProof(f"nothing is said of {missing - values.keys()}")
        if _holds(self.world, [literal], values):
            raise WrongProof(f"{literal} does hold with {values}")
        text = self.told.fails
        if isinstance(literal, Atom):
            if bare(text) not in {f"no{one}" for one in readings(literal, values)}:
                raise WrongProof(f"{text} is not how {literal} reads with {values}")
        elif isinstance(literal, Compare | Bind):
            test = _as_test(literal)
            kind = "comparison" if _has_value(test, values) else "no value"
            if self.told.kind != kind:
                raise WrongProof(f"{kind}: {literal} with {values}")
            _compare(text, f"{with_values(test, values)} {_VERDICTS[kind]}")
        elif isinstance(literal, Not):
            rows = self.world.known[literal.atom.predicate]
            blocking = [
                (literal.atom.predicate, row)
                for row in rows
                if is_instance(row, literal.atom, values)
            ]
            if bare(text) not in [bare(f"blocked by {spelled(fact)}") for fact in blocking]:
                raise WrongProof(f"{text}, and should be one of {blocking}")

    def _other_value(
        self, values: Environment, failing: Sequence[Literal], given: Environment
    ) -> None:
        """Whether the body holds, but gives the fact another value."""
        other = [v for v, value in given.items() if not equal(values[v], value)]
        texts = {
            bare(f"{v.name} would be {expression(v, values)}, and not {expression(v, given)}")
            for v in other
        }
        if failing or bare(self.told.fails) not in texts:
            raise WrongProof(f"{failing} are missing, and {other} have other values")

    # --- whether more holds -----------------------------------------------------------------------

    def _is_largest(self, kept: Sequence[Literal], failing: Literal, given: Environment) -> None:
        body = list(self.rule.body)
        if _evaluable([*kept, failing]) and _holds(self.world, [*kept, failing], given):
            raise WrongProof(f"{failing} can hold, too")
        results = {x.result for x in body if isinstance(x, Aggregate)}
        computed = {v for v in results if v in given}  # the goal says what they are to be
        shared = {v for v in _bound(body) if v.name != "_"}  # each _ is one of its own
        for out in range(len(body)):
            part = _with_all_bound(body[:out] + body[out + 1 :], shared, computed)
            if len(part) > len(kept) and _holds(self.world, part, given):
                raise WrongProof(f"without {body[out]}, more holds than {kept}: {part}")


def _bound(part: Sequence[Literal]) -> set[Var]:
    """The variables that literals bind."""
    bound = naive_types.given_variables(part)
    waiting = [literal for literal in part if isinstance(literal, Bind | Compare)]
    while ready := [literal for literal in waiting if naive.is_ready(literal, bound)]:
        waiting = [literal for literal in waiting if literal not in ready]
        bound |= {v for literal in ready for v, _ in naive_types.assignments(literal)}
    return bound


def _with_all_bound(part: Sequence[Literal], shared: set[Var], computed: set[Var]) -> list[Literal]:
    """The literals whose variables the others bind: a negated one needs those that are `shared`."""
    bound = _bound(part) | computed
    return [
        literal
        for literal in part
        if not (isinstance(literal, Bind | Compare) and not naive.is_ready(literal, bound))
        and not (
            isinstance(literal, Not)
            and not {t for t in literal.atom.terms if isinstance(t, Var)} & shared <= bound
        )
    ]


def _holds(world: World, part: Sequence[Literal], values: Environment) -> bool:
    """Whether literals have a solution in which variables have these values."""
    ties = [Compare(v, "=", value) for v, value in values.items()]  # type: ignore[arg-type]
    return bool(naive.solutions([*part, *ties], world.known, world.types))  # type: ignore[arg-type]


def _evaluable(part: Sequence[Literal]) -> bool:
    """Whether the literals themselves bind all variables that they compute or compare with."""
    bound = naive_types.given_variables(part)
    waiting = [literal for literal in part if isinstance(literal, Bind | Compare)]
    while ready := [literal for literal in waiting if naive.is_ready(literal, bound)]:
        waiting = [literal for literal in waiting if literal not in ready]
        bound |= {v for literal in ready for v, _ in naive_types.assignments(literal)}
    return not waiting


def _fits_kind(literal: Literal, kind: str) -> bool:
    kinds = {"no fact": Atom, "comparison": Compare | Bind, "blocked": Not, "no group": Aggregate,
             "no value": Compare | Bind}  # fmt: skip
    return isinstance(literal, kinds.get(kind, ()))  # type: ignore[arg-type]


def _as_test(literal: Compare | Bind) -> Compare:
    if isinstance(literal, Compare):
        return literal
    return Compare(literal.variable, "=", literal.expression)  # type: ignore[arg-type]


def _has_value(test: Compare, values: Environment) -> bool:
    """Whether a test is true or false: neither where a side has no value, or there is no order."""
    known = naive_types.variables_of(test.left) | naive_types.variables_of(test.right)
    if not known <= values.keys():
        return False  # it computes a variable
    try:
        left, right = (evaluate(side, values) for side in (test.left, test.right))
    except NoValue:
        return False
    kinds = {isinstance(side, str) for side in (left, right)}
    return len(kinds) == 1 or test.operator in ("=", "!=")


def _is_anything(term: object) -> bool:
    """Whether a term is `_`: each of them is a variable of its own."""
    return isinstance(term, Var) and term.anonymous


def _put(atom: Atom, values: Environment) -> Atom:
    terms = (values.get(term, term) if isinstance(term, Var) else term for term in atom.terms)
    return Atom(atom.predicate, tuple(terms))  # type: ignore[arg-type]


def _compare(text: str, expected: str) -> None:
    if bare(text) != bare(expected):
        raise WrongProof(f"{text}, and should be {expected}")
