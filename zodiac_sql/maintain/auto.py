"""Strategy `auto`: which strategy is the cheapest for one hypernode and one change.

Before the work begins, only numbers of rows are known: of each input before and after the change,
and of what entered and left it. So costs are estimated as shares of a full evaluation. If rows join
evenly, a rule's work is proportional to the product of its inputs, and a share f of changed rows
costs a share f of an evaluation for each atom that reads them. Gained facts are found at that cost;
lost facts cost it to find candidates, and a share again to check them. Starting over costs the full
evaluation, and a comparison with what was there. Rules that only copy facts are not weighed: they
copy the change (steps/copied_changes.py). Rules that are products weigh it by what joins with the
change would cost (steps/compared_products.py), and a large closure in layers is compared as sets
where much moves of what it is made of (steps/closure_sets.py).

Sizes can be wrong in five cases:

* A few rows can change all that a recursive hypernode derives. So the share that it loses is
  multiplied by 2.5 times the number of facts that it holds for each fact that it reads. (Measured
  on closures: 100 of 20,000 edges, with 55 pairs for each, cost 550 ms to delete and 440 to start
  over; 1,000 of 100,000 edges, with 223 pairs for each, 19 s against 13.) Still, `support` has a
  budget: checking a fact costs about as much as deriving it, so `support` stops before it checks
  more than a certain share of the facts, and the hypernode starts over.
* One edge that a closure loses can do so, too. Where starting over seems cheaper, all pairs that
  may have led over it are taken out in one step first (steps/lost_edge.py).
* Mostly, a few rows change little. So before a hypernode starts over for them, `support` has some
  rounds with a small budget.
* Sizes do not tell what a dropped rule has derived. If the rule has more instances than the
  hypernode has facts, finding what it supported costs more than starting over without it.
* Sizes do not tell what a new rule will derive. So it is tried, and if it brings more facts than
  there were, the hypernode starts over: most of the work is still to come then, and evaluation does
  it faster (the closure of RS2's p11, from 400 to 40,200 facts: 160 ms against 330). It is not even
  tried if it joins what the hypernode derives with itself, and has many times as many instances.
  (p(X, Z) :- p(X, Y), p(Y, Z). comes to a closure of 460,000 pairs: 2.5 s instead of 26.)
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from zodiac_sql.language.syntax import Aggregate, Rule
from zodiac_sql.maintain.candidates import candidates, is_sure
from zodiac_sql.maintain.contract import Anew, Maintained, Task
from zodiac_sql.maintain.recompute import recompute
from zodiac_sql.maintain.steps.closure_sets import moved_in_sets
from zodiac_sql.maintain.steps.compared_products import compare_products
from zodiac_sql.maintain.steps.copied_changes import copy_changes
from zodiac_sql.maintain.steps.lost_edge import loses_one_edge
from zodiac_sql.maintain.steps.overdelete import FEWEST_READ_OFTEN
from zodiac_sql.maintain.steps.working_table import TooMuch
from zodiac_sql.maintain.support import support, support_without_an_edge
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Version, whole
from zodiac_sql.sql.relations import Relation
from zodiac_sql.sql.select import compile_rule
from zodiac_sql.storage.edits import Delta
from zodiac_sql.storage.sources import Sources

COMPARISON_COST = 0.2
"""What comparing the new tables with the old costs, as a share of evaluating."""

LARGEST_NOT_WEIGHED = 15_000
"""Do not weigh incremental work against starting over if a hypernode reads and holds at most this
many rows: the work then costs statements, not rows."""

SHARE_CHECKED = 0.3
"""The share of a hypernode's facts that may be checked before it starts over."""

MOST_SLIGHT, FEWEST_CHECKED, MOST_ROUNDS = 10, 600, 8
"""Where starting over seems cheaper, see first what a change of so few facts does, as long as it is
a hundredth of a hypernode's facts, or so many, that are checked, in at most so many rounds. (An
axiom of an EL terminology with 335,000 derived facts, of which one moves: 5 to 28 ms, not 500.)"""

FACTS_A_ROUND = 15_000
"""Fewer rounds than that where a hypernode has few facts: a round, then, for so many of them."""

MOST_OF_A_SQUARE = 10
"""A new rule that joins what its hypernode derives with itself is tried if it has at most so many
times as many instances as there are facts."""

MOST_JOINS_PLANNED = 400
"""Evaluate a hypernode anew if a change would need more joins than this for one of its rules: each
atom that the change reaches is joined with all others. DuckDB takes a minute to plan the joins of a
rule of 100 atoms over one predicate, even for a few rows."""

SHARE_ADDED = 0.15
"""The share of a recursive hypernode's facts that a change of facts may add before it starts over.
(Measured on the closure of chains and trees, 4.6 million facts: adding 1.5 million in rounds takes
9.5 s, evaluating all 2.5.)"""

SHARE_IN_SETS = 0.0004
"""The share of what a large closure reads that must move before its sets are compared, if it is in
layers; what leaves counts twice. (Measured on 22 million pairs: sets take 1.2 to 1.5 s, rounds
0.9 to 2.5 for 10 of 100,000 edges that leave, and 0.7 to 2.0 for 30 that enter.)"""

FEWEST_THAT_LOSE, FEWEST_THAT_GAIN = 500_000, 5_000_000
"""Sets are compared for closures of at least so many facts. Rounds add sooner what enters smaller
ones: 0.18 s, not 0.31, for 100 of 20,000 edges and a million pairs."""

CLOSURE_GROWS_BY = 30
"""Multiply by this the share that a large closure along another relation gains. (Measured on 22
million pairs: 1 % of new edges cost 7 s of CPU in rounds, 10 % 20; evaluating all costs 6.)"""


def auto(task: Task) -> tuple[Maintained, str, str]:
    """Maintain a hypernode by the cheapest strategy: the outcome, the strategy's name, and why."""
    if done := copy_changes(task):
        return done, "copies", "its rules copy the facts of one predicate"
    if done := compare_products(task):
        return done, "products", "what it derives is found sooner than what has changed of it"
    own = _own(task)
    incremental, full, lost = _costs(task, own)
    why = _estimated(incremental, full)
    if _much_moves(task, own) and (done := moved_in_sets(task)):
        return done, "recompute", "much of the relation moves that its paths are along"
    if many := _with_many_instances(task, own):
        return _again(task, many)
    if task.hypernode.recursive and not task.ranked:
        return _again(task, "its tables have no ranks that may be relied upon")
    growth = own if task.heritage else max(int(own * SHARE_ADDED), LARGEST_NOT_WEIGHED)
    if incremental > full:
        return _before_starting_over(task, own, growth, why)
    if incremental == 0 and (joins := _joins(task)) > MOST_JOINS_PLANNED:
        return _again(task, f"one of its rules would have {joins:,} joins")
    budget = max(int(own * SHARE_CHECKED), LARGEST_NOT_WEIGHED)
    if not task.hypernode.recursive and lost * own > budget and not is_sure(task):
        return _again(task, f"{why}, but about {int(lost * own):,} facts may be lost")
    try:
        if not task.hypernode.recursive:
            return candidates(task, budget), "candidates", why
        return support(task, budget, growth), "support", why
    except TooMuch as error:
        return _again(task, f"{why}, but {error}")


def _before_starting_over(
    task: Task, own: int, growth: int, why: str
) -> tuple[Maintained, str, str]:
    """Maintain a hypernode that is better evaluated anew if as much is lost as may be.

    A change of few facts may be lucky: mostly, little depends on them.
    """
    if loses_one_edge(task):
        try:
            return support_without_an_edge(task, growth), "support", f"{why}, but one edge is lost"
        except TooMuch as error:
            why = f"{why}, and {error}"
    if _is_slight(task):
        try:
            rounds = min(1 + own // FACTS_A_ROUND, MOST_ROUNDS)
            done = support(task, max(own // 100, FEWEST_CHECKED), growth, rounds)
            return done, "support", f"{why}, but few facts depend on the change"
        except TooMuch as error:
            why = f"{why}, and {error}"
    return _again(task, why)


def _much_moves(task: Task, own: int) -> bool:
    """Whether so much moves of what a large closure is made of that rounds cost more than sets."""
    left = sum(delta.deleted.rows for delta in task.deltas.values())
    if own < (FEWEST_THAT_LOSE if left else FEWEST_THAT_GAIN) or not task.forms.along:
        return False
    moved = 2 * left + sum(delta.inserted.rows for delta in task.deltas.values())
    read = sum(task.inputs(name, Version.ALL).rows for name in task.hypernode.reads)
    return moved >= SHARE_IN_SETS * read


def _is_slight(task: Task) -> bool:
    """Whether a change of a recursive hypernode is so small that it may be lucky."""
    moved = sum(d.deleted.rows + d.inserted.rows for d in task.deltas.values())
    return task.hypernode.recursive and not task.heritage and moved <= MOST_SLIGHT


def _again(task: Task, why: str) -> tuple[Maintained, str, str]:
    """Evaluate the hypernode anew, or let it be done with something else at work in it."""
    if task.reconsiders:
        raise Anew(why)
    if done := compare_products(task, starts_over=True):
        return done, "products", why
    return recompute(task), "recompute", why


def starts_over(task: Task) -> str:
    """Why starting over is cheaper by sizes alone; an empty text if it is not."""
    incremental, full, _ = _costs(task, _own(task))
    return _estimated(incremental, full) if incremental > full else ""


def _own(task: Task) -> int:
    """How many facts the hypernode holds."""
    return sum(part.rows for p in task.hypernode.derives if (part := task.stored(p)))


def _estimated(incremental: float, full: float) -> str:
    return f"estimated {incremental:.2g} of an evaluation, starting over {full:.2g}"


def _with_many_instances(task: Task, own: int) -> str:
    """Says which dropped or new rule has too many instances for incremental work; else nothing.

    A new rule that joins what the hypernode derives with itself may have been left out when this
    was evaluated (by a module): then its join would be all of the work.
    """
    if not task.heritage:
        return ""
    most = max(own, LARGEST_NOT_WEIGHED)
    squares = [
        rule
        for rule in task.heritage.new
        if sum(atom.predicate in task.hypernode.derives for atom in rule.positive_atoms()) > 1
    ]
    weighed = [(rule, task.before, most) for rule in task.heritage.lost]
    weighed += [(rule, task.after, MOST_OF_A_SQUARE * most) for rule in squares]
    for rule, sources, limit in weighed:
        if _instances(task, rule, sources, limit) > limit:
            return f"rule {rule.name} has over {limit:,} instances"
    return ""


def _instances(task: Task, rule: Rule, sources: Sources, most: int) -> int:
    """How many instances a rule has over some sources. Counting stops if there are more than
    `most`.
    """
    plan = whole(rule, Version.BEFORE)

    def relation(name: str, version: Version) -> Relation:
        return sources.relation(name)

    context = task.context(relation)
    if is_empty(plan, context):
        return 0
    some = compile_rule(plan, task.schema[rule.head.predicate].columns, context).query
    some = some.limit(most + 1)
    return task.store.count(
        exp.select(exp.Count(this=exp.Star())).from_(some.subquery("i", copy=False))
    )


def _joins(task: Task) -> int:
    """The most joins that one rule needs, if each atom that changes is joined with all others."""
    bodies = [[atom.predicate for atom in r.positive_atoms()] for r in task.hypernode.rules]
    return max(len(body) * sum(name in task.deltas for name in body) for body in bodies)


def _costs(task: Task, own: int) -> tuple[float, float, float]:
    """The costs of incremental work and of starting over, and the share of it that may be lost.

    The unit is an evaluation before the change.
    """
    before = {name: task.inputs(name, Version.BEFORE).rows for name in task.hypernode.reads}
    after = {name: task.inputs(name, Version.ALL).rows for name in task.hypernode.reads}
    if own + max(sum(before.values()), sum(after.values())) <= LARGEST_NOT_WEIGHED:
        return 0.0, 1.0, 0.0
    shares = [_rule_costs(task, rule, before, after) for rule in task.hypernode.rules]
    lost = max(lost for lost, _, _ in shares)
    if task.hypernode.recursive:
        lost *= max(2.5 * own / max(sum(before.values()), 1), 1.0)
    gained = max(gained for _, gained, _ in shares)
    if own >= FEWEST_READ_OFTEN and task.forms.along:
        gained *= CLOSURE_GROWS_BY
    growth = max(growth for _, _, growth in shares)
    incremental = lost + min(lost, 1.0) * growth + gained * growth
    return incremental, growth + COMPARISON_COST, min(lost, 1.0)


def _rule_costs(
    task: Task, rule: Rule, before: Mapping[str, int], after: Mapping[str, int]
) -> tuple[float, float, float]:
    """Shares of a rule's derivations that are lost and gained, and the factor of their growth."""
    growth, lost, gained = 1.0, 0.0, 0.0
    for atom in rule.positive_atoms():
        name = atom.predicate
        if name not in task.hypernode.derives:  # else mostly its own facts, not known yet
            growth *= after[name] / max(before[name], 1)
        delta = task.deltas.get(name)
        if delta is not None:
            lost += delta.deleted.rows / max(before[name], 1)
            gained += delta.inserted.rows / max(after[name], 1)
    # What a negated fact refutes is at most what one fact of a positive atom takes part in.
    among = max((before[atom.predicate] for atom in rule.positive_atoms()), default=1)
    for name in rule.negative():
        delta = task.deltas.get(name)
        if delta is not None and any(isinstance(literal, Aggregate) for literal in rule.body):
            touched = _touched(task, rule, delta)
            lost, gained = lost + touched, gained + touched
        elif delta is not None:
            lost += delta.inserted.rows / max(among, before[name], 1)
            gained += delta.deleted.rows / max(among, before[name], 1)
    return lost, gained, growth


def _touched(task: Task, rule: Rule, delta: Delta) -> float:
    """The share of an aggregate's groups that a change may reach, one for each changed fact.

    These groups are computed as they were, and as they are.
    """
    stored = task.stored(rule.head.predicate)
    changed = delta.inserted.rows + delta.deleted.rows
    return min(changed / stored.rows, 1.0) if stored else 0.0
