"""Parses, checks and types rules for data frames, before Spark runs anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zodiac_sql.errors import DataError, Problem, ProgramError
from zodiac_sql.graph.hypergraph import Hypergraph
from zodiac_sql.language.datatypes import text_of_term
from zodiac_sql.language.functions import Function
from zodiac_sql.language.named_columns import all_positional
from zodiac_sql.language.schema import Predicate, resolve
from zodiac_sql.language.syntax import Column, Constant, Program, Rule, atoms_of
from zodiac_sql.language.templates import TRIPLE, is_template
from zodiac_sql.names import is_constraint
from zodiac_sql.program.arrivals import Arrival
from zodiac_sql.program.build import (
    Edited,
    KnownFacts,
    Planned,
    SqlNames,
    declare,
    plan_program,
    with_staged,
)
from zodiac_sql.program.check import in_order
from zodiac_sql.program.clock import reads_clock
from zodiac_sql.program.fact_types import facts_with_moments
from zodiac_sql.program.rule_edits import parsed_text, rule_text
from zodiac_sql.program.state import State
from zodiac_sql.spark.types import fits
from zodiac_sql.sql.relations import HOLDS

Rules = str | Path | Sequence[str | Path]
"""Rules as a text or a file (.rules, .dl), or several of these."""

Text = tuple[str, str]
"""A text of rules, and its name in messages."""


@dataclass(frozen=True, slots=True)
class PlannedRules:
    """A program over facts with known columns that has passed every check.

    `facts` are the facts in its texts, by predicate; `names` maps given names to predicates.
    """

    planned: Planned
    facts: Mapping[str, Sequence[tuple[object, ...]]]
    names: Mapping[str, str]
    prefixes: Mapping[str, str]

    def meant(self, name: str) -> str:
        """The predicate that a user's name means: a name, `<iri>`, `prefix:local` or SQL name."""
        return self.names.get(name) or resolve(name, self.schema, self.prefixes)

    @property
    def schema(self) -> Mapping[str, Predicate]:
        return self.planned.schema

    @property
    def graph(self) -> Hypergraph:
        return self.planned.graph

    @property
    def derived(self) -> tuple[str, ...]:
        """The predicates that rules derive, in the order of evaluation."""
        derived = dict.fromkeys(p for h in self.graph.hypernodes for p in h.derives)
        return tuple(p for p in derived if not is_constraint(p))

    @property
    def shown(self) -> tuple[str, ...]:
        """All predicates but those of constraints."""
        return tuple(p for p in self.schema if not is_constraint(p))


def texts_of(rules: Rules) -> tuple[Text, ...]:
    """Texts of rules, each with its name in messages. Raises ProgramError for unreadable files."""
    several = [rules] if isinstance(rules, (str, Path)) else rules
    return tuple(rule_text(one) for one in several)


def plan_rules(
    rules: Rules, given: Mapping[str, Sequence[Column]], functions: Iterable[Function] = ()
) -> PlannedRules:
    """Check rules over facts with the given columns, by predicate.

    A predicate may be given by name, `<iri>` or `prefix:local`. Raises ProgramError with all
    problems; DataError if declared columns are not those given.
    """
    return plan_texts(texts_of(rules), given, functions)


def plan_texts(
    texts: Iterable[Text],
    given: Mapping[str, Sequence[Column]],
    functions: Iterable[Function] = (),
    stored: bool = False,
) -> PlannedRules:
    """The same for texts that have been read; perhaps from a version of a materialisation, where
    they were `stored`.
    """
    programs, prefixes, problems = parsed(texts, given)
    if not stored:
        problems += [one for program in programs for one in program.objections]
    problems += _of_time(programs)
    schema: dict[str, Predicate] = {}
    sql_names = SqlNames(tuple)

    def names(name: str) -> str:
        return sql_names.name(name, prefixes)

    for program in programs:
        for declaration in program.declarations:
            schema, more = declare(schema, declaration, names)
            problems += more
    meant = {name: resolve(name, schema, prefixes) for name in given}
    without = _without_columns(programs)
    for name, columns in given.items():
        if meant[name] in without and [(c.name, c.meant) for c in columns] == [_HOLDS]:
            columns = ()
        _require_declared(schema.get(meant[name]), columns)
        nothing = (None,) * len(columns)
        predicate = with_staged(schema, meant[name], tuple(columns), nothing, True, names)
        schema = {**schema, meant[name]: predicate}
    programs, wrong = all_positional(programs, schema)
    problems += wrong
    programs = [facts_with_moments(program, schema) for program in programs]
    known = {function.name: function for function in functions}
    arrivals = [Arrival(program) for program in programs]
    try:
        facts = KnownFacts(set(meant.values()))
        planned = plan_program(State(), Hypergraph(), Edited(arrivals), schema, facts, known, names)
    except ProgramError as error:
        raise ProgramError(in_order([*problems, *error.problems])) from None
    if problems:
        raise ProgramError(in_order(problems))
    return PlannedRules(planned, _facts(programs, planned.schema), meant, prefixes)


def _of_time(programs: Sequence[Program]) -> Iterator[Problem]:
    """What texts say of time, which never goes on there."""
    for program in programs:
        for rule in program.rules:
            if reads_clock([rule]):
                hint = "Write the time, or let a fact have it."
                yield Problem("there is no now() on Spark", rule.span, hint)
        for window in program.windows:
            hint = "Leave old facts out beforehand."
            yield Problem("there are no windows on Spark", window.span, hint)


def parsed(
    texts: Iterable[Text], given: Collection[str] = ()
) -> tuple[list[Program], dict[str, str], list[Problem]]:
    """The texts of rules that can be parsed, the prefixes of all, and the problems of the rest.

    `given` are the predicates that have facts.
    """
    programs, problems = [], []
    prefixes: dict[str, str] = {}
    for text, name in texts:
        program, wrong = parsed_text(text, name, prefixes, own_triple=TRIPLE in given)
        programs.append(program)
        problems += wrong
        problems += [_varying(rule) for rule in program.rules if is_template(rule)]
        prefixes.update(program.prefixes)
    return programs, prefixes, problems


def _varying(rule: Rule) -> Problem:
    return Problem(
        "a rule with a variable for a predicate cannot run on Spark, which must know all rules "
        "before it sees facts", rule.span,
        "Write one rule for each predicate, or reason in a database file.",
    )  # fmt: skip


_HOLDS = (HOLDS.name, HOLDS.type)


def _without_columns(programs: Iterable[Program]) -> set[str]:
    """The predicates that a program uses with no columns: their data frames have one, `holds`."""
    atoms = (a for p in programs for r in p.rules for a in (r.head, *atoms_of(r.body)))
    return {atom.predicate for atom in atoms if not atom.terms}


def _require_declared(declared: Predicate | None, columns: Sequence[Column]) -> None:
    """Raise DataError unless the types of columns are as declared; narrower numbers may
    stand for wider ones."""
    if declared is None:
        return
    told = [(c.name, t) for c, t in zip(declared.columns, declared.settled, strict=True)]
    found = [(c.name, c.meant) for c in columns]
    as_declared = len(told) == len(found) and all(
        fits(wanted, type_) for (_, wanted), (_, type_) in zip(told, found, strict=True)
    )
    if not as_declared:
        shown, wanted = (", ".join(f"{n}: {t}" for n, t in columns) for columns in (found, told))
        raise DataError(f"{declared.name} is declared with ({wanted}), the data have ({shown}).")


def _facts(
    programs: Iterable[Program], schema: Mapping[str, Predicate]
) -> dict[str, list[tuple[object, ...]]]:
    """The facts in texts; those of terms of all kinds with their texts."""
    facts: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for program in programs:
        for fact in program.facts:
            known = schema[fact.predicate]
            values = (
                _term(term, known.declared) if column.mixed else term.value
                for term, column in zip(fact.terms, known.columns, strict=True)
                if isinstance(term, Constant)
            )
            facts[fact.predicate].append(tuple(values))
    return facts


def _term(constant: Constant, declared: bool) -> str:
    """The text of a term, which in a column that is declared is the literal that is written."""
    return (constant.literal if declared else None) or text_of_term(constant)
