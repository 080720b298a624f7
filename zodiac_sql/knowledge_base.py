"""The façade that users import. Each verb has a few lines; other modules do the work."""

from __future__ import annotations

import warnings
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, TypeVar, overload

from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.store import Tracer
from zodiac_sql.errors import MissingFunctionWarning
from zodiac_sql.language.syntax import Type
from zodiac_sql.python_functions import function_of
from zodiac_sql.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.change.change import Change
    from zodiac_sql.change.materialise import Progress
    from zodiac_sql.change.update import Update
    from zodiac_sql.facts.export import Exported
    from zodiac_sql.read.drawing.draw import Drawing
    from zodiac_sql.read.query import Answer
    from zodiac_sql.read.verify.verify import Verification
    from zodiac_sql.read.why.absence import WhyNot
    from zodiac_sql.read.why.proof import Explanation
    from zodiac_sql.stream.channel import UpdateQueue

_Answer = TypeVar("_Answer")


class KnowledgeBase:
    """Facts, rules and all their consequences. Get one from `connect`; close it after use.

    Every verb that changes something is atomic and returns a `Change`. Only the thread that opened
    the knowledge base may use it, one call at a time: any other call raises BusyError immediately.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        if missing := ", ".join(self.missing_functions):
            said = f"rules of {session.path} use functions that are not registered: {missing}."
            said += " Reading works; a change that needs one is refused until it is registered."
            warnings.warn(said, MissingFunctionWarning, stacklevel=3)

    @property
    def _guard(self) -> Guard:
        return self._session.guard

    # Changing

    def add_rules(
        self,
        rules: str | Path,
        *,
        replace: bool = False,
        strict: bool = False,
        progress: Progress | None = None,
    ) -> Change:
        """Add rules, and facts, declarations and prefixes, from a text or a file (.rules, .dl).

        A rule that is there already, up to the names of variables and the order of the body, is
        passed over and reported in the change's notes; with `strict` it is an error. So is a rule
        with another one's name, unless it may `replace` that. Raises ProgramError for all problems.
        """
        with self.update(progress=progress) as update:
            update.add_rules(rules, replace=replace, strict=strict)
        return update.change

    def drop_rules(
        self, *rules: str | Path, strict: bool = False, progress: Progress | None = None
    ) -> Change:
        """Remove rules: by name ("r4"), as text ("p(X) :- q(X)."), or all of a file ("wind.rules").

        For rules given as text, labels, names of variables and the order of the body do not matter.
        A rule that is not there is passed over and reported in the change's notes; with `strict` it
        is a QueryError. Facts in a file stay. Raises ProgramError for a text that cannot be read.
        """
        with self.update(progress=progress) as update:
            update.drop_rules(*rules, strict=strict)
        return update.change

    def insert(self, predicate: str, rows: object) -> Change:
        """Insert explicit facts. Facts that are there already change nothing.

        `rows` are a list of tuples, an Arrow table or stream, a pandas, polars or Spark data frame,
        or a DuckDB relation. Raises DataError if arity or types do not fit, or something is NULL.
        """
        with self.update() as update:
            update.insert(predicate, rows)
        return update.change

    def delete(self, predicate: str, rows: object) -> Change:
        """Delete explicit facts. A fact that rules derive stays derived. Raises DataError."""
        with self.update() as update:
            update.delete(predicate, rows)
        return update.change

    def replace(self, predicate: str, rows: object) -> Change:
        """Make these rows the only explicit facts of a predicate. Raises DataError as `insert`.

        Only the difference from the present facts is inserted and deleted.
        """
        with self.update() as update:
            update.replace(predicate, rows)
        return update.change

    def load(
        self,
        path: str | Path,
        predicate: str | None = None,
        *,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> Change:
        """Insert the facts of a file: RDF (.nt .nq .ttl .trig .rdf .jsonld), .csv, .tsv, .parquet,
        .jsonl; text formats also with .gz.

        RDF has a predicate for each property, and a unary one for each class; a table's rows are of
        the predicate given, or named after the file. A bad line is a DataError with its number, and
        nothing is loaded; with `skip_bad` it is left out and reported in the change's notes.
        """
        with self.update(progress=progress) as update:
            update.load(path, predicate, skip_bad=skip_bad)
        return update.change

    def unload(
        self,
        path: str | Path,
        predicate: str | None = None,
        *,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> Change:
        """Delete the explicit facts that a file lists. The file is read as by `load`.

        Facts that are not there are passed over, and counted in the change's notes.
        """
        with self.update(progress=progress) as update:
            update.unload(path, predicate, skip_bad=skip_bad)
        return update.change

    @contextmanager
    def update(self, *, progress: Progress | None = None) -> Iterator[Update]:
        """Make several verbs one atomic change. After an exception inside, nothing is changed.

        with kb.update() as u: u.add_rules(...); u.insert(...)   then u.change
        """
        from zodiac_sql.change.update import Update

        with self._session.updating(progress) as collected:
            yield Update(collected)

    @contextmanager
    def preview(self, *, progress: Progress | None = None) -> Iterator[Update]:
        """Compute what an update would do, without doing it. Use it like `update`.

        with kb.preview() as p: p.delete("p3", [("a", "b")])   then p.change.deleted
        """
        from zodiac_sql.change.update import Update

        with self._session.previewing(progress) as collected:
            yield Update(collected)

    @overload
    def stream(
        self,
        updates: AsyncIterable[Mapping[str, object]],
        *,
        name: str | None = None,
        coalesce: int = 1,
        queue: int | None = None,
        skip_bad: bool = False,
    ) -> AsyncIterator[Change]: ...

    @overload
    def stream(
        self,
        updates: Iterable[Mapping[str, object]] | str | Path | IO[str] | UpdateQueue,
        *,
        name: str | None = None,
        coalesce: int = 1,
        queue: int | None = None,
        skip_bad: bool = False,
    ) -> Iterator[Change]: ...

    def stream(
        self,
        updates: object,
        *,
        name: str | None = None,
        coalesce: int = 1,
        queue: int | None = None,
        skip_bad: bool = False,
    ) -> Iterator[Change] | AsyncIterator[Change]:
        """Apply updates as they come, each as one change. It is in the file when it is yielded.

            updates = [{"delete": {"at": [("wt1", 20)]}, "insert": {"at": [("wt1", 21)]}}]
            for change in kb.stream(updates):
                print(change.updates, change.inserted)

        An update (`StreamUpdate`) has the keys "delete", "insert", "drop_rules" and "add_rules".
        `updates` is an iterable of them; a file of JSON lines, as a path or open; an `UpdateQueue`;
        or an asynchronous iterable: then use `async for`, and a thread applies updates while the
        next change is awaited. Between two changes, `kb` may be used.

        With a `name`, the file records how far the stream has come (`position`); when the stream is
        started again from its first update, updates that are in the file are passed over. Up to
        `coalesce` updates that have arrived become one change with their net effect. A thread reads
        up to `queue` updates ahead. A bad update ends the stream (StreamError; earlier updates are
        in the file); with `skip_bad` it is passed over, and reported in the change's notes.
        """
        from zodiac_sql.stream.loop import Options
        from zodiac_sql.stream.run import stream

        options = Options(name, coalesce, queue, skip_bad)
        self._session.guard.check()
        return stream(updates, self._session.streaming, self.position, self._session.guard, options)

    # Reading

    def _read(self, answer: Callable[..., _Answer], *what: object) -> _Answer:
        """What a function finds in the database and its state."""
        session = self._session
        return session.read(lambda state: answer(session.store, state, *what))

    @exclusive
    def sql(self, text: str, parameters: Sequence[object] | None = None) -> Answer:
        """Answer an SQL statement over the views. Each predicate has a view.

        `?` or `$1` stand for parameters. Raises QueryError if the statement would change anything.
        """
        from zodiac_sql.read.query import answer_sql

        return answer_sql(self._session.store, text, parameters)

    @exclusive
    def query(self, goals: str) -> Answer:
        """Answer goals in the rule language: `anomaly(X), hasTemperature(X, T), T > 30`.

        One column per variable, each solution once; without variables `holds: bool`. `Answer` tells
        the types. Raises ProgramError or QueryError; EvaluationError if a value cannot be computed.
        """
        from zodiac_sql.read.query import answer_goals

        return self._read(answer_goals, self._session.functions, goals)

    @exclusive
    def sparql(self, query: str) -> Answer:
        """Answer a SPARQL query, SELECT or ASK: a class is a unary predicate, a property a binary.

        One column per variable, in which NULL is unbound. ASK: `holds: bool`, with one row if so.
        Raises QueryError, which names what is wrong or not supported; it needs rdflib.
        """
        from zodiac_sql.read.sparql.answer import answer_sparql

        return self._read(answer_sparql, query)

    @exclusive
    def why(self, goal: str, *, all: bool = False, limit: int | None = None) -> Explanation:
        """Why a fact holds: one proof of small height, down to explicit facts.

        `goal` is a fact as in rules, "anomaly(wt2)"; with variables, its first answers are
        explained. With `all`, or at most `limit` of them, the answer has all rule instances that
        derive the fact directly. Every proof is checked before it is returned.

        Raises ProgramError for a goal that cannot be read, QueryError if it does not hold,
        FunctionError if it needs a function that is not registered, StoreError if there is no proof
        for a fact that is in the file.
        """
        from zodiac_sql.read.why.why import why

        return self._read(why, self._session.functions, goal, all, limit)

    @exclusive
    def why_not(self, goal: str, *, depth: int = 1) -> WhyNot:
        """Why a fact does not hold: for each rule that could derive it, what the rule lacks.

        `goal` is a fact as in `why`; with variables, it is asked why no fact is like that. With a
        larger `depth`, the facts that are missing are explained in the same way. If the goal does
        hold, the answer says so and why. Raises the errors of `why`.
        """
        from zodiac_sql.read.why.why_not import why_not

        return self._read(why_not, self._session.functions, goal, depth)

    @exclusive
    def table(self, predicate: str) -> Answer:
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
        """The rules: `name: string, rule: string, hypernode: string, added_at: string` (UTC)."""
        from zodiac_sql.read.describe import rules

        return rules(self._session.current())

    @exclusive
    def predicates(self) -> Answer:
        """The predicates: `predicate: string, sql_name: string, columns: string`, and how many
        facts each has: `explicit: int64, derived: int64, extension: int64`.
        """
        from zodiac_sql.read.describe import predicates

        return self._session.read(lambda state: predicates(self._session.store, state))

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
    def graph(self, change: Change | None = None) -> Drawing:
        """The graph of hypernodes, to draw: `.svg()`, `.mermaid()`, `.dot()`, `.save(path)`.

        With a change, or the preview of one, it shows both graphs, and marks what changed.
        """
        from zodiac_sql.read.describe import drawing

        return drawing(self._session.current(), change)

    @exclusive
    def export(
        self,
        directory: str | Path,
        format: str = "parquet",
        *predicates: str,
        inferred: bool = False,
    ) -> Exported:
        """Write extensions to files, one each ("parquet", "csv") or together ("nt", "ttl").

        By default all predicates; with `inferred`, only facts that are derived and not explicit.
        Raises DataError for an unknown format, QueryError for an unknown predicate, StoreError.
        """
        from zodiac_sql.read.exporting import export

        return self._read(export, predicates, directory, format, inferred)

    @exclusive
    def verify(self, *, progress: Progress | None = None) -> Verification:
        """Derive everything once more in temporary tables, and compare it with the file.

        The result is true if nothing differs. This takes as long as all rules from scratch, or
        longer. Raises FunctionError if rules use a function that is not registered.
        """
        from zodiac_sql.read.verify.verify import verify

        return verify(self._session.store, self._session.functions, progress)

    # Functions

    @exclusive
    def register_function(
        self,
        name: str,
        function: Callable[..., Any],
        parameters: Sequence[Type | str | type] | None = None,
        returns: Type | str | type | None = None,
        *,
        arrow: bool = False,
    ) -> None:
        """Make a Python function usable in BIND and comparisons.

        Types are those of the language ("float") or of Python; by default they are read from the
        function's annotations. Symbols are text; None means no value. With `arrow`, the function
        gets and returns pyarrow arrays of many rows at once. Raises FunctionError if its name or
        types clash with what rules use.
        """
        self._session.register(function_of(name, function, parameters, returns, False, arrow))

    @exclusive
    def register_aggregate(
        self,
        name: str,
        function: Callable[..., Any],
        parameter: Type | str | type | None = None,
        returns: Type | str | type | None = None,
        *,
        arrow: bool = False,
    ) -> None:
        """Make a Python function usable in AGGREGATE ... WITH. It gets the list of a group's values
        (with `arrow`, an array of lists) and returns one value. Else as `register_function`.
        """
        given = None if parameter is None else [parameter]
        self._session.register(function_of(name, function, given, returns, True, arrow))

    @property
    def missing_functions(self) -> tuple[str, ...]:
        """Functions that rules in the file use and that are not registered."""
        return tuple(sorted(set(self._session.state.functions).difference(self._session.functions)))

    # Life

    def trace(self, tracer: Tracer | None) -> None:
        """Show a function every SQL statement and its parameters before it runs; None ends this.

        The function must not call the knowledge base, nor wait for somebody who opens its file.
        """
        self._session.trace(tracer)

    def close(self) -> None:
        """Close the database. All is on disk already; tables only for a Change are dropped."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._session.guard.inherited:  # a fork closes nothing
            self.close()

    def __repr__(self) -> str:
        rules, predicates = len(self._session.state.rules), len(self._session.state.schema)
        return f"<zodiac_sql {self._session.path}: {rules} rules, {predicates} predicates>"
