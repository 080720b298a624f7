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
from zodiac_sql.database.statements import distinct
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.run_plans import apply_plans, product_in
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.operators.products import cost_of_joins
from zodiac_sql.maintain.papers.marking import marked_among
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.weighed import PATIENCE, Maintains, Weighed
from zodiac_sql.names import CHANGE_FACTS
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.duplicates import is_injective
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version, candidate_check
from zodiac_sql.sql.product import Bits, Product
from zodiac_sql.sql.relations import Part, Relation, columns_of, relation_query, source
from zodiac_sql.sql.set_difference import absent, unknown
from zodiac_sql.storage.edits import Edit


def candidates(task: Task, budget: int | None = None) -> Maintained | Declined:
    """Maintain a hypernode of one rule that does not depend on itself.

    Declines before more facts than `budget` would be checked.
    """
    (rule,) = task.hypernode.rules
    task = with_touched_groups(task)
    lost = _deleted(task, rule, budget)
    if isinstance(lost, Declined):
        return lost
    deleted, work = lost
    inserted = _inserted(task, rule)
    rows = inserted.rows if inserted else 0
    marked = marked_among(task, rule.head.predicate, [inserted])
    work = work.plus(
        forward=rows, insertions=rows, marked=sum(part.rows for part in marked.values()),
        iterations=1,
    )  # fmt: skip
    edit = Edit(inserted, deleted, deleted, inserted)
    edits = {rule.head.predicate: edit} if edit else {}
    return Maintained(edits, work, "candidates", task.ranked, marked)


def _deleted(task: Task, rule: Rule, budget: int | None) -> tuple[Part | None, Work] | Declined:
    """The facts that the rule derived and derives no longer."""
    predicate = rule.head.predicate
    sure = is_sure(task)
    context = task.context(partial(_not_seen, task) if sure else task.inputs)
    plans = _solvable(task.losses(), context)
    stored = task.stored(predicate)
    if not plans or stored is None:
        return None, Work()
    name = f"{CHANGE_FACTS}minus_{task.stem(predicate)}"
    found = name if sure else f"cand_{task.stem(predicate)}"
    columns = task.schema[predicate].columns
    marked = task.marking.given.get(predicate)
    rows = apply_plans(
        task.store,
        task.cache,
        plans,
        context,
        key=("lost", marked is not None),
        columns=columns,
        table=found,
        shape=lambda heads: _with_marked(task, predicate, heads, marked),
    )
    by_rules = rows - (marked.rows if marked else 0)
    work = Work(checked=rows, forward=by_rules, deletions=by_rules)
    if not rows or sure:
        return _part(found, rows), work
    if budget is not None and rows > budget:
        return Declined(f"{rows:,} facts may have lost their derivation")
    part = Part("temp", found, rows)
    left = _without_derivation(task, rule, part, name)
    return left, work.plus(backward=rows - (left.rows if left else 0))


def _not_seen(task: Task, name: str, version: Version) -> Relation:
    """What a scan of an input reads: no deleted facts whose heads are marked already.

    When such a fact entered, all of its heads were new, because each fact has one derivation. And
    all of them were marked, because the fact itself was.
    """
    relation = task.inputs(name, version)
    if not task.marking.known or version is not Version.DELETED:
        return relation
    parts = (replace(p, marks="earlier") if p.marks == "all" else p for p in relation.parts)
    return replace(relation, parts=tuple(parts))


def _with_marked(
    task: Task, predicate: str, heads: exp.Query | None, marked: Part | None
) -> exp.Select:
    """The heads that were found, and those known from the start because they are marked."""
    if marked is None:
        return distinct(heads)
    assert heads is not None
    relation = Relation(task.schema[predicate].columns, (marked,))
    both = exp.union(heads, relation_query(relation), distinct=True, copy=False)
    return exp.select(exp.Star()).from_(both.subquery("u", copy=False))


def _without_derivation(task: Task, rule: Rule, candidates_: Part, name: str) -> Part | None:
    """The candidates that the rule does not derive any more."""
    columns = task.schema[rule.head.predicate].columns
    given = Relation(columns, (candidates_,))

    def relation(predicate: str, version: Version) -> Relation:
        return given if version is Version.CANDIDATE else task.inputs(predicate, version)

    context = task.context(relation)
    plan, product = _check(task, rule, candidates_, context)
    plans = _solvable([plan], context)

    def left(heads: exp.Query | None) -> exp.Query:
        query = exp.select(*columns_of(given, "c"))
        return absent(query.from_(source(given, "c")), given, heads)

    rows = apply_plans(
        task.store,
        task.cache,
        plans,
        context,
        key=("left", relation_key(given)),
        columns=columns,
        table=name,
        shape=left,
        product=product,
    )
    return _part(name, rows)


def _check(
    task: Task, rule: Rule, candidates_: Part, context: Context
) -> tuple[Plan, tuple[Product, Bits] | None]:
    """The plan that finds which candidates the rule derives, and how it is evaluated as a product.

    It goes through these; or finds all heads, where a product does that sooner (cost/products.py).
    """
    everything = task.whole(rule, Version.ALL)
    product = product_in(task.cache, everything, context)
    if product and (bits := checks_sooner(task.store, product, context, candidates_.rows)):
        return everything, (product, bits)
    return task.cache.get(("check", rule.name), lambda: candidate_check(rule)), None


def _inserted(task: Task, rule: Rule) -> Part | None:
    """The facts that the rule derives and did not derive."""
    predicate = rule.head.predicate
    context = task.context(task.marked_inputs)
    plans = _solvable(task.gains(), context)
    if not plans:
        return None
    stored = task.stored(predicate)
    sure = is_sure(task)
    columns = task.schema[predicate].columns
    known = Relation(columns, (stored,) if stored and not sure else ())
    name = f"{CHANGE_FACTS}plus_{task.stem(predicate)}"
    marked = bool(task.marking.next)
    rows = apply_plans(
        task.store,
        task.cache,
        plans,
        context,
        key=("gained", relation_key(known)),
        columns=columns,
        table=name,
        shape=lambda heads: unknown(heads, known, marked=marked),
        marked=marked,
        grows=True,
    )
    return Part("temp", name, rows, marks="some" if marked else None) if rows else None


def is_sure(task: Task) -> bool:
    """Whether each fact has exactly one derivation, and so comes and goes with it.

    That is not enough if marks have passed through derived facts: a marked fact may stay then.
    """
    if (task.heritage and task.heritage.lost) or (task.marking.given and task.marking.implicit):
        return False
    (rule,) = task.hypernode.rules
    head, context = task.schema[rule.head.predicate].columns, task.context(task.inputs)
    return task.cache.get(("injective", rule.name), lambda: is_injective(rule, head, context))


def _solvable(plans: list[Plan], context: Context) -> list[Plan]:
    return [plan for plan in plans if not is_empty(plan, context)]


def _part(name: str, rows: int) -> Part | None:
    return Part("temp", name, rows) if rows else None


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


def _run(weighed: Weighed, next_ms: float) -> Maintained | Declined:
    return candidates(weighed.task, weighed.facts_within(PATIENCE * next_ms))


CANDIDATES: Maintains = Operator(
    "candidates",
    lambda weighed: weighed.is_plain and not weighed.task.hypernode.recursive,
    _cost,
    _run,
)
