"""Checks: which candidates does a rule still derive?

Each candidate is looked for by itself, up to the first body that derives it:

    p25(X, Z) :- p11(X, Y), p12(Y, Z), not p5(Y, Z).    one Z, 200 X: 200 times all Y of that Z

Where many candidates have few values in common, what these lead to is looked up once: the values
of the atom that comes first, without those that a negation or a comparison refuses, or with which
another atom finds nothing at all. (RS2, one fact of p5: 0.3 ms instead of 9.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from zodiac_sql.language.binding import needed
from zodiac_sql.language.syntax import Atom, Comparison, Negation, Variable
from zodiac_sql.lookups.body import LookupBody, Scope, Seen
from zodiac_sql.lookups.rule_forms import RuleForm
from zodiac_sql.lookups.tables import LOST, render

_SHARED = "shared"


@dataclass(frozen=True, slots=True)
class CheckAtOnce:
    """A check of many candidates at once: statements, and how many facts each value leads to."""

    count_values: str
    found: float
    text: str

    def pays(self, candidates: int, values: int) -> bool:
        """Whether it finds at most two facts for each candidate.

        A candidate by itself is looked up at least once, and perhaps as often as `found`.
        """
        return values * self.found <= 2 * candidates


@dataclass(frozen=True, slots=True)
class Check:
    """How candidates are taken back that a rule still derives."""

    rule: str
    one_by_one: str
    together: CheckAtOnce | None


def check_of(scope: Scope, form: RuleForm) -> Check:
    """The check of one rule."""
    seen = Seen.LOWER if scope.recursive else Seen.NOW
    found = derivation(scope, form, LOST, seen)
    return Check(form.rule.name, render(_deletion(scope, form, found)), _together(scope, form))


def derivation(scope: Scope, form: RuleForm, source: str, seen: Seen) -> exp.Select:
    """The bodies that derive a fact of a small table, for use in EXISTS."""
    body = _of_head(scope, form, source)
    body.join(form.body.atoms, seen)
    body.test(form.body.filters)
    body.refuse(form.body.negations)
    return body.select([exp.Literal.number(1)])


def _of_head(scope: Scope, form: RuleForm, source: str) -> LookupBody:
    """A body whose head is a row of a small table."""
    head = form.rule.head
    body = LookupBody(scope, form.body.steps)
    body.driver = scope.copies[head.predicate].name(source)
    body.bind(head, body.driver, None)
    return body


def _deletion(scope: Scope, form: RuleForm, found: exp.Select) -> exp.Delete:
    """Candidates that a body still derives are none."""
    lost = exp.table_(scope.copies[form.rule.head.predicate].name(LOST))
    return exp.delete(lost).where(exp.Exists(this=found))


# --- many at once ---------------------------------------------------------------------------------


def _together(scope: Scope, form: RuleForm) -> CheckAtOnce | None:
    """The check of many candidates at once, if the first atom has some values of theirs, not all.

    In a recursive hypernode, what counts depends on the rank of each candidate. Rules with new
    values are not looked at.
    """
    atoms = form.body.atoms
    if scope.recursive or len(atoms) < 2 or form.body.steps:
        return None
    head = _of_head(scope, form, LOST)
    first = head.next_of(atoms)
    keys = [name for name in _names(first) if name in head.known]
    if not keys or len(keys) == len(head.known):
        return None
    values, found = _values(head, keys), head.found(first)
    shared, rest = _shared(scope, form, first, keys, values)
    statement = _deletion(scope, form, _rest(head, form, first, rest))
    alias = exp.TableAlias(this=exp.to_identifier(_SHARED))
    cte = exp.CTE(this=shared, alias=alias, materialized=True)
    statement.set("with_", exp.With(expressions=[cte]))
    count = exp.select(exp.Count(this=exp.Star())).from_(values.copy().subquery("d", copy=False))
    return CheckAtOnce(render(count), found, render(statement))


def _values(head: LookupBody, keys: Sequence[str]) -> exp.Select:
    """The values that candidates have for some variables."""
    columns = [head.known[name].copy().as_(f"k{place}") for place, name in enumerate(keys)]
    return exp.select(*columns).distinct().from_(exp.table_(head.driver))


_Tests = tuple[list[Comparison], list[Negation]]


def _shared(
    scope: Scope, form: RuleForm, first: Atom, keys: Sequence[str], values: exp.Select
) -> tuple[exp.Select, _Tests]:
    """The values of the first atom that may lead to a body, and the tests that are left then."""
    body = LookupBody(scope)
    body.items.append(values.copy().subquery(body.driver, copy=False))
    for place, name in enumerate(keys):
        body.known[name] = exp.column(f"k{place}", table=body.driver)
    body.join([first], Seen.NOW)
    tests, negations = form.body.filters, form.body.negations
    here = [test for test in tests if body.knows(needed(test))]
    body.test(here)
    refused = [n for n in negations if body.knows({*_names(n.atom)} & form.body.bound)]
    body.refuse(refused)
    new = set(_names(first)) - {*keys}
    body.require([a for a in form.body.atoms if a is not first and not new.isdisjoint(_names(a))])
    columns = [body.known[name].copy().as_(f"v{i}") for i, name in enumerate(_names(first))]
    left = [t for t in tests if t not in here], [n for n in negations if n not in refused]
    return body.select(columns), left


def _rest(body: LookupBody, form: RuleForm, first: Atom, rest: _Tests) -> exp.Select:
    """What derives a candidate, given the values that candidates share."""
    body.items.append(exp.table_(_SHARED).as_("s"))
    for place, name in enumerate(_names(first)):
        here = exp.column(f"v{place}", table="s")
        if name in body.known:
            body.where.append(here.eq(body.known[name].copy()))
        else:
            body.known[name] = here
    body.join([atom for atom in form.body.atoms if atom is not first], Seen.NOW)
    body.test(rest[0])
    body.refuse(rest[1])
    return body.select([exp.Literal.number(1)])


def _names(atom: Atom) -> Sequence[str]:
    """The variables of an atom, each once."""
    return list(dict.fromkeys(term.name for term in atom.terms if isinstance(term, Variable)))
