"""How long each of several rules of a hypernode takes.

Where rules depend on each other, one statement applies several of them, and no clock tells them
apart. So each body is evaluated once by itself, over all that holds in the end. A loop finds the
same instances, in many parts; so the times tell which rule has most to do, and their sum is not
what the hypernode took.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from zodiac_sql.change.rule_stats import written_as
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import distinct, drop
from zodiac_sql.evaluate.rule_errors import evaluating
from zodiac_sql.evaluate.run_plans import Target, apply_plans
from zodiac_sql.graph.hypergraph import Hypernode
from zodiac_sql.language.syntax import Rule
from zodiac_sql.read.explain.work import RuleTime
from zodiac_sql.read.verify.expected import types_inside
from zodiac_sql.read.verify.work import VerifiedFile
from zodiac_sql.rewrite.rewritten_hypernode import Inner
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import whole
from zodiac_sql.storage.sources import inside

_BODY = "body_by_itself"
"""The temporary table of what one body derives."""


def times_of_bodies(
    work: VerifiedFile, hypernode: Hypernode, inner: Inner
) -> Mapping[str, RuleTime]:
    """The times of a hypernode's bodies, by the names of its rules.

    Where a module or a tree evaluates others in the place of a rule, it takes what these take
    together. A rule in whose place there is none is left out.
    """
    sources = inside(work.wanted, inner, hypernode.id)
    context = Context(
        relation=lambda name, version: sources.relation(name),
        columns=types_inside(work, inner),
        functions=work.functions,
        ids=work.ids,
        datatypes=work.datatypes,
    )
    names = [rule.name for rule in hypernode.rules]
    found: dict[str, list[tuple[str, float, int]]] = defaultdict(list)
    for rule in inner.hypernode.rules:
        written = written_as(rule.name, names)
        found[written].append((rule.name, *_of_body(work, inner, rule, context)))
    return {name: _together(name, bodies) for name, bodies in found.items()}


def _together(name: str, bodies: Sequence[tuple[str, float, int]]) -> RuleTime:
    """What the rules take that are evaluated for one. A tree's join has the name of that rule."""
    facts = [rows for rule, _, rows in bodies if rule == name or len(bodies) == 1]
    ms = sum(ms for _, ms, _ in bodies)
    return RuleTime(name, ms, facts[0] if facts else None, "body")


def _of_body(work: VerifiedFile, inner: Inner, rule: Rule, context: Context) -> tuple[float, int]:
    """How many milliseconds a body takes, and how many facts it derives."""
    plan = whole(rule)
    if is_empty(plan, context):
        return 0.0, 0
    columns = work.known(inner)[rule.head.predicate].columns
    started = time.perf_counter()
    with evaluating([rule]):
        target = Target(_BODY, columns, "body", distinct)
        rows = apply_plans(Runner(work.store), [plan], context, target)
    took = 1000 * (time.perf_counter() - started)
    work.store.run(drop(_BODY))
    return took, rows
