"""One atomic change of facts and rules: check, stage, reason, compare, publish.

Until the publishing transaction commits, everything is in temporary tables, so a failure or a kill
leaves the file as it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from shutil import disk_usage

from zodiac_sql.change.alter import retyped_facts
from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.begin import begin
from zodiac_sql.change.by_lookups import LookedUp, follow, kind_of, look_up
from zodiac_sql.change.change import Change
from zodiac_sql.change.changed_facts import tables_read
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.constraints import BrokenError, kept
from zodiac_sql.change.difference import Difference, differences_of
from zodiac_sql.change.directly import Write, direct_writes, in_rules, write_directly
from zodiac_sql.change.explicit_after import explicit_after, is_expanded_anew
from zodiac_sql.change.feed_entries import moved_of
from zodiac_sql.change.load_files import load_waiting
from zodiac_sql.change.many_rounds import TIMES_AS_MANY, look_up_instead, most_rounds
from zodiac_sql.change.marks import marked_facts, marks_after
from zodiac_sql.change.materialise import Progress, materialise
from zodiac_sql.change.net_facts import NetFacts, net_changes
from zodiac_sql.change.not_explicit import only_derived
from zodiac_sql.change.of_best_values import require_no_facts_of_best_values
from zodiac_sql.change.plan_sizes import PlannedSizes, plan_of
from zodiac_sql.change.prepared import Prepared, prepared_after
from zodiac_sql.change.report import CarriedOut, IsCurrent, explicit_moves, notes_of, report
from zodiac_sql.change.request import Request, explicit_predicates
from zodiac_sql.change.state_after import state_after
from zodiac_sql.change.temporary_tables import drop_temporary
from zodiac_sql.change.update_report import UpdateReport
from zodiac_sql.change.workspace import Workspace
from zodiac_sql.database import dictionary
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, ProgramError
from zodiac_sql.facts.stage import stage_rows
from zodiac_sql.garbage import uncollected
from zodiac_sql.language.binding import symbols_in
from zodiac_sql.language.schema import Schema, Staged
from zodiac_sql.language.syntax import Atom, Constant, Rule
from zodiac_sql.maintain.papers.marking import Marks
from zodiac_sql.names import is_constraint
from zodiac_sql.program.build import Edited, KnownFacts, Planned, plan_program
from zodiac_sql.program.check import in_order
from zodiac_sql.program.state import State
from zodiac_sql.storage.known_symbols import symbols_of
from zodiac_sql.storage.publish import Publication, publish


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of an update: the state, what was prepared for the next one, and the Change."""

    state: State
    prepared: Prepared | None
    marks: Marks | None
    change: Change


def apply(collected: Collected, is_current: IsCurrent, progress: Progress | None) -> Applied:
    """Carry an update out. `is_current` tells, whenever asked, whether no other has come since."""
    prepared = _check(collected)
    before, request, told = collected.before, collected.request, collected.report
    of_facts = _is_of_facts_alone(collected, prepared)
    if of_facts and (writes := direct_writes(before.state, prepared, request)) is not None:
        return _apply_directly(collected, prepared, writes, is_current)
    kind = kind_of(before, prepared, request) if of_facts else None
    if kind and (done := look_up(collected, prepared, kind)) is not None:
        return _report_looked_up(collected, prepared, done, is_current)
    remarks, most = list(told.remarks), most_rounds(before.state, prepared, kind)
    while True:
        net = _stage(collected, prepared)
        ids = _ids(before, prepared, told)
        work = _reason(collected, prepared, net, ids, progress, most)
        if work is not None:
            break
        told.remarks = list(remarks)
        if (done := look_up_instead(collected, prepared, kind)) is not None:
            return _report_looked_up(collected, prepared, done, is_current)
        most = None if most is None else most * TIMES_AS_MANY
    differences = _compare(work, told)
    if any(map(is_constraint, differences)):
        differences = _require_kept(collected, net, work, differences)
    state = _publish(collected, prepared, net, work, differences)
    seconds, streamed = sum(told.seconds.values()), request.streamed is not None
    follow(prepared, kind, state, work, differences, seconds, streamed)

    differences = {name: difference.published() for name, difference in differences.items()}
    marks = marks_after(before.marks, request.ahead, work.marked, state)
    keep = tables_read(differences) | (marks.tables() if marks else set())
    explicit = explicit_moves(work.extensions.edits)
    keep |= {part.table for pair in explicit.values() for part in pair if part is not None}
    structure = prepared.planned.restructuring
    drop_temporary(before.store, keep, renamed=structure.before is not structure.after)
    change = report(collected, _carried_out(work, state, differences), is_current)
    return Applied(state, prepared.published(state), marks, change)


def _is_of_facts_alone(collected: Collected, prepared: Prepared) -> bool:
    """Whether a change leaves the program as it is, and has nothing to do with marks and feeds."""
    before, request = collected.before, collected.request
    if prepared is not before.prepared or request.seen or request.ahead or request.keeping:
        return False
    return collected.edits.prefixes == before.state.prefixes and not before.state.aside


def _report_looked_up(
    collected: Collected, prepared: Prepared, done: LookedUp, is_current: IsCurrent
) -> Applied:
    """Tell of an update that was carried out by look-ups."""
    collected.report.seconds |= {"compare": 0.0}
    collected.report.remarks += collected.request.rules.remarks
    drop_temporary(collected.before.store, (), renamed=False)
    written = done.written
    carried_out = CarriedOut(
        prepared.planned,
        written.state,
        written.differences,
        explicit={name: (edit.deleted, edit.inserted) for name, edit in done.explicit.items()},
        evaluated=done.evaluated,
        given=written.facts,
    )
    return Applied(written.state, prepared, None, report(collected, carried_out, is_current))


def _carried_out(
    work: Workspace,
    state: State,
    differences: Mapping[str, Difference],
    is_published: bool = True,
) -> CarriedOut:
    """What there is to tell of a change that was evaluated."""
    return CarriedOut(
        work.basis.planned,
        state,
        differences,
        explicit=explicit_moves(work.extensions.edits),
        evaluated=work.outcomes.evaluated,
        marked=work.marked,
        is_published=is_published,
    )


def _apply_directly(
    collected: Collected, prepared: Prepared, writes: Sequence[Write], is_current: IsCurrent
) -> Applied:
    """Carry an update out that no rule has to do with."""
    before, request, told = collected.before, collected.request, collected.report
    store, state = before.store, before.state
    with told.timed("publish"):
        written = write_directly(store, state, writes, request.positions, told, prepared.cache)
    told.seconds |= {"reason": 0.0, "compare": 0.0}
    told.remarks += request.rules.remarks
    drop_temporary(store, (), renamed=False)
    copies, read = prepared.copies, in_rules(prepared)
    copies.follow(state, written.state, {}, lambda _: None, read, 0)
    done = CarriedOut(prepared.planned, written.state, written.differences, given=written.facts)
    return Applied(written.state, prepared, None, report(collected, done, is_current))


def preview(collected: Collected, is_current: IsCurrent, progress: Progress | None) -> Applied:
    """Compute the change without publishing it: it tells what would have happened."""
    prepared = _check(collected)
    before, told = collected.before, collected.report
    net = _stage(collected, prepared)
    ids = _ids(before, prepared, told)
    work = _reason(collected, prepared, net, ids, progress)
    assert work is not None
    differences = _compare_apart(work, told)

    after = state_after(collected, work.basis, work.outcomes, net)
    found = kept(work.basis, differences)
    told.violations = found.violations
    told.remarks += [f"this would be refused: {one}" for one in found.violations]
    done = _carried_out(work, after, found.differences, is_published=False)
    change = report(collected, done, is_current)
    still_fits = prepared.rules is before.state.rules
    still_prepared = prepared if still_fits else before.prepared
    return Applied(before.state, still_prepared, before.marks, change)


def plan(collected: Collected) -> PlannedSizes:
    """What the change is expected to derive, from statistics of its facts: nothing is evaluated."""
    prepared = _check(collected)
    net = _stage(collected, prepared)
    before = collected.before
    work = begin(before, prepared, net, _ids(before, prepared, collected.report))
    store = before.store
    free = None if store.file.in_memory else disk_usage(store.file.real.parent).free
    notes = notes_of(collected.report, collected.edits, prepared.planned.schema)
    found = replace(plan_of(work.basis, work.extensions.new, free), notes=notes)
    drop_temporary(store, (), renamed=True)
    return found


# --- check ----------------------------------------------------------------------------------------


def _check(collected: Collected) -> Prepared:
    """The program after the change, checked. Raises ProgramError with all errors found."""
    before, request, report = collected.before, collected.request, collected.report
    state, functions, there = before.state, before.functions, before.prepared
    load_waiting(collected)
    with report.timed("check"):
        schema = collected.edits.provisional
        nothing_new = not (request.rules or report.problems)
        fits = there and nothing_new and there.fits(state, schema, functions)
        if there and fits and not is_expanded_anew(before, there, request, schema):
            return there
        with uncollected():
            planned = _planned(collected)
        return prepared_after(there, state, planned, functions)


def _planned(collected: Collected) -> Planned:
    """The program with the rules and columns that the update gives it."""
    before, request, edits = collected.before, collected.request, collected.edits
    rules, problems = request.rules, collected.report.problems
    problems += rules.put_in_columns(edits.provisional)
    collected.widen_for_texts()
    try:
        explicit = KnownFacts(
            explicit_predicates(before.state, request),
            explicit_after(before, request, edits.provisional),
            symbols_of(before.store),
        )
        planned = plan_program(
            before.state,
            before=before.graph(),
            edits=Edited(rules.arrivals, rules.dropped, rules.places, rules.passed_over),
            provisional=edits.provisional,
            explicit=explicit,
            functions=before.functions,
            names=edits.names(),
        )
    except ProgramError as error:
        if edits.widened and not (rules or problems):
            said = " ".join(edits.widened)
            raise DataError(f"{said}. But rules forbid floats there: {error}") from None
        raise ProgramError(in_order([*problems, *error.problems])) from None
    if problems:
        raise ProgramError(in_order(problems))
    return planned


# --- stage ----------------------------------------------------------------------------------------


def _stage(collected: Collected, prepared: Prepared) -> NetFacts:
    """What enters and leaves the explicit facts, including facts written in rule texts."""
    planned, request, told = prepared.planned, collected.request, collected.report
    store, state, retyped = collected.before.store, collected.before.state, collected.edits.retyped
    with told.timed("stage"):
        net = net_changes(
            store,
            state=state,
            schema=planned.schema,
            inserts=_with_rule_facts(store, request, planned.schema),
            deletes=request.deletes,
            seen=request.seen,
            cache=prepared.cache,
        )
        require_no_facts_of_best_values(state, planned, net)
        moved = {name: (net.inserts.get(name), net.deletes.get(name)) for name in retyped}
        in_other_types = retyped_facts(store, state, planned.schema, moved)
        net = replace(net, retyped=in_other_types) if in_other_types else net
        told.remarks += [*request.rules.remarks, *planned.remarks]
        told.remarks += only_derived(store, state, planned, request.deletes)
    return net


def _with_rule_facts(store: Store, request: Request, schema: Schema) -> Mapping[str, list[Staged]]:
    """The facts to be inserted, with those that are written in rule texts."""
    rows: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for fact in request.rules.facts():
        rows[fact.predicate].append(_values(fact))
    if not rows:
        return request.inserts
    inserts = dict(request.inserts)
    for predicate, values in rows.items():
        staged = stage_rows(store, predicate, values, schema[predicate])
        assert staged is not None
        inserts[predicate] = [*inserts.get(predicate, ()), staged]
    return inserts


def _values(fact: Atom) -> tuple[object, ...]:
    return tuple(term.value for term in fact.terms if isinstance(term, Constant))


def _ids(before: Baseline, prepared: Prepared, told: UpdateReport) -> Mapping[str, int]:
    """Dictionary ids of all symbols that rules mention."""
    state, planned = before.state, prepared.planned
    if prepared is before.prepared:
        return state.ids
    with told.timed("stage"):
        old = list(planned.restructuring.before.rules())
        rules: Iterable[Rule] = [*planned.rules, *old]
        if before.prepared and before.prepared.rules is state.rules:
            there = {id(rule) for rule in old}  # the last change has asked for their symbols
            rules = (rule for rule in planned.rules if id(rule) not in there)
        return _known_ids(before.store, state, rules)


def _known_ids(store: Store, state: State, rules: Iterable[Rule]) -> dict[str, int]:
    """Dictionary ids of all symbols that rules mention; new ones are added to the dictionary."""
    missing = symbols_in(rules).difference(state.ids)
    return {**state.ids, **dictionary.ids_of(store, missing)}


# --- reason ---------------------------------------------------------------------------------------


def _reason(
    collected: Collected,
    prepared: Prepared,
    net: NetFacts,
    ids: Mapping[str, int],
    progress: Progress | None,
    most: int | None = None,
) -> Workspace | None:
    """What the change does to every hypernode. None: a loop takes `most` rounds."""
    before = collected.before
    with collected.report.timed("reason"):
        work = begin(before, prepared, net, ids, most)
        ahead, new = collected.request.ahead, work.extensions.new
        work = replace(work, marked=marked_facts(before.marks, ahead, work.basis, new, net))
        many = materialise(work, progress)
    return None if many else work


# --- compare --------------------------------------------------------------------------------------


def _compare(work: Workspace, told: UpdateReport) -> dict[str, Difference]:
    """How every extension has changed. What left with vanished tables is not counted yet."""
    with told.timed("compare"):
        return differences_of(work.extensions, work.basis.state.feed, wait=True)


def _compare_apart(work: Workspace, told: UpdateReport) -> dict[str, Difference]:
    """How every extension would change. The facts are copied to tables of their own."""
    extensions = work.extensions
    with told.timed("compare"):
        found = differences_of(extensions, work.basis.state.feed, wait=False).items()
        return {n: d.apart(extensions.store, extensions.known(n).sql_name) for n, d in found}


def _require_kept(
    collected: Collected,
    net: NetFacts,
    work: Workspace,
    differences: Mapping[str, Difference],
) -> dict[str, Difference]:
    """The differences that users see. Raises BrokenError if constraints are violated anew."""
    found, told = kept(work.basis, differences), collected.report
    if not found.violations:
        return found.differences
    if collected.request.check:
        after = state_after(collected, work.basis, work.outcomes, net)
        apart = _carried_out(work, after, _compare_apart(work, told), is_published=False)
        change = report(collected, apart, lambda: True)
        raise BrokenError(found.violations, change)
    told.violations = found.violations
    told.remarks += [f"let pass: {one}" for one in found.violations]
    return found.differences


# --- publish --------------------------------------------------------------------------------------


def _publish(
    collected: Collected,
    prepared: Prepared,
    net: NetFacts,
    work: Workspace,
    differences: Mapping[str, Difference],
) -> State:
    """Bring the change into the file, in one transaction."""
    before = collected.before
    with collected.report.timed("publish"):
        after = state_after(collected, work.basis, work.outcomes, net)
        publication = Publication(
            old=before.state,
            new=after,
            restructuring=prepared.planned.restructuring,
            edits=work.extensions.edits,
            inside=work.outcomes.inside,
            inner=work.outcomes.inner,
            put_aside={name for d in differences.values() for name in d.put_aside},
            cache=prepared.cache,
            moved=moved_of(before.state, differences),
            keeping=collected.request.keeping,
        )
        return publish(before.store, publication)
