"""The program after an update, checked."""

from __future__ import annotations

from zodiac_sql.change.collected import Collected
from zodiac_sql.change.explicit_after import explicit_after, is_expanded_anew
from zodiac_sql.change.load_files import load_waiting
from zodiac_sql.change.prepared import Prepared, prepared_after
from zodiac_sql.change.request import explicit_predicates
from zodiac_sql.change.terms import as_settled
from zodiac_sql.change.widening import note_rules, widen_for_texts
from zodiac_sql.errors import DataError, ProgramError
from zodiac_sql.garbage import uncollected
from zodiac_sql.program.build import Edited, KnownFacts, Planned, plan_program
from zodiac_sql.program.check import in_order
from zodiac_sql.storage.known_symbols import symbols_of


def check(collected: Collected) -> Prepared:
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
    widen_for_texts(collected)
    as_settled(collected, edits.provisional)
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
    note_rules(collected, planned.schema)
    return planned
