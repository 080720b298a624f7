"""The verbs that change nothing: questions, and copies of what there is.

They stand by themselves: whatever has a session (session.py) can be asked. A knowledge base is such
a thing, which can be changed, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from zodiac_sql.database.guard import Guard, exclusive, limited
from zodiac_sql.database.limits import Limiting
from zodiac_sql.errors import OtherTableWarning
from zodiac_sql.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.change.change import Change
    from zodiac_sql.change.materialise import Progress
    from zodiac_sql.facts.export import Exported
    from zodiac_sql.read.changes import Changes
    from zodiac_sql.read.drawing.draw import Drawing
    from zodiac_sql.read.explain.decisions import Decisions
    from zodiac_sql.read.query import Answer
    from zodiac_sql.read.sparql.answer import SparqlAnswer
    from zodiac_sql.read.time_profile import TimeProfile
    from zodiac_sql.read.verify.verify import Verification
    from zodiac_sql.read.why.absence import WhyNot
    from zodiac_sql.read.why.inconsistencies import Inconsistencies
    from zodiac_sql.read.why.proof import Explanation

_Answer = TypeVar("_Answer")


class Questions:
    """What can be asked of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def _guard(self) -> Guard:
        return self._session.guard

    def _read(self, answer: Callable[..., _Answer], *what: object) -> _Answer:
        """What a function finds in the database and its state."""
        session = self._session
        return session.read(lambda state: answer(session.store, state, *what))

    @limited
    def sql(
        self,
        text: str,
        parameters: Sequence[object] | None = None,
        **limits: Unpack[Limiting],
    ) -> Answer:
        """Answer an SQL statement over the views. Each predicate has a view.

        `?` or `$1` stand for parameters. Raises QueryError if the statement would change anything;
        warns (OtherTableWarning) if a name in it is a predicate's, but not that of its view.
        """
        from zodiac_sql.read.other_tables import other_tables
        from zodiac_sql.read.query import answer_sql

        found = answer_sql(self._session.store, text, parameters)
        for said in other_tables(self._session.store, self._session.state, text):
            warnings.warn(said, OtherTableWarning, stacklevel=3)
        return found

    @limited
    def query(
        self, goals: str, *, rules: str | Path | None = None, **limits: Unpack[Limiting]
    ) -> Answer:
        """Answer goals in the rule language: `anomaly(X), hasTemperature(X, T), T > 30`.

        One column per variable, each solution once; without variables `holds: bool`. `Answer` tells
        the types. With `rules`, a text or a file, the answer is the one that there would be if they
        were added: only what the goals ask for is derived, and then forgotten. Raises ProgramError
        or QueryError; EvaluationError if a value cannot be computed.
        """
        if rules is not None:
            from zodiac_sql.read.with_rules import answer_with_rules

            return self._read(answer_with_rules, self._session.functions, goals, rules)
        from zodiac_sql.read.query import answer_goals

        return self._read(answer_goals, self._session.functions, goals)

    @limited
    def sparql(self, query: str, **limits: Unpack[Limiting]) -> Answer:
        """Answer a SPARQL query: a class is a unary predicate, a property a binary one.

        SELECT: one column per variable, in which NULL is unbound. ASK: `holds: bool`, with one row
        if so. CONSTRUCT and DESCRIBE: `subject, predicate, object: string`, a row for each triple,
        with terms as symbols are written. Raises QueryError, which names what is wrong or not
        supported; it needs rdflib.
        """
        from zodiac_sql.read.sparql.answer import answer_sparql

        return self._read(answer_sparql, query)

    @limited
    def _sparql(
        self, query: str, *, natives: bool = False, **limits: Unpack[Limiting]
    ) -> SparqlAnswer:
        """The same with all terms as symbols are written, for the standard forms, or as natives."""
        from zodiac_sql.read.sparql.answer import answer_terms

        return self._read(answer_terms, query, natives)

    @limited
    def why(
        self,
        goal: str,
        *,
        all: bool = False,
        limit: int | None = None,
        **limits: Unpack[Limiting],
    ) -> Explanation:
        """Why a fact holds: one proof of small height, down to explicit facts.

        `goal` is a fact as in rules, "anomaly(wt2)"; with variables, its first answers are
        explained. With `all`, or at most `limit` of them, the answer has all rule instances that
        derive the fact directly, and as many solutions of an aggregate's group. Every proof is
        checked before it is returned.

        Raises ProgramError for a goal that cannot be read, QueryError if it does not hold,
        FunctionError if it needs a function that is not registered, StoreError if there is no proof
        for a fact that is in the file.
        """
        from zodiac_sql.read.why.why import why

        return self._read(why, self._session.functions, goal, all, limit)

    @limited
    def why_not(self, goal: str, *, depth: int = 1, **limits: Unpack[Limiting]) -> WhyNot:
        """Why a fact does not hold: for each rule that could derive it, what the rule lacks.

        `goal` is a fact as in `why`; with variables, it is asked why no fact is like that. With a
        larger `depth`, the facts that are missing are explained in the same way. If the goal does
        hold, the answer says so and why. Raises the errors of `why`.
        """
        from zodiac_sql.read.why.why_not import why_not

        return self._read(why_not, self._session.functions, goal, depth)

    @limited
    def inconsistencies(self, *, limit: int = 100, **limits: Unpack[Limiting]) -> Inconsistencies:
        """What contradicts itself by the axioms of ontologies: disjoint classes with a common
        member, things that are the same and different, and the like.

        For each of at most `limit`: the axiom, the individuals, and a proof as of `why`. The result
        is true if there is any; its `total` counts all.
        """
        from zodiac_sql.read.why.inconsistencies import inconsistencies

        return self._read(inconsistencies, self._session.functions, limit)

    @limited
    def table(self, predicate: str, **limits: Unpack[Limiting]) -> Answer:
        """All facts of a predicate, explicit and derived, each once. Raises QueryError."""
        from zodiac_sql.read.query import answer_table

        return self._read(answer_table, predicate)

    @contextmanager
    def batches(self, predicate: str, rows: int = 100_000) -> Iterator[pa.RecordBatchReader]:
        """The answer of `table` in Arrow batches, for answers too large for memory. Use `with`."""
        from zodiac_sql.read.query import stream_table

        with self._session.holding(
            lambda state: stream_table(self._session.store, state, predicate, rows)
        ) as reader:
            yield reader

    @exclusive
    def rules(self) -> Answer:
        """The rules: `name: string, rule: string, hypernode: string, added_at: string` (UTC), and
        `sets: list<string>`.
        """
        from zodiac_sql.read.describe import rules

        return rules(self._session.current())

    @exclusive
    def rule_sets(self) -> Answer:
        """The rule sets: `set: string, rules: int64, source: string` (the file, or null), `digest:
        string` (SHA-256 of its text), `changed_at: string` (UTC), `prefixes: string`.
        """
        from zodiac_sql.read.describe import rule_sets

        return rule_sets(self._session.current())

    @exclusive
    def predicates(self) -> Answer:
        """The predicates: `predicate: string, sql_name: string, columns: string`, and how many
        facts each has: `explicit: int64, derived: int64, extension: int64`.
        """
        from zodiac_sql.read.describe import predicates

        return self._read(predicates)

    @exclusive
    def position(self, stream: str) -> int | None:
        """How far a stream of updates has come, as `Update.record` last recorded it; or None."""
        return self._session.current().positions.get(stream)

    @exclusive
    def hypernodes(self) -> Answer:
        """The hypernodes (rules that are evaluated together) in the order of evaluation.

        `hypernode: string, stratum: int64, recursive: bool, modules: list<string>` ("tc(path)"),
        `rules: list<string>, derives: list<string>, reads: list<string>, rows: int64` (facts in its
        tables), `trees: list<string>` (what was decided for its cyclic rules, and why).
        """
        from zodiac_sql.read.describe import hypernodes

        return hypernodes(self._session.current())

    @exclusive
    def constraints(self) -> Answer:
        """The constraints: `name: string, constraint: string` (its text), `sets: list<string>`, and
        `violations: int64`, how often each is violated now.
        """
        from zodiac_sql.read.constraints import constraints

        return self._read(constraints)

    @limited
    def violations(
        self, constraint: str | None = None, *, limit: int = 100, **limits: Unpack[Limiting]
    ) -> Answer:
        """What violates constraints, or one of them, because it was let pass with `check=False`.

        `constraint: string` is the name, `violation: string` the values, as in "X = wt1, T = 81.0",
        and `fact: string` what `why` explains: at most `limit` for each constraint. Raises
        QueryError if there is no such constraint.
        """
        from zodiac_sql.read.constraints import violations

        return self._read(violations, constraint, limit)

    @exclusive
    def changes(
        self, *predicates: str, since: int | None = None, until: int | None = None
    ) -> Changes:
        """What has entered and left predicates that are in the feed (`keep_feed`).

            seen = kb.changes().position
            for change in kb.changes(since=seen): ...

        Changes are numbered 1, 2, 3, ...; those after number `since` are returned, by default all
        that are kept, up to `until`. Raises QueryError for changes that are not kept any more.
        """
        from zodiac_sql.read.changes import changes

        return self._read(changes, predicates, since, until)

    @exclusive
    def feed(self) -> Answer:
        """What is in the feed: `predicate: string` (null: all), `since: int64` (`changes` can be
        asked from there on), `position: int64` (the last change), `entries: int64, bytes: int64`,
        and what is kept at least, or null: `count: int64, days: double, limit: int64` (bytes).
        """
        from zodiac_sql.read.changes import describe_feed

        return describe_feed(self._session.current())

    @exclusive
    def graph(self, change: Change | None = None, *, rules: bool = False) -> Drawing:
        """The graph of hypernodes, to draw: `.svg()`, `.mermaid()`, `.dot()`, `.save(path)`.

        Boxes have the predicates that are derived, with the numbers of their facts; explicit facts
        come from boxes above. With a change, or the preview of one, what is new, gone and changed
        has colours, and numbers tell what came and went. With `rules`, boxes have rules instead,
        and the graphs before and after a change stand side by side.
        """
        from zodiac_sql.read.describe import drawing

        return drawing(self._session.current(), change, rules)

    @limited
    def export(
        self,
        directory: str | Path,
        format: str = "parquet",
        *predicates: str,
        inferred: bool = False,
        **limits: Unpack[Limiting],
    ) -> Exported:
        """Write extensions to files, one each ("parquet", "csv") or together ("nt", "ttl").

        By default all predicates; with `inferred`, only facts that are derived and not explicit.
        Raises DataError for an unknown format, QueryError for an unknown predicate, StoreError.
        """
        from zodiac_sql.read.exporting import export

        return self._read(export, predicates, directory, format, inferred)

    @limited
    def verify(
        self, *, progress: Progress | None = None, **limits: Unpack[Limiting]
    ) -> Verification:
        """Derive everything once more in temporary tables, and compare it with the file.

        The result is true if nothing differs. This takes as long as all rules from scratch, or
        longer. Raises FunctionError if rules use a function that is not registered.
        """
        from zodiac_sql.read.verify.verify import verify

        return verify(self._session.store, self._session.functions, progress)

    @limited
    def explain(
        self,
        change: Change | None = None,
        *,
        progress: Progress | None = None,
        **limits: Unpack[Limiting],
    ) -> Decisions:
        """Which operators evaluate each hypernode, and what that takes: time, facts, rounds, rules.

            print(kb.explain())                          from scratch
            with kb.preview() as p: p.delete("edge", [("a", "b")])
            print(kb.explain(p.change))                  a change, or what one would do

        Without a change, every hypernode is evaluated once more in temporary tables. With one, or
        the preview of one, nothing is evaluated: it says what each hypernode had to do. The answer
        has tables: `hypernodes`, `operators` and `rules` (`Decisions` tells their columns).
        Raises FunctionError if rules use a function that is not registered.
        """
        from zodiac_sql.read.explain.from_scratch import explain
        from zodiac_sql.read.explain.of_change import explain_change

        if change is not None:
            return explain_change(change, self.prefixes)
        return explain(self._session.store, self._session.functions, progress)

    @limited
    def profile(
        self,
        change: Change | None = None,
        *,
        from_scratch: bool = False,
        progress: Progress | None = None,
        **limits: Unpack[Limiting],
    ) -> TimeProfile:
        """Where the time goes: what each rule and each hypernode took in all changes since the
        database was opened, and in the last of them.

            print(kb.profile())
            print(kb.profile(from_scratch=True))         and from scratch

        With a `change`, or the preview of one, it tells that one. Nothing is evaluated, unless
        `from_scratch` is asked for: then everything is, once more, in temporary tables, as by
        `explain`, which tells how the work was done, and what was expected. The answer has the
        tables `rules` and `hypernodes` (`TimeProfile` tells their columns). Raises FunctionError if
        that needs a function that is not registered.
        """
        from zodiac_sql.change.times import Times
        from zodiac_sql.program.state import hypergraph_of
        from zodiac_sql.read.explain.from_scratch import explain
        from zodiac_sql.read.time_profile import profile_of

        session = self._session
        graph, times = session.read(hypergraph_of), session.times
        if change is not None:
            graph, times = change.after, Times()
            times.add(change)
        scratch = explain(session.store, session.functions, progress) if from_scratch else None
        return profile_of(graph, self.prefixes, times, scratch)

    @property
    def missing_functions(self) -> tuple[str, ...]:
        """Functions that rules in the file use and that are not registered."""
        return tuple(sorted(set(self._session.state.functions).difference(self._session.functions)))

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that goals may have, each with its IRI: those of the rules and RDF files."""
        from zodiac_sql.read.why.known import prefixes_of

        return prefixes_of(self._session.state)

    def close(self) -> None:
        """Close the connection to the database."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._session.guard.inherited:  # a fork closes nothing
            self.close()

    def __repr__(self) -> str:
        rules, predicates = len(self._session.state.written), len(self._session.state.schema)
        return f"<zodiac_sql {self._session.path}: {rules} rules, {predicates} predicates>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the predicates, and how many facts each has."""
        return f"<div>{escape(repr(self))}</div>{self.predicates()._repr_html_()}"
