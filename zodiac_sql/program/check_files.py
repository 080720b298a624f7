"""Checks texts of rules without a database: what would be refused, and what looks like a mistake.

Facts, and functions registered from Python, are not known here. So a predicate or a function that
the files say nothing of is no error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zodiac_sql.errors import Problem, ProgramError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.functions import Functions
from zodiac_sql.language.named_columns import all_positional
from zodiac_sql.language.schema import Predicate
from zodiac_sql.language.syntax import Program
from zodiac_sql.program.arrivals import Arrival, arrive
from zodiac_sql.program.build import Edited, KnownFacts, SqlNames, declare, plan_program
from zodiac_sql.program.check import in_order, unknown_functions
from zodiac_sql.program.doubts import Surroundings, doubts
from zodiac_sql.program.fact_types import facts_with_moments
from zodiac_sql.program.lone_variables import NO_SYMBOLS
from zodiac_sql.program.rule_edits import parsed_text, rule_text
from zodiac_sql.program.rule_sets import SetLabels
from zodiac_sql.program.state import State


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in some texts: `errors` are refused, `doubts` only with `strict`.

    `remarks` are on rules that say the same, with their places. `rules` counts the rules.
    """

    errors: tuple[Problem, ...]
    doubts: tuple[Problem, ...]
    remarks: tuple[Problem, ...]
    rules: int


def check_files(paths: Sequence[Path]) -> Checked:
    """Check files of rules, as if they were added together to an empty database."""
    programs, problems = _parsed(paths)
    return check_programs(programs, problems)


def check_programs(programs: Sequence[Program], problems: Sequence[Problem]) -> Checked:
    """Check parsed texts, as if they were added together. `problems` are those of parsing."""
    schema, more = declared(programs)
    written = [rule for program in programs for rule in program.rules]
    programs, columns = all_positional(programs, schema)
    arrivals = [Arrival(program) for program in programs]
    rules = [rule for program in programs for rule in program.rules]
    unknown = {problem for rule in rules for problem in unknown_functions(rule, {})}
    wrong = refused(arrivals, schema, (), {})
    errors = [p for p in (*problems, *more, *wrong) if p not in unknown]
    facts = [fact for program in programs for fact in program.facts]
    around = Surroundings(written, facts, (), schema, {}, NO_SYMBOLS)
    doubted = [*unknown, *columns, *(doubt.problem for doubt in doubts(rules, around))]
    return Checked(
        tuple(in_order(errors)), tuple(in_order(doubted)), tuple(_said_twice(programs)), len(rules)
    )


def _said_twice(programs: Iterable[Program]) -> Iterator[Problem]:
    """What is said of rules that say the same as others."""
    arrived = arrive([Arrival(program, strict=True) for program in programs], (), (), SetLabels())
    remarks = set(arrived.remarks)
    return (replace(p, hint="") for p in arrived.problems if p.message in remarks)


def _parsed(paths: Iterable[Path]) -> tuple[list[Program], list[Problem]]:
    """The files as far as they can be read. The prefixes of one hold in those after it."""
    programs, prefixes = [], dict[str, str]()
    problems: list[Problem] = []
    for path in paths:
        try:
            program, found = parsed_text(rule_text(path)[0], str(path), prefixes)
        except ProgramError as error:
            problems += error.problems
            continue
        problems += [*found, *program.objections]
        prefixes.update(program.prefixes)
        programs.append(program)
    return programs, problems


def declared(programs: Iterable[Program]) -> tuple[dict[str, Predicate], list[Problem]]:
    """What the files declare, and what is wrong with it."""
    schema: dict[str, Predicate] = {}
    problems: list[Problem] = []
    names = SqlNames(frozenset)
    for declaration in (one for program in programs for one in program.declarations):
        schema, found = declare(schema, declaration, lambda name: names.name(name, {}))
        problems += found
    return schema, problems


def refused(
    arrivals: Sequence[Arrival],
    schema: Mapping[str, Predicate],
    explicit: Collection[str],
    functions: Functions,
) -> Sequence[Problem]:
    """What is wrong with the program that texts make by themselves."""
    names = SqlNames(frozenset)
    arrivals = [
        replace(arrival, program=facts_with_moments(arrival.program, schema))
        for arrival in arrivals
    ]
    try:
        plan_program(
            State(), Hypergraph(), Edited(arrivals), schema, KnownFacts(explicit), functions,
            lambda name: names.name(name, {}),
        )  # fmt: skip
    except ProgramError as error:
        return error.problems
    return ()
