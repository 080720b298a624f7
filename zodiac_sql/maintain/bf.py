"""Strategy `bf`: the Backward/Forward algorithm (paper 3, Algorithms 1 to 3), set at a time.

Facts that may be lost are checked before anything is concluded from their loss: backwards, for the
facts that can support them; forwards, for which of those are provable. What is proved is kept, and
nothing behind it is looked at.

Where the paper handles one fact after the other, here each step is one statement for all facts of a
round. That changes the order of work, and with it three details:

* Facts known from outside the hypernode are proved (the paper's E), and are neither checked nor
  explored; inputs of the hypernode are as they are after the change.
* A fact to be proved is first matched against all facts proved so far, which is what the paper's
  delayed facts Y are for.
* Backward exploration goes level by level. It ends when every fact that the round began with is
  proved; then nothing is known of the others it has met, and they are forgotten (the paper stops at
  line 19, before they are met). Or it ends because there is no further level; then what is not proved
  is disproved (S), for good.

Ranks are not used, and kept only if nothing was reached: a fact may be proved by facts of higher ones.
(Nor are they where facts are marked.)

In a stream, with marking (paper 4, Algorithm 1), the facts that the update before has marked are
reached from the start, and what is proved or added is marked if an explicit fact of the body is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from zodiac_sql.database.statements import create_temp, semi_join, temp_table, union_all
from zodiac_sql.evaluate.make_tables import make_table
from zodiac_sql.evaluate.run_plans import Shape, apply_plans, tables
from zodiac_sql.language.syntax import Rule
from zodiac_sql.maintain.contract import Maintained, Task, Work
from zodiac_sql.maintain.marking import marked_among
from zodiac_sql.maintain.steps.aggregate_groups import with_touched_groups
from zodiac_sql.maintain.steps.extend import extend
from zodiac_sql.maintain.steps.merge_tables import working_tables
from zodiac_sql.maintain.steps.overdelete import checks, onwards
from zodiac_sql.maintain.steps.working_table import (
    WorkingTable,
    context_of,
    edits_of,
    put,
    take_out,
)
from zodiac_sql.names import MARK
from zodiac_sql.sql.context import Context
from zodiac_sql.sql.emptiness import is_empty
from zodiac_sql.sql.plan import Plan, Version, candidate_check
from zodiac_sql.sql.relations import Part, Relation, columns_of, part_query, relation_query
from zodiac_sql.sql.set_difference import some_marked, unknown

Facts = dict[str, Part]
"""Temporary tables of facts by predicate, none of them empty."""


@dataclass(slots=True)
class _Search:
    """The paper's global sets, each a temporary table per predicate of the hypernode."""

    task: Task
    owns: dict[str, WorkingTable]
    checked: Facts = field(default_factory=dict)
    proved: Facts = field(default_factory=dict)
    disproved: Facts = field(default_factory=dict)
    reached: Facts = field(default_factory=dict)
    """D: consequences of deleted facts."""
    doubtful: Facts = field(default_factory=dict)
    """Consequences of deleted facts that are known from outside, too."""
    work: Work = field(default_factory=Work)


def bf(task: Task) -> Maintained:
    """Maintain a recursive hypernode by backward and forward chaining."""
    task = with_touched_groups(task)
    search = _Search(task, working_tables(task if task.merges else replace(task, ranked=False)))
    if not task.merges:  # which loses nothing
        _delete(search)
    ranked = task.ranked and not (search.reached or task.marking.next)
    for own in search.owns.values():
        own.keeps_ranks(ranked)
    work = search.work.and_(extend(task, search.owns, rederive=False))
    edits, _ = edits_of(task, search.owns)
    marked = _marked(search)
    work = work.plus(marked=sum(part.rows for part in marked.values()))
    return Maintained(edits, work, "bf", ranked, marked)


def _marked(search: _Search) -> Facts:
    """The facts that are marked for the next update: new ones and proved ones."""
    found: Facts = {}
    for predicate, own in search.owns.items():
        parts = (own.added if own.plus else None, search.proved.get(predicate))
        found |= marked_among(search.task, predicate, parts)
    return found


def _delete(search: _Search) -> None:
    """Algorithm 1: fill `gone` of each predicate with exactly what is no longer provable."""
    task, owns = search.task, search.owns
    plans = task.losses()
    former = {p: _seeds(search, own) for p, own in owns.items()}
    while frontier := _frontier(search, plans, former):
        inside = _split_outside(search, frontier)
        _check(search, inside)
        search.work = search.work.plus(iterations=1)
        for predicate, own in owns.items():
            own.hands_on(_gone(search, own, inside.get(predicate)))
        plans = [plan for rule in task.hypernode.rules for plan in onwards(task, rule, owns)]
        former = {}
    _settle_doubtful(search)


def _seeds(search: _Search, own: WorkingTable) -> Relation:
    """What is reached from the start: facts that no longer come from outside, and marked ones."""
    marked = search.task.marking.given.get(own.predicate)
    if marked is None:
        return own.deleted
    # Found without a rule, although they will be counted.
    search.work = search.work.plus(deletions=-marked.rows, forward=-marked.rows)
    return Relation(own.columns, (*own.deleted.parts, marked))


def _frontier(search: _Search, plans: Iterable[Plan], former: dict[str, Relation]) -> Facts:
    """Create `frontier_*`: own facts that lost a derivation and were not reached before (line 9)."""
    task = search.task
    context = context_of(task, search.owns, undeleted=True)
    found: Facts = {}
    for own in search.owns.values():
        mine = _solvable(plans, own, context)
        extra = former.get(own.predicate, Relation(own.columns, ()))
        if own.stored is not None and (mine or extra.rows):
            known = Relation(own.columns, _parts(search.reached, own))
            rows = apply_plans(
                task.store, task.cache, ("frontier", tables(known), tables(extra)), mine,
                own.columns, context, f"frontier_{own.stem}", _reaching(own, extra, known),
            )  # fmt: skip
            _note(found, own, f"frontier_{own.stem}", rows)
    for own in search.owns.values():
        _add(search, search.reached, "reached", own, found.get(own.predicate))
    search.work = search.work.plus(forward=_total(found), deletions=_total(found))
    return found


def _reaching(own: WorkingTable, extra: Relation, known: Relation) -> Shape:
    stored = own.stored
    assert stored is not None

    def shape(heads: exp.Query | None) -> exp.Query:
        queries = [] if heads is None else [heads]
        if extra.rows:
            queries.append(relation_query(extra))
        rows = unknown(union_all(queries), known)
        columns = columns_of(known, "t")
        there = part_query(stored, known)
        return semi_join(
            exp.select(*columns).from_(there.subquery("t", copy=False)), columns, rows.subquery(copy=False)
        )  # fmt: skip

    return shape


def _split_outside(search: _Search, frontier: Facts) -> Facts:
    """Of the facts reached, those not known from outside; the others are proved, but doubtful."""
    inside: Facts = {}
    for predicate, part in frontier.items():
        own = search.owns[predicate]
        if not own.outside.rows:
            inside[predicate] = part
            continue
        known = own.outside
        rows = _unknown(search, own, part, known, f"inside_{own.stem}")
        _note(inside, own, f"inside_{own.stem}", rows)
        if rows < part.rows:
            among = Relation(own.columns, _parts(inside, own))
            both = _unknown(search, own, part, among, f"both_{own.stem}")
            _add(
                search, search.doubtful, "doubtful", own,
                Part("temp", f"both_{own.stem}", both),
            )  # fmt: skip
    return inside


# --- Algorithm 2 ----------------------------------------------------------------------------------


def _check(search: _Search, facts: Facts) -> None:
    """Find out which facts are provable; afterwards each of them is proved or disproved."""
    roots = _minus(search, facts, search.checked, "root")
    level = roots
    met: list[Facts] = []
    while level:
        met.append(level)
        for own in search.owns.values():
            _add(search, search.checked, "checked", own, level.get(own.predicate))
        search.work = search.work.plus(checked=_total(level))
        _saturate(search, level)
        if not _minus(search, roots, search.proved, "open"):
            search.checked = _renewed(search)
            return
        level = _supports(search, _minus(search, level, search.proved, "expand"), len(met))
    if met:
        search.disproved = {}
        for predicate, part in _minus(search, search.checked, search.proved, "unproved").items():
            _add(search, search.disproved, "disproved", search.owns[predicate], part)


def _renewed(search: _Search) -> Facts:
    """C without facts of which nothing is known: P and S."""
    found: Facts = {}
    for own in search.owns.values():
        parts = (*_parts(search.proved, own), *_parts(search.disproved, own))
        if parts:
            # Not into the table itself: S may have been made from it.
            query = relation_query(Relation(own.columns, parts))
            rows = search.task.store.count(create_temp(f"checked_{own.stem}", query))
            _note(found, own, f"checked_{own.stem}", rows)
    return found


def _supports(search: _Search, facts: Facts, depth: int) -> Facts:
    """Create `level_*`: unchecked facts of bodies that derive some facts (lines 15 to 18)."""
    task = search.task

    def relation(name: str, version: Version) -> Relation:
        own = search.owns.get(name)
        if own is None:
            return task.inputs(name, version)
        if version is Version.CANDIDATE:
            return Relation(own.columns, _parts(facts, own))
        stored = own.stored
        gone = search.disproved.get(name)
        if stored is not None and gone is not None:
            left = stored.rows - gone.rows
            stored = replace(stored, minus=gone.table, rows=max(left, 0))
        return Relation(own.columns, (*own.outside.parts, *((stored,) if stored else ())))

    context = task.context(relation)
    found: Facts = {}
    for own in search.owns.values():
        plans = [p for r in task.hypernode.rules for p in _bodies(task, r, own.predicate)]
        plans = [plan for plan in plans if not is_empty(plan, context)]
        if plans:
            known = Relation(own.columns, (*_parts(search.checked, own), *own.outside.parts))
            name = f"level{depth % 2}_{own.stem}"
            rows = apply_plans(
                task.store, task.cache, ("supports", tables(known)), plans, own.columns, context,
                name, lambda heads, known=known: unknown(heads, known),  # type: ignore[misc]
            )  # fmt: skip
            _note(found, own, name, rows)
    search.work = search.work.plus(backward=_total(found))
    return found


def _bodies(task: Task, rule: Rule, predicate: str) -> tuple[Plan, ...]:
    """Plans that find, for candidates, the facts of a predicate in the bodies that derive them."""

    def make() -> tuple[Plan, ...]:
        plan = candidate_check(rule)
        return tuple(
            replace(plan, rule=replace(rule, head=atom))
            for atom in plan.body.atoms
            if atom.predicate == predicate
        )

    return task.cache.get(("bodies", rule.name, predicate), make)


# --- Algorithm 3 ----------------------------------------------------------------------------------


def _saturate(search: _Search, level: Facts) -> None:
    """Prove what can be proved of the checked facts, beginning with a level just added."""
    step = 0
    found = _prove(search, level, {}, step)
    while found:
        for own in search.owns.values():
            _add(search, search.proved, "proved", own, found.get(own.predicate))
        search.work = search.work.plus(forward=_total(found))
        unproved = _minus(search, search.checked, search.proved, "unproved")
        unproved = _minus(search, unproved, search.disproved, "unsure")
        step += 1
        found = _prove(search, unproved, found, step)


def _prove(search: _Search, facts: Facts, new: Facts, step: int) -> Facts:
    """Create `proof*_*`: those of some facts that follow from proved ones.

    After the first step, one of these must be among those that the last step proved.
    """
    task = search.task

    def relation(name: str, version: Version) -> Relation:
        own = search.owns.get(name)
        if own is None:
            return task.marked_inputs(name, version)
        if version is Version.CANDIDATE:
            return Relation(own.columns, _parts(facts, own))
        if version is Version.DELTA:
            return Relation(own.columns, _parts(new, own))
        return Relation(own.columns, (*own.outside.parts, *_parts(search.proved, own)))

    context = task.context(relation)
    marked = bool(task.marking.next)
    found: Facts = {}
    for own in search.owns.values():
        candidates = facts.get(own.predicate)
        if candidates is None:
            continue
        if step == 0:
            plans = _solvable(checks(task, own.predicate), own, context)
        else:
            rules = task.hypernode.rules
            plans = _solvable(
                [p for r in rules for p in onwards(task, r, search.owns)], own, context
            )
        if plans:
            # Two names in turn: a statement cannot read the table that it replaces.
            name = f"proof{step % 2}_{own.stem}"
            rows = apply_plans(
                task.store, task.cache, ("prove", candidates.table), plans, own.columns, context,
                name, _among(own, candidates, marked), marked=marked,
            )  # fmt: skip
            _note(found, own, name, rows, marked)
    return found


def _among(own: WorkingTable, candidates: Part, marked: bool = False) -> Shape:
    relation = Relation(own.columns, ())

    def shape(heads: exp.Query | None) -> exp.Query:
        assert heads is not None
        columns = columns_of(relation, "c")
        query = exp.select(*columns).from_(temp_table(candidates.table).as_("c"))
        if not marked:
            return semi_join(query, columns, heads.subquery(copy=False))
        same = (a.eq(b) for a, b in zip(columns, columns_of(relation, "h"), strict=True))
        query = query.join(heads.subquery("h", copy=False), on=exp.and_(*same), copy=False)
        query = query.select(some_marked("h").as_(MARK, quoted=True), copy=False)
        return query.group_by(*(column.copy() for column in columns), copy=False)

    return shape


# --- what is gone ---------------------------------------------------------------------------------


def _gone(search: _Search, own: WorkingTable, facts: Part | None) -> Part | None:
    """Add to `gone` those facts of a round that are not proved: they are what is propagated."""
    if facts is None:
        return None
    known = Relation(own.columns, _parts(search.proved, own))
    name = f"lost_{own.stem}"
    rows = _unknown(search, own, facts, known, name)
    if not rows:
        return None
    lost = Part("temp", name, rows)
    take_out(search.task, own, lost)
    search.work = search.work.plus(overdeleted=rows)
    return lost


def _settle_doubtful(search: _Search) -> None:
    """Take out those facts known from outside that no rule derives any more.

    The extension does not change by that, so one look at what holds now is enough.
    """
    task = search.task
    lost: Facts = {}
    for own in search.owns.values():
        part = search.doubtful.get(own.predicate)
        if part is None:
            continue
        own.is_checked_for(part)
        context = context_of(task, search.owns)
        plans = _solvable(checks(task, own.predicate), own, context)
        name = f"lost_{own.stem}"
        if plans:
            held = f"held_{own.stem}"
            rows = apply_plans(
                task.store, task.cache, "held", plans, own.columns, context, held, _among(own, part)
            )
            known = Relation(own.columns, (Part("temp", held, rows),) if rows else ())
        else:
            known = Relation(own.columns, ())
        _note(lost, own, name, _unknown(search, own, part, known, name))
        search.work = search.work.plus(backward=part.rows)
    for own in search.owns.values():
        if own.predicate in lost:
            take_out(task, own, lost[own.predicate])


# --- sets -----------------------------------------------------------------------------------------


def _solvable(plans: Iterable[Plan], own: WorkingTable, context: Context) -> list[Plan]:
    """The plans that derive a predicate and can find something."""
    mine = (plan for plan in plans if plan.rule.head.predicate == own.predicate)
    return [plan for plan in mine if not is_empty(plan, context)]


def _parts(facts: Facts, own: WorkingTable) -> tuple[Part, ...]:
    part = facts.get(own.predicate)
    return (part,) if part else ()


def _note(facts: Facts, own: WorkingTable, name: str, rows: int, marked: bool = False) -> None:
    if rows:
        facts[own.predicate] = Part("temp", name, rows, marks="some" if marked else None)


def _total(facts: Facts) -> int:
    return sum(part.rows for part in facts.values())


def _add(search: _Search, facts: Facts, stem: str, own: WorkingTable, new: Part | None) -> None:
    """Add the facts of a temporary table to a set."""
    if new is not None:
        there = facts.get(own.predicate)
        name = f"{stem}_{own.stem}"
        rows = put(search.task, own, new, into=name, there=there.rows if there else 0)
        facts[own.predicate] = Part("temp", name, rows, marks=new.marks)


def _minus(search: _Search, these: Facts, those: Facts, stem: str) -> Facts:
    """The facts of one set that are not in another."""
    found: Facts = {}
    for predicate, part in these.items():
        own = search.owns[predicate]
        if predicate not in those:
            found[predicate] = part
            continue
        known = Relation(own.columns, _parts(those, own))
        name = f"{stem}_{own.stem}"
        _note(found, own, name, _unknown(search, own, part, known, name))
    return found


def _unknown(search: _Search, own: WorkingTable, part: Part, known: Relation, name: str) -> int:
    """Create a table of those facts of a part that a relation does not have. Returns its rows."""
    task = search.task

    def query() -> exp.Query:
        return unknown(part_query(part, Relation(own.columns, ())), known)

    return make_table(task.store, task.cache, ("minus", part.table, tables(known)), name, query)
