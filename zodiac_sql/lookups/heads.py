"""The heads of bodies that a statement finds: those that may be lost, and those that are won."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from zodiac_sql.lookups.body import LookupBody, Scope
from zodiac_sql.lookups.rule_forms import RuleForm
from zodiac_sql.lookups.tables import FACT, RANK, has


def derived_heads(scope: Scope, form: RuleForm, body: LookupBody, below: bool) -> None:
    """Only heads that the hypernode has derived, each as t.

    `below` asks that the driver, which has a rank, comes before them: what derives a fact does.
    """
    copy = scope.copies[form.rule.head.predicate]
    body.test(form.body.filters)
    body.where += [*body.same(form.rule.head, "t"), has("t", copy.bits[scope.number])]
    if below:
        body.where.append(exp.column(RANK, table="t") > exp.column(RANK, table=body.driver))
    body.items.append(copy.table(FACT, "t"))


def new_heads(scope: Scope, form: RuleForm, body: LookupBody) -> Sequence[exp.Expr]:
    """Only heads that the hypernode has not derived. Returns their values."""
    head = form.rule.head
    copy = scope.copies[head.predicate]
    body.test(form.body.filters)
    body.refuse(form.body.negations)
    there = exp.select("1").from_(copy.table(FACT, "t"))
    there = there.where(*body.same(head, "t"), has("t", copy.bits[scope.number]), copy=False)
    body.where.append(exp.not_(exp.Exists(this=there)))
    return [body.value(term) for term in head.terms]
