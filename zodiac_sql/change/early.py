"""Refuses rules that are wrong whatever facts there are, before files are read, which takes long.

What depends on facts, or on the rules that are there already, is told when the change is applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zodiac_sql.change.collected import Collected
from zodiac_sql.change.request import explicit_predicates
from zodiac_sql.errors import Problem, ProgramError
from zodiac_sql.language.named_columns import all_positional
from zodiac_sql.language.schema import Schema
from zodiac_sql.language.templates import is_template
from zodiac_sql.language.types import NOT_SYMBOLS, TYPE_CLASH
from zodiac_sql.program.arrivals import Arrival
from zodiac_sql.program.check import in_order
from zodiac_sql.program.check_files import refused
from zodiac_sql.program.rule_edits import RuleEdits


def refuse_early(collected: Collected) -> None:
    """Raise ProgramError if the rules that were collected are refused in any case.

    It is for those who know that nothing but facts will follow.
    """
    before, request, schema = collected.before, collected.request, collected.edits.provisional
    found = refused(
        _arrivals(request.rules, schema),
        schema,
        explicit_predicates(before.state, request),
        {**before.state.functions, **before.functions},
    )
    problems = [*collected.report.problems, *filter(_is_certain, found)]
    if problems:
        raise ProgramError(in_order(problems))


def _arrivals(edits: RuleEdits, schema: Schema) -> Sequence[Arrival]:
    """The rules whose columns are known, without those that facts must complete."""
    programs, _ = all_positional([arrival.program for arrival in edits.arrivals], schema)
    found = []
    for arrival, program in zip(edits.arrivals, programs, strict=True):
        rules = tuple(rule for rule in program.rules if not is_template(rule))
        found.append(replace(arrival, program=replace(program, rules=rules), strict=False))
    return found


def _is_certain(problem: Problem) -> bool:
    """Whether facts that come cannot mend it: types that clash can give way to wider ones."""
    return not problem.message.startswith(TYPE_CLASH) or problem.message.endswith(NOT_SYMBOLS)
