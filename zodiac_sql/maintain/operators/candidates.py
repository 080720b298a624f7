"""Strategy of hypernodes that are not recursive: find candidates, and check each once.

A fact can only be lost if the change destroys one of its derivations. So the destroyed derivations
are looked for in the inputs as they were, and each of their heads is checked once for another
derivation from the inputs as they are. A fact is gained where the change makes a derivation of what
was not there. (Paper 2, Algorithm 3, lines for non-recursive rules; paper 1, section 4.4.3.)
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf

from sqlglot import exp

from zodiac_sql.cost.calibration import DERIVED, PLANNED_JOIN, STATEMENT
from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.cost.products import checks_sooner
from zodiac_sql.database.runner import Runner
from zodiac_sql.database.statements import distinct, union_all
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.run_plans import Target, apply_plans, found_by, product_in
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.operators.products import cost_of_joins
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.steps.change_plans import gains, losses, whole_plan
from zodiac_sql.maintain.weighed import PATIENCE, Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.duplicates import is_injective
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan, Version, candidate_check
from zodiac_sql.sql.product import Bits, Product
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query, source
from zodiac_sql.sql.set_difference import absent, unknown
from zodiac_sql.storage.edits import Edit


def candidates(
    task: Task, budget: int | None = None, also: Part | None = None
) -> Maintained | Declined:
    """Maintain a hypernode of one rule that does not depend on itself.

    Declines before more facts than `budget` would be checked. Some facts may be candidates `also`
    if no rule finds them.
    """
    (rule,) = task.hypernode.rules
    task = with_touched_groups(task)
    lost = _deleted(task, rule, budget, also)
    if isinstance(lost, Declined):
        return lost
    deleted, work = lost
    inserted = _inserted(task, rule)
    rows = inserted.rows if inserted else 0
    work = work.plus(forward=rows, insertions=rows, iterations=1)
    edit = Edit(inserted, deleted, deleted, inserted)
    edits = {rule.head.predicate: edit} if edit else {}
    return Maintained(edits, work, "candidates", task.former.ranked)


def _deleted(
    task: Task, rule: Rule, budget: int | None, also: Part | None
) -> tuple[Part | None, Work] | Declined:
    """The facts that the rule derived and derives no longer."""
    predicate = rule.head.predicate
    sure = is_sure(task) and also is None
    plans = solvable(losses(task), task.context)
    if not plans or task.former.stored(predicate) is None:
        return None, Work()
    columns = task.columns(predicate)
    given = Relation(columns, (also,) if also else ())

    def each_once(heads: exp.Query | None) -> exp.Query:
        assert heads is not None
        return distinct(union_all([heads, relation_query(given)]) if also else heads)

    name = f"{CHANGE_FACTS}minus_{task.stem(predicate)}"
    table = name if sure else f"cand_{task.stem(predicate)}"
    target = Target(table, columns, ("lost", relation_key(given)), each_once)
    found = found_by(task.runner, plans, task.context, target)
    if found is None:
        return None, Work()
    work = Work(checked=found.rows, forward=found.rows, deletions=found.rows)
    if sure:
        return found, work
    if budget is not None and found.rows > budget:
        return Declined(f"{found.rows:,} facts may have lost their derivation")
    left = _without_derivation(task, rule, found, name)
    return left, work.plus(backward=found.rows - (left.rows if left else 0))


def _without_derivation(task: Task, rule: Rule, candidates_: Part, name: str) -> Part | None:
    """The candidates that the rule does not derive any more."""
    columns = task.columns(rule.head.predicate)
    given = Relation(columns, (candidates_,))

    def relation(predicate: str, version: Version) -> Relation:
        return given if version is Version.CANDIDATE else task.context.relation(predicate, version)

    context = replace(task.context, relation=relation)
    plan, product = _check(task.runner, rule, candidates_, context)
    plans = solvable([plan], context)

    def left(heads: exp.Query | None) -> exp.Query:
        query = exp.select(*columns_of(given, "c"))
        return absent(query.from_(source(given, "c")), given, heads)

    target = Target(name, columns, ("left", relation_key(given)), left)
    rows = apply_plans(task.runner, plans, context, target, product=product)
    return Part("temp", name, rows) if rows else None


def _check(
    runner: Runner, rule: Rule, candidates_: Part, context: Context
) -> tuple[Plan, tuple[Product, Bits] | None]:
    """The plan that finds which candidates the rule derives, and how it is evaluated as a product.

    It goes through these; or finds all heads, where a product does that sooner (cost/products.py).
    """
    everything = whole_plan(runner.cache, rule, Version.ALL)
    product = product_in(runner.cache, everything, context)
    if product and (bits := checks_sooner(runner.store, product, context, candidates_.rows)):
        return everything, (product, bits)
    return runner.cache.get(("check", rule.name), lambda: candidate_check(rule)), None


def _inserted(task: Task, rule: Rule) -> Part | None:
    """The facts that the rule derives and did not derive."""
    predicate = rule.head.predicate
    plans = solvable(gains(task), task.context)
    if not plans:
        return None
    stored, columns = task.former.stored(predicate), task.columns(predicate)
    known = Relation(columns, (stored,) if stored and not is_sure(task) else ())
    name = f"{CHANGE_FACTS}plus_{task.stem(predicate)}"
    key = ("gained", relation_key(known))
    target = Target(name, columns, key, partial(unknown, known=known), grows=True)
    return found_by(task.runner, plans, task.context, target)


def is_sure(task: Task) -> bool:
    """Whether each fact has exactly one derivation, and so comes and goes with it."""
    if (heritage := task.former.heritage) and heritage.lost:
        return False
    (rule,) = task.hypernode.rules
    head, key = task.columns(rule.head.predicate), ("injective", rule.name)
    return task.runner.cache.get(key, lambda: is_injective(rule, head, task.context))


def _cost(weighed: Weighed) -> Cost:
    """By joins with what has changed, as shares of an evaluation or as rows of these joins."""
    if weighed.many_instances:
        return Cost(inf, weighed.many_instances)
    ms = cost_of_joins(weighed)
    if ms is None:
        ms, lost = weighed.incremental, weighed.shares.lost * weighed.held
        if lost * DERIVED > PATIENCE * weighed.anew and not is_sure(weighed.task):
            return Cost(inf, f"about {int(lost):,} facts may be lost")
    statements = 3 + 2 * weighed.loses
    return Cost(STATEMENT * statements + PLANNED_JOIN * weighed.joins + ms, "not recursive")


def run_candidates(
    weighed: Weighed, next_ms: float, also: Part | None = None
) -> Maintained | Declined:
    """Maintain it unless that takes much of what the next operator would take."""
    return candidates(weighed.task, weighed.facts_within(PATIENCE * next_ms), also)


CANDIDATES: Maintains = Operator(
    "candidates",
    lambda weighed: weighed.is_plain and not weighed.task.hypernode.recursive,
    _cost,
    run_candidates,
)
