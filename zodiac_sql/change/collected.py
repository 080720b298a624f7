"""What the verbs of one update have said so far.

Facts are staged and type-checked as they are given, and settle the columns of their predicates.
Rules are parsed as they are given, and checked together when the update is applied
(change/apply.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.request import Request
from zodiac_sql.change.schema_edits import SchemaEdits, no_schema_edits
from zodiac_sql.change.update_report import UpdateReport
from zodiac_sql.change.widening import widen_for
from zodiac_sql.facts.chosen_rows import notes_on
from zodiac_sql.facts.row_options import AS_THEY_ARE, RowOptions
from zodiac_sql.facts.stage import stage_rows, staged_explicit
from zodiac_sql.language.named_columns import facts_in_place
from zodiac_sql.language.schema import Predicate, Schema, Staged
from zodiac_sql.language.syntax import Program
from zodiac_sql.language.templates import TRIPLE
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.program.rule_edits import RuleEdits, parsed_text, rule_text, source_of
from zodiac_sql.program.rule_sets import Into
from zodiac_sql.program.set_facts import is_of_facts, with_facts_of_set
from zodiac_sql.program.windows import WindowEdits


@dataclass(frozen=True, slots=True)
class Collected:
    """What an update begins with, what it asks for, what it makes of the schema, and its report.

    Rule: nothing in it refers to it, so its facts and states are freed when the update is over.
    Reason: what refers to itself stays until Python looks for garbage: for thousands of updates.
    """

    before: Baseline
    request: Request
    edits: SchemaEdits
    report: UpdateReport

    def parsed(self, rules: str | Path, set_name: str) -> tuple[Program, Into]:
        """A text or a file of rules, and the set that it is for. Its problems are reported."""
        edits = self.edits
        text, source = rule_text(rules)
        # `triple` may be a predicate like any other, and does not stand for all of them then.
        own_triple = TRIPLE in edits.provisional
        program, problems = parsed_text(text, source, edits.prefixes, own_triple, edits.provisional)
        program, more = facts_in_place(program)
        self.report.problems += [*problems, *more, *program.objections]
        return program, Into(set_name, *source_of(rules, text))

    def add_program(
        self, program: Program, into: Into, *, replace: bool = False, strict: bool = False
    ) -> None:
        """Collect a parsed text of rules."""
        self._note(program)
        program = self._as_there(program)
        self.request.rules.add(with_facts_of_set(program, into.name), replace, strict, into)

    def replace_set(self, program: Program, into: Into) -> None:
        """Collect a parsed text as the rules and facts of a set."""
        self._note(program)
        program = self._as_there(program)
        self._delete_facts_of_set(into.name)
        self.request.rules.replace_set(with_facts_of_set(program, into.name), into)

    def _as_there(self, program: Program) -> Program:
        """A text whose rules are read as those in the file are that say the same."""
        before = self.before
        known = {**before.state.functions, **before.functions}
        return self.request.rules.as_there(program, self.edits.provisional, known)

    def drop_set(self, name: str, strict: bool) -> None:
        """Collect that a set goes, with its facts."""
        self._delete_facts_of_set(name)
        self.request.rules.drop_set(name, strict)

    def _delete_facts_of_set(self, name: str) -> None:
        """Collect that the facts in the file that a set states go, unless it states them again."""
        places, before = self.request.rules.places, self.before
        bringing = {rule for label, rule in places.labels(name).items() if is_of_facts(label)}
        if not bringing:
            return
        for rule in before.graph().rules():
            if rule.name in bringing:
                (stated,) = rule.positive_atoms()
                known = before.state.schema[stated.predicate]
                with self.report.timed("stage"):
                    gone = staged_explicit(before.store, known)
                    self.request.deletes[known.name].append(gone)

    def _note(self, program: Program) -> None:
        """Collect what a text says besides its rules and facts."""
        self.edits.add_prefixes(program.prefixes)
        for declaration in program.declarations:
            self.report.problems += self.edits.name_columns(declaration)

    def stage(
        self,
        predicate: str,
        rows: object,
        *,
        gone: bool = False,
        options: RowOptions = AS_THEY_ARE,
    ) -> Staged | None:
        """Stage rows of a predicate with the columns known so far; None if there are no rows."""
        with self.report.timed("stage"):
            known = self.edits.provisional.get(predicate)
            known = known and self._as_facts_find(known)
            store = self.before.store
            staged = stage_rows(store, predicate, rows, known, gone=gone, options=options)
        if staged is not None and staged.left_out:
            self.report.remarks += notes_on(predicate, staged.left_out)
        if staged is not None and staged.absent:
            self.report.remarks.append(_on_absent(predicate, staged.absent))
        return staged

    def insert(self, staged: Staged, *, empty: bool = False) -> None:
        """Collect facts that enter: they settle the columns of their predicate.

        If they are `empty`, they make sure that it is there, and say nothing if it has facts.
        """
        name = staged.predicate
        if empty and not self._has_facts(name):
            self.edits.tell_of(staged)
        if empty:
            return
        known = self.edits.provisional.get(name)
        if known is not None and known.awaits_facts:
            self.edits.retype(self._as_facts_find(known))
        widen_for(self, staged)
        self.edits.settle_by(staged)
        self.request.inserts[name].append(staged)

    def schema_for_facts(self) -> Schema:
        """The predicates as facts of a file find them."""
        schema = self.edits.provisional
        awaiting = {name: known for name, known in schema.items() if known.awaits_facts}
        found = {name: self._as_facts_find(known) for name, known in awaiting.items()}
        return {**schema, **found} if found else schema

    def _as_facts_find(self, known: Predicate) -> Predicate:
        """A predicate as facts find it: what a table without rows has told does not count."""
        if not known.awaits_facts:
            return known
        if self._has_facts(known.name):  # they go, but until then their types stand
            return replace(known, settled=known.told, declared=False)
        return known.without_told()

    def insert_rows(self, staged: Staged, *, alone: bool = False) -> None:
        """Collect rows that enter, perhaps as the only ones.

        A table without rows makes sure that its predicate is there; a list says nothing of columns.
        """
        empty = staged.rows == 0 and staged.given is None
        self.insert(staged, empty=empty)
        known = self.edits.provisional.get(staged.predicate)
        if empty and alone and known is not None and not known.declared:
            # Its facts go in this update: until then, their types stand.
            self.edits.retype(known.with_told([column.meant for column in known.columns]))

    def _has_facts(self, predicate: str) -> bool:
        """Whether a predicate has explicit facts, or gets some."""
        state = self.before.state
        known = state.schema.get(predicate)
        if known is not None and state.rows.get((EXPLICIT_SCHEMA, known.sql_name)):
            return True
        return predicate in self.request.inserts


def _on_absent(predicate: str, count: int) -> str:
    facts = "1 fact that is" if count == 1 else f"{count} facts that are"
    return (
        f"{predicate}: {facts} to be deleted cannot be there, because the predicate's columns have "
        "other types"
    )


def nothing_collected(before: Baseline, check: bool) -> Collected:
    """An update whose verbs have said nothing yet. It `check`s constraints, or lets them pass."""
    state = before.state
    rules = RuleEdits(state.written, state.sets, before.written, WindowEdits(state.windows))
    return Collected(
        before, Request(rules, check), no_schema_edits(before.store, state), UpdateReport()
    )
