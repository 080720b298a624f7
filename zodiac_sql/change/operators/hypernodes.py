"""The hypernodes that an update reaches are maintained: stage, reason, compare, publish.

Until the publishing transaction commits, everything is in temporary tables, so a failure or a kill
leaves the file as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from zodiac_sql.change.begin import begin
from zodiac_sql.change.changed_facts import tables_read
from zodiac_sql.change.collected import Collected
from zodiac_sql.change.constraints import BrokenError, kept
from zodiac_sql.change.copies_follow import follow
from zodiac_sql.change.difference import Difference, differences_of
from zodiac_sql.change.execution import Applied, Carries, Execution
from zodiac_sql.change.feed_entries import moved_of
from zodiac_sql.change.kinds import kind_of
from zodiac_sql.change.marks import marked_facts, marks_after
from zodiac_sql.change.materialise import materialise
from zodiac_sql.change.net_facts import NetFacts
from zodiac_sql.change.passed_over import passed_over
from zodiac_sql.change.prepared import Prepared
from zodiac_sql.change.report import CarriedOut, explicit_moves, report
from zodiac_sql.change.staged import ids_of, stage
from zodiac_sql.change.state_after import state_after
from zodiac_sql.change.temporary_tables import drop_temporary
from zodiac_sql.change.update_report import UpdateReport
from zodiac_sql.change.workspace import Workspace
from zodiac_sql.cost.calibration import HYPERNODE
from zodiac_sql.cost.operator import Cost, Declined, Operator
from zodiac_sql.cost.rounds import rounds_in
from zodiac_sql.names import is_constraint
from zodiac_sql.program.state import State
from zodiac_sql.storage.publish import Publication, publish


def expected(execution: Execution) -> float:
    """What the changes of its kind have taken lately, in milliseconds, if any were carried out."""
    return execution.prepared.copies.worth.usual(kind_of(execution)) or HYPERNODE


def _run(execution: Execution, next_ms: float) -> Applied | Declined:
    """Carry an update out, unless a loop of rounds takes as long as the next operator."""
    collected, prepared, told = execution.collected, execution.prepared, execution.told
    remarks = list(told.remarks)
    net = stage(collected, prepared)
    ids = ids_of(execution.before, prepared, told)
    most = None if next_ms == inf else rounds_in(next_ms / 1000)
    work = _reason(execution, net, ids, most)
    if work is None:
        told.remarks = remarks
        return Declined("its rounds take longer than all copies")
    if not execution.publishes:
        return _previewed(execution, net, work)
    return _published(execution, net, work)


def _published(execution: Execution, net: NetFacts, work: Workspace) -> Applied:
    """Bring to the file what has come of the hypernodes."""
    collected, prepared, told = execution.collected, execution.prepared, execution.told
    before, request = execution.before, execution.request
    differences = _compare(work, told)
    told.remarks += passed_over(work)
    if any(map(is_constraint, differences)):
        differences = _require_kept(collected, net, work, differences)
    state = _publish(collected, prepared, net, work, differences)
    seconds, streamed = sum(told.seconds.values()), request.streamed is not None
    follow(prepared, kind_of(execution), state, work, differences, seconds, streamed)

    differences = {name: difference.published() for name, difference in differences.items()}
    marks = marks_after(before.marks, request.ahead, work.marked, state)
    keep = tables_read(differences) | (marks.tables() if marks else set())
    explicit = explicit_moves(work.extensions.edits)
    keep |= {part.table for pair in explicit.values() for part in pair if part is not None}
    structure = prepared.planned.restructuring
    drop_temporary(before.store, keep, renamed=structure.before is not structure.after)
    done = _carried_out(work, state, differences)
    return execution.applied(done, prepared.published(state), marks)


def _previewed(execution: Execution, net: NetFacts, work: Workspace) -> Applied:
    """Tell what would come of the hypernodes."""
    collected, prepared, told = execution.collected, execution.prepared, execution.told
    before = execution.before
    differences = _compare_apart(work, told)
    told.remarks += passed_over(work)
    after = state_after(collected, work.basis, work.outcomes, net)
    found = kept(work.basis, differences)
    told.violations = found.violations
    told.remarks += [f"this would be refused: {one}" for one in found.violations]
    done = _carried_out(work, after, found.differences, is_published=False)
    still_fits = prepared.rules is before.state.rules
    return execution.applied(done, prepared if still_fits else before.prepared, before.marks)


def _reason(
    execution: Execution, net: NetFacts, ids: Mapping[str, int], most: int | None
) -> Workspace | None:
    """What the change does to every hypernode. None: a loop takes `most` rounds."""
    before = execution.before
    with execution.told.timed("reason"):
        work = begin(before, execution.prepared, net, ids, most, execution.ticked)
        ahead, new = execution.request.ahead, work.extensions.new
        work = replace(work, marked=marked_facts(before.marks, ahead, work.basis, new, net))
        many = materialise(work, execution.progress)
    return None if many else work


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


def _last(execution: Execution, _: float) -> Applied | Declined:
    return _run(execution, inf)


HYPERNODES: Carries = Operator(
    "hypernodes",
    lambda _: True,
    lambda execution: Cost(expected(execution), "the hypernodes that it reaches are maintained"),
    _run,
)

TO_THE_END: Carries = Operator(
    "hypernodes, to the end", lambda _: True, lambda _: Cost(inf, "nothing else does it"), _last
)
"""The same, however many rounds a loop takes."""
