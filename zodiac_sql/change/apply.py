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
from zodiac_sql.change.begin import begin, untouched
from zodiac_sql.change.by_lookups import LookedUp, follow, kind_of, look_up
from zodiac_sql.change.change import Change
from zodiac_sql.change.changed_facts import tables_read
from zodiac_sql.change.collected import Collected, explicit_predicates
from zodiac_sql.change.constraints import BrokenError, kept
from zodiac_sql.change.difference import Difference, differences_of
from zodiac_sql.change.directly import Write, direct_writes, in_rules, write_directly
from zodiac_sql.change.explicit_after import explicit_after, is_expanded_anew
from zodiac_sql.change.feed_entries import moved_of
from zodiac_sql.change.load_files import load_waiting
from zodiac_sql.change.many_rounds import TIMES_AS_MANY, look_up_instead, most_rounds
from zodiac_sql.change.marks import marks_after, tell_marks
from zodiac_sql.change.materialise import Progress, materialise
from zodiac_sql.change.net_facts import NetFacts, net_changes
from zodiac_sql.change.not_explicit import only_derived
from zodiac_sql.change.of_best_values import is_explicit, require_no_facts_of_best_values
from zodiac_sql.change.plan_sizes import Plan, plan_of
from zodiac_sql.change.prepared import Prepared, prepared_after
from zodiac_sql.change.report import IsCurrent, explicit_moves, notes_of, report
from zodiac_sql.change.temporary_tables import drop_temporary
from zodiac_sql.change.workspace import Materialisation
from zodiac_sql.database import dictionary
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError, ProgramError
from zodiac_sql.facts.stage import stage_rows
from zodiac_sql.garbage import uncollected
from zodiac_sql.language.binding import symbols_in
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Atom, Constant, Rule
from zodiac_sql.language.templates import fixed_atoms
from zodiac_sql.maintain.contract import ManyRounds
from zodiac_sql.maintain.marking import Marks
from zodiac_sql.names import is_constraint
from zodiac_sql.program.build import (
    Edited,
    Planned,
    plan_program,
    without_unused,
)
from zodiac_sql.program.check import in_order
from zodiac_sql.program.rule_sets import sets_after
from zodiac_sql.program.state import HypernodeRow, State
from zodiac_sql.program.stored import stored, stored_hypernode, stored_templates
from zodiac_sql.storage.known_symbols import symbols_of
from zodiac_sql.storage.owners import EXPLICIT
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
    if (writes := direct_writes(collected, prepared)) is not None:
        return _apply_directly(collected, prepared, writes, is_current)
    kind = kind_of(collected, prepared)
    if kind and (done := look_up(collected, prepared, kind)) is not None:
        return _report_looked_up(collected, prepared, done, is_current)
    remarks, most = list(collected.remarks), most_rounds(collected, prepared, kind)
    while True:
        net = _stage(collected, prepared)
        ids = _ids(collected, prepared)
        try:
            work = _reason(collected, prepared, net, ids, progress, most)
            break
        except ManyRounds:
            collected.remarks = list(remarks)
            if (done := look_up_instead(collected, prepared, kind)) is not None:
                return _report_looked_up(collected, prepared, done, is_current)
            most = None if most is None else most * TIMES_AS_MANY
    differences = _compare(collected, work)
    if any(map(is_constraint, differences)):
        differences = _require_kept(collected, prepared, net, work, differences)
    state = _publish(collected, prepared, net, work, differences)
    seconds = sum(collected.seconds.values())
    streamed = collected.streamed is not None
    follow(prepared, kind, state, work, differences, seconds, streamed)

    differences = {name: difference.published() for name, difference in differences.items()}
    marks = marks_after(collected, work, state)
    keep = tables_read(differences) | (marks.tables() if marks else set())
    moves = explicit_moves(work).values()
    keep |= {part.table for pair in moves for part in pair if part is not None}
    structure = prepared.planned.restructuring
    drop_temporary(collected.store, keep, renamed=structure.before is not structure.after)
    change = report(collected, work, differences, state, is_current)
    return Applied(state, prepared.published(state), marks, change)


def _report_looked_up(
    collected: Collected, prepared: Prepared, done: LookedUp, is_current: IsCurrent
) -> Applied:
    """Tell of an update that was carried out by look-ups."""
    collected.seconds |= {"compare": 0.0}
    collected.remarks += collected.rules.remarks
    drop_temporary(collected.store, (), renamed=False)
    work = untouched(collected, prepared)
    work.evaluated.update(done.evaluated)
    for name, edit in done.explicit.items():
        work.edit(name, EXPLICIT, edit)
    written = done.written
    change = report(collected, work, written.differences, written.state, is_current, written.facts)
    return Applied(written.state, prepared, None, change)


def _apply_directly(
    collected: Collected, prepared: Prepared, writes: Sequence[Write], is_current: IsCurrent
) -> Applied:
    """Carry an update out that no rule has to do with."""
    with collected.timed("publish"):
        written = write_directly(collected, writes, prepared.cache)
    collected.seconds |= {"reason": 0.0, "compare": 0.0}
    collected.remarks += collected.rules.remarks
    drop_temporary(collected.store, (), renamed=False)
    work = untouched(collected, prepared)
    given, differences = written.facts, written.differences
    copies, read = prepared.copies, in_rules(prepared)
    copies.follow(collected.state, written.state, {}, lambda _: None, read, 0)
    change = report(collected, work, differences, written.state, is_current, given)
    return Applied(written.state, prepared, None, change)


def preview(collected: Collected, is_current: IsCurrent, progress: Progress | None) -> Applied:
    """Compute the change without publishing it: it tells what would have happened."""
    prepared = _check(collected)
    net = _stage(collected, prepared)
    ids = _ids(collected, prepared)
    work = _reason(collected, prepared, net, ids, progress)
    differences = _compare_apart(collected, work)

    after = _state_after(collected, work, net)
    found = kept(collected, work, differences)
    collected.violations = found.violations
    collected.remarks += [f"this would be refused: {one}" for one in found.violations]
    change = report(collected, work, found.differences, after, is_current, is_published=False)
    still_fits = prepared.rules is collected.state.rules
    still_prepared = prepared if still_fits else collected.prepared
    return Applied(collected.state, still_prepared, collected.marks, change)


def plan(collected: Collected) -> Plan:
    """What the change is expected to derive, from statistics of its facts: nothing is evaluated."""
    prepared = _check(collected)
    net = _stage(collected, prepared)
    work = begin(collected, prepared, net, _ids(collected, prepared))
    store = collected.store
    free = None if store.file.in_memory else disk_usage(store.file.real.parent).free
    found = replace(plan_of(work, free), notes=notes_of(collected, work))
    drop_temporary(store, (), renamed=True)
    return found


# --- check ----------------------------------------------------------------------------------------


def _check(collected: Collected) -> Prepared:
    """The program after the change, checked. Raises ProgramError with all errors found."""
    state, functions, before = collected.state, collected.functions, collected.prepared
    load_waiting(collected)
    with collected.timed("check"):
        nothing_new = not (collected.rules or collected.problems)
        fits = before and nothing_new and before.fits(state, collected.schema, functions)
        if before and fits and not is_expanded_anew(collected, before):
            return before
        with uncollected():
            planned = _planned(collected)
        return prepared_after(before, state, planned, functions)


def _planned(collected: Collected) -> Planned:
    edits = collected.rules
    collected.problems += edits.put_in_columns(collected.schema)
    collected.widen_for_texts()
    try:
        planned = plan_program(
            collected.state,
            before=collected.before.graph(),
            edits=Edited(edits.arrivals, edits.dropped, edits.places, edits.passed_over),
            provisional=collected.schema,
            explicit=explicit_predicates(collected),
            functions=collected.functions,
            names=collected.names(),
            after=explicit_after(collected),
            symbols=symbols_of(collected.store),
        )
    except ProgramError as error:
        if collected.widened and not (collected.rules or collected.problems):
            said = " ".join(collected.widened)
            raise DataError(f"{said}. But rules forbid floats there: {error}") from None
        raise ProgramError(in_order([*collected.problems, *error.problems])) from None
    if collected.problems:
        raise ProgramError(in_order(collected.problems))
    return planned


# --- stage ----------------------------------------------------------------------------------------


def _stage(collected: Collected, prepared: Prepared) -> NetFacts:
    """What enters and leaves the explicit facts, including facts written in rule texts."""
    planned, store, state = prepared.planned, collected.store, collected.state
    with collected.timed("stage"):
        _stage_rule_facts(collected, planned)
        net = net_changes(
            store,
            state=state,
            schema=planned.schema,
            inserts=collected.inserts,
            deletes=collected.deletes,
            seen=collected.seen,
            cache=prepared.cache,
        )
        require_no_facts_of_best_values(state, planned, net)
        moved = {name: (net.inserts.get(name), net.deletes.get(name)) for name in collected.retyped}
        retyped = retyped_facts(store, state, planned.schema, moved)
        net = replace(net, retyped=retyped) if retyped else net
        collected.remarks += [*collected.rules.remarks, *planned.remarks]
        collected.remarks += only_derived(store, state, planned, collected.deletes)
    return net


def _stage_rule_facts(collected: Collected, planned: Planned) -> None:
    """Stage the facts written in rule texts."""
    rows: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for fact in collected.rules.facts():
        rows[fact.predicate].append(_values(fact))
    for predicate, values in rows.items():
        staged = stage_rows(collected.store, predicate, values, planned.schema[predicate])
        assert staged is not None
        collected.inserts[predicate].append(staged)


def _values(fact: Atom) -> tuple[object, ...]:
    return tuple(term.value for term in fact.terms if isinstance(term, Constant))


def _ids(collected: Collected, prepared: Prepared) -> Mapping[str, int]:
    """Dictionary ids of all symbols that rules mention."""
    state, planned = collected.state, prepared.planned
    if prepared is collected.prepared:
        return state.ids
    with collected.timed("stage"):
        before = list(planned.restructuring.before.rules())
        rules: Iterable[Rule] = [*planned.rules, *before]
        if collected.prepared and collected.prepared.rules is state.rules:
            there = {id(rule) for rule in before}  # the last change has asked for their symbols
            rules = (rule for rule in planned.rules if id(rule) not in there)
        return _known_ids(collected.store, state, rules)


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
) -> Materialisation:
    """What the change does to every hypernode. Raises ManyRounds if a loop takes `most` rounds."""
    with collected.timed("reason"):
        work = begin(collected, prepared, net, ids)
        work.most_rounds = most
        tell_marks(collected, work, net)
        materialise(work, progress)
    return work


# --- compare --------------------------------------------------------------------------------------


def _compare(collected: Collected, work: Materialisation) -> dict[str, Difference]:
    """How every extension has changed. What left with vanished tables is not counted yet."""
    with collected.timed("compare"):
        return differences_of(work, wait=True)


def _compare_apart(collected: Collected, work: Materialisation) -> dict[str, Difference]:
    """How every extension would change. The facts are copied to tables of their own."""
    with collected.timed("compare"):
        return {
            name: difference.apart(collected.store, work.known(name).sql_name)
            for name, difference in differences_of(work, wait=False).items()
        }


def _require_kept(
    collected: Collected,
    prepared: Prepared,
    net: NetFacts,
    work: Materialisation,
    differences: Mapping[str, Difference],
) -> dict[str, Difference]:
    """The differences that users see. Raises BrokenError if constraints are violated anew."""
    found = kept(collected, work, differences)
    if not found.violations:
        return found.differences
    if collected.check:
        after = _state_after(collected, work, net)
        apart = _compare_apart(collected, work)
        change = report(collected, work, apart, after, lambda: True, is_published=False)
        raise BrokenError(found.violations, change)
    collected.violations = found.violations
    collected.remarks += [f"let pass: {one}" for one in found.violations]
    return found.differences


# --- publish --------------------------------------------------------------------------------------


def _publish(
    collected: Collected,
    prepared: Prepared,
    net: NetFacts,
    work: Materialisation,
    differences: Mapping[str, Difference],
) -> State:
    """Bring the change into the file, in one transaction."""
    with collected.timed("publish"):
        after = _state_after(collected, work, net)
        publication = Publication(
            old=collected.state,
            new=after,
            restructuring=prepared.planned.restructuring,
            edits=work.edits,
            inside=work.inside,
            inner=work.inner,
            put_aside={name for d in differences.values() for name in d.put_aside},
            cache=prepared.cache,
            moved=moved_of(collected.state, differences),
            keeping=collected.keeping,
        )
        return publish(collected.store, publication)


def _state_after(collected: Collected, work: Materialisation, net: NetFacts) -> State:
    before, planned = collected.state, work.planned
    positions = {**before.positions, **collected.positions}
    if collected.prepared and planned is collected.prepared.planned:
        return replace(
            before,
            hypernodes=_hypernodes_after(before, work),
            schema=_schema_after(before, planned, net),
            prefixes=collected.prefixes,
            ids=work.ids,
            positions=positions,
        )
    explicit = {name for name in planned.schema if is_explicit(before, planned.schema[name], net)}
    in_templates = {a.predicate for rule in planned.templates for a in fixed_atoms(rule)}
    schema = without_unused(planned.schema, planned.graph, explicit | in_templates)
    templates = stored_templates(before, planned)
    worked = {planned.graph.by_name[name].id for name in work.evaluated}
    rules, hypernodes = stored(before, planned, work.ranked, work.modules, work.trees, worked)
    numbers = [h.id for h in planned.graph.hypernodes]
    edits = collected.rules
    sets = sets_after(before.sets, planned.places, edits.changed, edits.prefixes)
    return replace(
        before,
        rules=before.rules if rules == before.rules else rules,
        templates=before.templates if templates == before.templates else templates,
        sets=before.sets if sets == before.sets else sets,
        hypernodes=before.hypernodes if hypernodes == before.hypernodes else hypernodes,
        positive=planned.graph.positive,
        negative=planned.graph.negative,
        schema=before.schema if schema == before.schema else schema,
        prefixes=collected.prefixes,
        functions=planned.functions,
        ids=work.ids,
        positions=positions,
        next_hypernode=max([before.next_hypernode, *(n + 1 for n in numbers)]),
    )


def _schema_after(before: State, planned: Planned, net: NetFacts) -> Mapping[str, Predicate]:
    """The predicates after a change of facts alone: some may have lost their last fact."""
    graph = planned.graph
    in_templates = {a.predicate for template in planned.templates for a in fixed_atoms(template)}
    gone = {
        name
        for name in net.deletes
        if not (before.schema[name].declared or is_explicit(before, before.schema[name], net))
        and name not in graph.readers
        and name not in graph.derivers
        and name not in in_templates
    }
    if not gone:
        return before.schema
    return {name: known for name, known in before.schema.items() if name not in gone}


def _hypernodes_after(before: State, work: Materialisation) -> tuple[HypernodeRow, ...]:
    """The hypernodes after a change of facts alone. Those that had work may have other modules."""
    rows = before.once("rows", lambda: {row.id: row for row in before.hypernodes})
    worked = [work.planned.graph.by_name[name] for name in work.evaluated]
    now = {h.id: stored_hypernode(h, work.ranked, work.modules, work.trees) for h in worked}
    if all(row == rows[number] for number, row in now.items()):
        return before.hypernodes
    return tuple(now.get(row.id, row) for row in before.hypernodes)
