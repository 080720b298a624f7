"""Strategy `bf`: the Backward/Forward algorithm (paper 3, Algorithms 1 to 3), on sets of facts.

Facts that may be lost are checked before their consequences are explored: backwards, to find the
facts that can support them, and forwards, to find which of these are provable. A fact that is
proved stays, and nothing that depends on it needs to be looked at.

Where the paper handles one fact after the other, here each step is one statement for all facts of a
round. That changes the order of work, and with it three details:

* Facts known from outside the hypernode count as proved (the paper's E), and are neither checked
  nor explored; inputs of the hypernode are as they are after the change.
* A fact to be proved is first matched against all facts proved so far, which is what the paper's
  delayed facts Y are for.
* Backward exploration goes level by level, and ends in one of two ways. Either every fact with
  which the round began is proved: then the other facts that it has met are still undecided, and are
  forgotten (the paper stops at line 19, before they are met). Or there is no further level: then
  every fact that is not proved is disproved (S), for good.

The algorithm does not use ranks. It keeps them only if no fact was reached, because a fact may be
proved by facts of higher ranks.

In a stream, with marking (paper 4, Algorithm 1), the facts that the previous update has marked
count as reached from the start. A fact that is proved or added is marked if an explicit fact of the
body is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from zodiac_sql.cost.operator import certain
from zodiac_sql.database.statements import semi_join, union_all
from zodiac_sql.evaluate.cache_keys import relation_key
from zodiac_sql.evaluate.run_plans import Shape, Target, found_by
from zodiac_sql.maintain.contract import Maintained, Stopped, Task, Work
from zodiac_sql.maintain.papers.fact_sets import (
    Facts,
    Search,
    add_to_set,
    keep_unknown,
    note,
    parts_of,
    total_rows,
)
from zodiac_sql.maintain.papers.marking import NO_MARKS, Marking, with_marks
from zodiac_sql.maintain.papers.prove import among_candidates, prove_or_disprove
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.steps.change_plans import gains, losses
from zodiac_sql.maintain.steps.extend import extend
from zodiac_sql.maintain.steps.merge_tables import begun
from zodiac_sql.maintain.steps.working_table import WorkingTable, edits_of, take_out
from zodiac_sql.maintain.weighed import Maintains, is_plain_recursion
from zodiac_sql.sql.emptiness import solvable
from zodiac_sql.sql.plan import Plan
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, relation_query
from zodiac_sql.sql.set_difference import unknown


def bf(task: Task, marking: Marking = NO_MARKS) -> Maintained | Stopped:
    """Maintain a recursive hypernode by backward and forward chaining."""
    task = with_touched_groups(task)
    merges, new = task.former.merges, gains(task)
    search = Search(begun(task, ranked=task.former.ranked and merges))
    if not merges:  # a merge loses nothing
        _delete(search, losses(task), marking)
    ranked = task.former.ranked and not search.reached
    for own in search.owns.values():
        own.keeps_ranks(ranked)
    gained = extend(search.recursion, new, rederive=False)
    if not isinstance(gained, Work):
        return gained
    work = search.work.and_(gained)
    edits, _ = edits_of(task.runner, search.owns, grows=bool(new))
    done = Maintained(edits, work, "bf", ranked)
    found = {p: _found(search, own) for p, own in search.owns.items()}
    return with_marks(done, task, marking, search.recursion.inside(), found)


def _found(search: Search, own: WorkingTable) -> Relation:
    """The facts that the update has found: new ones and proved ones."""
    new = (own.added,) if own.added else ()
    return Relation(own.columns, (*new, *parts_of(search.proved, own)))


def _delete(search: Search, plans: Sequence[Plan], marking: Marking) -> None:
    """Algorithm 1: take out exactly what is no longer provable."""
    owns = search.owns
    former = {p: _seeds(own, marking) for p, own in owns.items()}
    while frontier := _frontier(search, plans, former):
        inside = _split_outside(search, frontier)
        prove_or_disprove(search, inside)
        search.work = search.work.plus(iterations=1)
        for predicate, own in owns.items():
            own.hands_on(_gone(search, own, inside.get(predicate)))
        plans = search.recursion.onwards()
        former = {}
    _take_out_doubtful(search)


def _seeds(own: WorkingTable, marking: Marking) -> Relation:
    """What is reached from the start: facts that no longer come from outside, and marked ones."""
    marked = marking.given.get(own.predicate)
    return Relation(own.columns, (*own.outside_delta.deleted.parts, *((marked,) if marked else ())))


def _frontier(search: Search, plans: Iterable[Plan], former: dict[str, Relation]) -> Facts:
    """Create `frontier_*`: own facts that lost a derivation, and were not reached yet (line 9)."""
    context = search.recursion.inside(undeleted=True)
    found: Facts = {}
    for own in search.owns.values():
        mine = solvable(plans, context, own.predicate)
        extra = former.get(own.predicate, Relation(own.columns, ()))
        if own.stored is not None and (mine or extra.rows):
            known = Relation(own.columns, parts_of(search.reached, own))
            key = ("frontier", relation_key(known), relation_key(extra))
            shape = _reaching(own, extra, known)
            target = Target(f"frontier_{own.stem}", own.columns, key, shape)
            note(found, own, found_by(search.recursion.runner, mine, context, target))
    for own in search.owns.values():
        add_to_set(search, search.reached, "reached", own, found.get(own.predicate))
    search.work = search.work.plus(forward=total_rows(found), deletions=total_rows(found))
    return found


def _reaching(own: WorkingTable, extra: Relation, known: Relation) -> Shape:
    """The stored facts among the heads that are found and among `extra`, without known ones."""
    stored = own.stored
    assert stored is not None

    def shape(heads: exp.Query | None) -> exp.Query:
        queries = [] if heads is None else [heads]
        if extra.rows:
            queries.append(relation_query(extra))
        rows = unknown(union_all(queries), known)
        columns = columns_of(known, "t")
        there = part_query(stored, known)
        facts = exp.select(*columns).from_(there.subquery("t", copy=False))
        return semi_join(facts, columns, rows.subquery(copy=False))

    return shape


def _split_outside(search: Search, frontier: Facts) -> Facts:
    """The facts reached that are not known from outside; the others are proved, but doubtful."""
    inside: Facts = {}
    for predicate, part in frontier.items():
        own = search.owns[predicate]
        if not own.outside.rows:
            inside[predicate] = part
            continue
        known = own.outside
        note(inside, own, keep_unknown(search, own, part, known, f"inside_{own.stem}"))
        among = Relation(own.columns, parts_of(inside, own))
        if among.rows < part.rows:
            both = keep_unknown(search, own, part, among, f"both_{own.stem}")
            add_to_set(search, search.doubtful, "doubtful", own, both)
    return inside


# --- what is gone ---------------------------------------------------------------------------------


def _gone(search: Search, own: WorkingTable, facts: Part | None) -> Part | None:
    """Take out those facts of a round that are not proved: the next round propagates these."""
    if facts is None:
        return None
    known = Relation(own.columns, parts_of(search.proved, own))
    lost = keep_unknown(search, own, facts, known, f"lost_{own.stem}")
    if lost is not None:
        take_out(search.recursion.runner, own, lost)
        search.work = search.work.plus(overdeleted=lost.rows)
    return lost


def _take_out_doubtful(search: Search) -> None:
    """Take out those facts known from outside that no rule derives any more.

    The extension does not change by that, so one look at what holds now is enough.
    """
    lost: Facts = {}
    for own in search.owns.values():
        part = search.doubtful.get(own.predicate)
        if part is None:
            continue
        own.is_checked_for(part)
        context = search.recursion.inside()
        plans = solvable(search.recursion.checks(own.predicate), context)
        target = Target(f"held_{own.stem}", own.columns, "held", among_candidates(own, part))
        held = found_by(search.recursion.runner, plans, context, target) if plans else None
        known = Relation(own.columns, (held,) if held else ())
        note(lost, own, keep_unknown(search, own, part, known, f"lost_{own.stem}"))
        search.work = search.work.plus(backward=part.rows)
    for own in search.owns.values():
        if own.predicate in lost:
            take_out(search.recursion.runner, own, lost[own.predicate])


def bf_with(marking: Marking) -> Maintains:
    """The operator, by what is marked."""
    return certain("bf", "as chosen", is_plain_recursion, lambda weighed: bf(weighed.task, marking))
