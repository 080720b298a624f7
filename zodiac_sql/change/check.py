"""The program after an update, checked."""

from __future__ import annotations

from zodiac_sql.change.collected import Collected
from zodiac_sql.change.explicit_after import explicit_after, is_expanded_anew
from zodiac_sql.change.load_files import load_waiting
from zodiac_sql.change.prepared import Prepared, prepared_after
from zodiac_sql.change.request import explicit_predicates
from zodiac_sql.change.terms import as_settled
from zodiac_sql.change.widening import note_rules, widen_for_texts
from zodiac_sql.database.clock import let_now_be
from zodiac_sql.errors import DataError, ProgramError
from zodiac_sql.garbage import uncollected
from zodiac_sql.language.syntax import Atom
from zodiac_sql.names import CLOCK
from zodiac_sql.program.build import Edited, KnownFacts, Planned, plan_program
from zodiac_sql.program.check import in_order
from zodiac_sql.program.clock import machine_time
from zodiac_sql.storage.known_symbols import symbols_of


def check(collected: Collected) -> Prepared:
    """The program after the change, checked. Raises ProgramError with all errors found."""
    before, request, report = collected.before, collected.request, collected.report
    state, functions, there = before.state, before.functions, before.prepared
    load_waiting(collected)
    with report.timed("check"):
        nothing_new = not (request.rules or report.problems)
        if nothing_new and state.windows:
            from zodiac_sql.change.windows import fall_out  # late: most programs have none

            fall_out(collected)
        schema = collected.edits.provisional
        fits = there and nothing_new and there.fits(state, schema, functions)
        if there and fits and not is_expanded_anew(before, there, request, schema):
            return _told_time(collected, there)
        with uncollected():
            planned = _planned(collected)
        return _told_time(collected, prepared_after(there, state, planned, functions))


def _told_time(collected: Collected, prepared: Prepared) -> Prepared:
    """A program whose rules are told what now() is, if they say it. With them the clock begins."""
    if prepared.clocked:
        before, positions = collected.before, collected.request.positions
        if CLOCK not in before.state.positions:
            positions.setdefault(CLOCK, machine_time())
        let_now_be(before.store, {**before.state.positions, **positions}[CLOCK])
    return prepared


def _planned(collected: Collected) -> Planned:
    """The program with the rules and columns that the update gives it."""
    before, request, edits = collected.before, collected.request, collected.edits
    rules, problems = request.rules, collected.report.problems
    problems += rules.put_in_columns(edits.provisional)
    rules.let_filters_go()
    widen_for_texts(collected)
    as_settled(collected, edits.provisional)
    in_texts = _windows(collected) if rules.windows.after and rules else []
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
            raise DataError(f"{said}. But rules forbid that: {error}") from None
        raise ProgramError(in_order([*problems, *error.problems])) from None
    if problems:
        raise ProgramError(in_order(problems))
    if in_texts:
        return _planned_anew(collected, planned, in_texts)
    note_rules(collected, planned.schema)
    return planned


def _windows(collected: Collected) -> list[Atom]:
    """Let facts fall out of windows, unless some of their facts stand in texts: these are returned,
    and wait until all types are known.
    """
    from zodiac_sql.change import windows

    collected.report.problems += windows.window_problems(collected)
    in_texts = windows.facts_in_texts(collected)
    if not (in_texts or collected.report.problems):
        windows.fall_out(collected)
    return in_texts


def _planned_anew(collected: Collected, planned: Planned, in_texts: list[Atom]) -> Planned:
    """The program after facts of texts have fallen out of windows, which may make other rules."""
    from zodiac_sql.change import windows

    windows.take_facts_of_texts(collected, in_texts)
    windows.fall_out(collected)
    names = {fact.predicate for fact in in_texts}
    return planned if names.isdisjoint(planned.read) else _planned(collected)
