"""The verbs of an update: they say what is to change. `change/apply.py` carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from zodiac_sql.change.baseline import Baseline
from zodiac_sql.change.change import Change
from zodiac_sql.change.kept_blanks import with_kept_blanks
from zodiac_sql.change.load_files import File, load, staged
from zodiac_sql.change.not_explicit import absent_facts
from zodiac_sql.change.request import Request
from zodiac_sql.change.timed_update import TimedUpdate
from zodiac_sql.database import dictionary
from zodiac_sql.database.guard import exclusive
from zodiac_sql.errors import QueryError
from zodiac_sql.facts.row_options import AS_THEY_ARE, RowKeywords, RowOptions, row_options_of
from zodiac_sql.facts.stage import staged_explicit
from zodiac_sql.language.schema import Predicate, Staged
from zodiac_sql.language.syntax import Program, Type
from zodiac_sql.names import EXPLICIT_SCHEMA
from zodiac_sql.paths import Files, files_of
from zodiac_sql.program.doubts import absent
from zodiac_sql.program.rule_sets import MAIN, Into, MadeRules, require_name
from zodiac_sql.sql.relations import Part

if TYPE_CHECKING:
    from zodiac_sql.change.plan_sizes import PlannedSizes
    from zodiac_sql.facts.load.options import TableOptions


class Update(TimedUpdate):
    """What is to change, collected verb by verb; nothing is visible until the update is applied.

    Facts are read, encoded and type-checked as they are given. Rules are parsed as they are given,
    and checked together when the update is applied.
    """

    @property
    def change(self) -> Change:
        """What the update did. Raises QueryError before the update has been applied."""
        change = self._collected.report.change
        if change is None:
            raise QueryError("an update's change is known when its with block has ended")
        return change

    @property
    def plan(self) -> PlannedSizes:
        """What the update is expected to derive, after `preview(plan=True)`."""
        plan = self._collected.report.plan
        if plan is None:
            raise QueryError("a plan is known when the with block of preview(plan=True) has ended")
        return plan

    @exclusive
    def add_rules(
        self,
        rules: str | Path,
        *,
        set: str = MAIN,
        replace: bool = False,
        strict: bool = False,
    ) -> None:
        """Add rules, facts, declarations and prefixes from a text or a file to a rule set.

        A string is a path if it ends in .rules, .dl or .srl (SHACL rules). A rule that the set has
        already, up to the names of variables and the order of the body, is passed over and reported
        in the change's notes, and so is what looks like a mistake: an atom of a predicate of which
        there are no facts, or names where variables may be meant. With `strict`, both are errors.
        With `replace`, a rule replaces the one of the same name. Facts in a text for another set
        than main belong to the set. Errors in the text are reported together when the update is
        applied. A file that cannot be read raises ProgramError immediately, a name that no set can
        have QueryError.
        """
        program, into = self._parsed(rules, set)
        self._collected.add_program(program, into, replace=replace, strict=strict)

    def _refuse_early(self) -> None:
        """Raise ProgramError for rules that are wrong whatever facts follow."""
        from zodiac_sql.change.early import refuse_early  # late: only commands ask this

        refuse_early(self._collected)

    @exclusive
    def replace_rules(self, rules: str | Path | MadeRules, *, set: str) -> None:
        """Make the rules and facts of a text or a file those of a rule set.

        Only the difference is a change: what the set has already stays, up to the names of
        variables and the order of the body. `rules` can be an ontology: `Translation.written()`.
        Of its blank nodes, those of which all is said that was said before keep their names.
        Raises the errors of `add_rules`.
        """
        program, into = self._parsed(rules, set)
        if isinstance(rules, MadeRules):
            before = self._collected.before
            program = with_kept_blanks(before.store, before.state, program, set)
        self._collected.replace_set(program, into)

    def _parsed(self, rules: str | Path | MadeRules, name: str) -> tuple[Program, Into]:
        """A text or file, and the rule set that it is for."""
        require_name(name)
        if isinstance(rules, MadeRules):
            self._collected.report.remarks += rules.remarks
            return rules.program, Into(name, rules.source, rules.digest)
        return self._collected.parsed(rules, name)

    @exclusive
    def drop_rules(self, *rules: str | Path, set: str | None = None, strict: bool = False) -> None:
        """Remove rules from a rule set: by name, as text, or all of a file.

        Without rules, the whole set goes, and the facts that it states. Without a `set`, the rules
        are those of main; the name "heat/r1" means r1 of the set heat. A rule that other sets have,
        too, stays for them.

        A string that is no rule's name is a path if it ends in .rules, .dl or .srl, and text if it
        has an arrow. A rule given as text need not be written as it was added: labels, names of
        variables and the order of the body do not matter. A rule or set that is not there is passed
        over and reported in the change's notes; with `strict` it is an error (QueryError). Raises
        ProgramError for a text that cannot be read.
        """
        if not rules and set is not None:
            self._collected.drop_set(set, strict)
        edits = self._collected.edits
        for given in rules:
            self._collected.request.rules.drop(
                given, edits.prefixes, strict, set, edits.provisional
            )

    @exclusive
    def insert(self, predicate: str, rows: object, **options: Unpack[RowKeywords]) -> None:
        """Insert explicit facts: tuples, or a table in columns. Raises DataError.

        `options` are those of `KnowledgeBase.insert`. A table without rows creates its predicate.
        """
        collected = self._collected
        name, wanted = collected.edits.meant(predicate), _row_options(options)
        staged = collected.stage(name, rows, options=wanted)
        if staged is not None:
            collected.insert_rows(staged)

    @exclusive
    def delete(self, predicate: str, rows: object, **options: Unpack[RowKeywords]) -> None:
        """Delete explicit facts; rows that are not there are passed over. Raises DataError.

        The rows are read as by `insert`. Facts that are not explicit but derived stay; the change's
        notes tell how many.
        """
        collected, request, edits = self._collected, self._collected.request, self._collected.edits
        name, wanted = edits.meant(predicate), _row_options(options)
        known = edits.provisional.get(name)
        if known is None:
            collected.report.remarks += absent(name, edits.provisional)
        if known is None or known.open or known.awaits_facts:
            return
        part = None if options else _looked_up(collected.before, name, rows)
        if part is not None:
            nothing = (None,) * known.arity
            there = Staged(name, known.columns, nothing, part.table, False, part.rows)
            request.deletes[name].append(there)
            request.seen[name] = part
        elif (staged := collected.stage(name, rows, gone=True, options=wanted)) is not None:
            request.deletes[name].append(staged)

    @exclusive
    def replace(self, predicate: str, rows: object, **options: Unpack[RowKeywords]) -> None:
        """Make these rows the only explicit facts of a predicate. Raises DataError.

        The rows are read as by `insert`. Only the difference from the present facts is inserted and
        deleted.
        """
        collected, name = self._collected, self._collected.edits.meant(predicate)
        staged = collected.stage(name, rows, options=_row_options(options))
        if staged is not None:
            collected.insert_rows(staged, alone=True)
        store, state = collected.before.store, collected.before.state
        known = state.schema.get(name)
        if known is not None and state.rows.get((EXPLICIT_SCHEMA, known.sql_name)):
            with collected.report.timed("stage"):
                collected.request.deletes[name].append(staged_explicit(store, known))

    @exclusive
    def keep_feed(
        self,
        predicates: Iterable[str] | None = None,
        *,
        count: int | None = None,
        days: float | None = None,
        bytes: int | None = None,
    ) -> None:
        """Keep a feed of what enters and leaves some predicates, or all, from the next change on.

        It replaces what was said of the feed before. Raises QueryError for limits that are none.
        """
        from zodiac_sql.change.keep_feed import keeping_of

        edits, report = self._collected.edits, self._collected.report
        self._collected.request.keeping = keeping_of(
            edits, report, predicates, (count, days, bytes)
        )

    @exclusive
    def alter(self, predicate: str, types: Mapping[str, str]) -> None:
        """Give columns of a predicate other types, with the facts that are there.

        Raises QueryError; when the update is applied, DataError for a value that does not convert
        exactly, ProgramError if rules forbid the types.
        """
        from zodiac_sql.change.alter import alter

        alter(self._collected, predicate, types)

    @exclusive
    def record(self, stream: str, position: int) -> None:
        """Note in the file, with this change, how far a stream of updates has come.

        `KnowledgeBase.position` returns the position later, even after the process was killed.
        """
        self._collected.request.positions[stream] = position

    @exclusive
    def note(self, text: str) -> None:
        """Add a remark to the change's notes."""
        self._collected.report.remarks.append(text)

    @exclusive
    def load(
        self, path: Files, predicate: str | None = None, **options: Unpack[TableOptions]
    ) -> None:
        """Insert the facts of a file, or of several: RDF, CSV, TSV, Parquet or JSON lines.

        `predicate` is for files that are tables; by default it is the name of the file. `options`
        say how a table is read: those of `KnowledgeBase.load`. Raises DataError with
        file and line; with `skip_bad`, bad lines are left out and reported in the change's notes.
        With `columns="read"`, a table may be read only when the update is applied: its rules tell
        the columns, whether they are added before or after.
        """
        for file in self._files(path, predicate, options, inserts=True):
            load(self._collected, file)

    @exclusive
    def unload(
        self, path: Files, predicate: str | None = None, **options: Unpack[TableOptions]
    ) -> None:
        """Delete the explicit facts that a file lists. The file is read as by `load`.

        Facts that other files state, too, go as well: a note tells how many are deleted. Facts that
        are not there are passed over and counted in another. They neither create predicates or
        symbols nor settle the types of columns.
        """
        before, report = self._collected.before, self._collected.report
        for file in self._files(path, predicate, options, inserts=False):
            with report.timed("stage"), dictionary.nothing_new(before.store):
                loaded = staged(before.store, self._collected.schema_for_facts(), file)
                request = self._collected.request
                counts = [_delete_staged(before, request, one) for one in loaded.staged]
            taken, absent = sum(taken for taken, _ in counts), sum(absent for _, absent in counts)
            report.of_files += [*loaded.notes, *_taken(file.path, taken, absent)]

    def _files(
        self, given: Files, predicate: str | None, options: TableOptions, *, inserts: bool
    ) -> Sequence[File]:
        """What a verb says of files. Raises DataError for options that say nothing."""
        from zodiac_sql.facts.load.options import options_of  # late: most changes read no file

        name = self._collected.edits.meant(predicate) if predicate else None
        how = options_of(options, enters=inserts)
        return [File(path, name, how) for path in files_of(given)]


def _row_options(given: RowKeywords) -> RowOptions:
    return row_options_of(given) if given else AS_THEY_ARE


def _looked_up(before: Baseline, predicate: str, rows: object) -> Part | None:
    """The facts to be deleted, if the previous update has looked up these rows already."""
    marks = before.marks
    if marks is None or marks.generation != before.state.generation:
        return None
    given, part = marks.ahead.get(predicate, (None, None))
    return part if given is rows else None


def _taken(path: Path, taken: int, absent: int) -> Iterator[str]:
    """What to say of the facts of a file that are deleted, and of those that are not there."""
    if taken:
        facts = "1 fact is" if taken == 1 else f"{taken} facts are"
        yield f"{path}: {facts} deleted, also if another file states them"
    if absent:
        facts = "1 fact is" if absent == 1 else f"{absent} facts are"
        yield f"{path}: {facts} not among the explicit facts, and passed over"


def _may_have(known: Predicate, staged: Staged) -> bool:
    """Whether staged facts can be facts of a predicate, by the types of its columns."""
    pairs = [(a.type, b.type) for a, b in zip(known.columns, staged.columns, strict=True)]
    return all(a is b or None in (a, b) or {a, b} == {Type.INT, Type.FLOAT} for a, b in pairs)


def _delete_staged(before: Baseline, request: Request, staged: Staged) -> tuple[int, int]:
    """Collect staged facts to be deleted; how many of them are explicit, and how many are not."""
    from zodiac_sql.change.as_altered import as_altered  # late: most changes read no file

    store, state = before.store, before.state
    known = state.schema.get(staged.predicate)
    if known and not state.rows.get((EXPLICIT_SCHEMA, known.sql_name)):
        known = None
    if known and not _may_have(known, staged):
        known = None
    if known:
        request.deletes[staged.predicate].append(staged)
    absent = absent_facts(store, known, staged)
    all_ = absent_facts(store, None, staged)
    again = as_altered(store, known, staged) if known and absent else None
    if known and again:
        request.deletes[staged.predicate].append(again)
        others = absent_facts(store, None, again)
        absent -= others - absent_facts(store, known, again)
    return all_ - absent, absent + staged.absent
