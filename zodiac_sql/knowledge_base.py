"""The façade that users import: each verb in a few lines, the work elsewhere."""

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
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, Self, overload

from zodiac_sql.change.settings import Settings
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.store import Tracer, open_store
from zodiac_sql.errors import (
    MissingFunctionWarning,
    ZodiacError,
)
from zodiac_sql.language.functions import Function
from zodiac_sql.language.syntax import Type
from zodiac_sql.python_functions import function_of
from zodiac_sql.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.change.change import Change
    from zodiac_sql.change.materialise import Progress
    from zodiac_sql.change.streamed_update import StreamedUpdate
    from zodiac_sql.change.update import Update
    from zodiac_sql.facts.export import Exported
    from zodiac_sql.program.state import State
    from zodiac_sql.read.drawing.draw import Drawing
    from zodiac_sql.read.query import Answer
    from zodiac_sql.read.verify.verify import Verification
    from zodiac_sql.stream.channel import UpdateQueue


def connect(
    path: str | Path = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    external_access: bool = False,
    functions: Iterable[Function] = (),
    strategy: str = "auto",
    modules: bool = True,
    hypertree: Literal["auto"] | bool = "auto",
) -> KnowledgeBase:
    """Open a knowledge base: a DuckDB file, created if it is not there, or memory.

    `memory_limit` ("512MB"), `threads` and `temp_directory` (where to spill) go to DuckDB. Without
    `external_access`, no SQL, be it of a query or in the file, reaches other files or the network.
    `functions` are Python functions that the file's rules use (see `register_function`).
    `strategy` is how rules follow a change of facts: "auto" chooses for each hypernode; "support",
    "bf", "dred" and "recompute" are there to compare, and so are "bf_marking" and "dred_marking",
    which look one update ahead in a stream (see zodiac_sql.maintain.choose). With `modules`, transitive and
    symmetric-transitive relations are closed by algorithms of their own (see zodiac_sql.rewrite.closures.recognise);
    without, by the rules as they are written. `hypertree` tells which cyclic rules are evaluated by
    hypertree decompositions (see zodiac_sql.rewrite.hypertree): those that promise to gain, all (True) or
    none (False). Whatever is chosen opens what was written otherwise.
    Raises LockedError, NewerFileError or StoreError; ValueError for an unknown strategy.
    """
    _require_strategy(strategy)
    if hypertree not in ("auto", True, False):
        raise ValueError(f'hypertree is "auto", True or False; not {hypertree!r}')
    reopen = partial(
        open_store,
        path,
        read_only=read_only,
        threads=threads,
        memory_limit=memory_limit,
        temp_directory=temp_directory,
        external_access=external_access,
    )
    store = reopen()
    try:
        settings = Settings(strategy, modules, hypertree)
        return KnowledgeBase(Session(store, functions, settings, reopen))
    except ZodiacError:
        store.close()
        raise


def _require_strategy(strategy: str) -> None:
    if strategy != "auto":
        from zodiac_sql.maintain.choose import STRATEGIES

        if strategy not in STRATEGIES:
            raise ValueError(f"strategy is one of {', '.join(STRATEGIES)}; not {strategy!r}")


class KnowledgeBase:
    """Facts, rules and all their consequences. Get one from `connect`; close it after use.

    Every verb that changes something is atomic and returns a `Change`. A knowledge base belongs to
    the thread that opened it, and does one thing at a time: a call from another thread, or within a
    call, raises BusyError at once.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        if self.missing_functions:
            warnings.warn(
                f"rules of {session.path} use functions that are not registered: "
                f"{', '.join(self.missing_functions)}. Reading works; a change that needs one is "
                "refused until it is registered.",
                MissingFunctionWarning,
                stacklevel=3,
            )

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
        passed over and told in the change's notes; with `strict` it is an error. With `replace`, a
        rule takes the place of the one of the same name, which else is an error. Raises ProgramError
        with every problem of the text.
        """
        with self.update(progress=progress) as update:
            update.add_rules(rules, replace=replace, strict=strict)
        return update.change

    def drop_rules(
        self, *rules: str | Path, strict: bool = False, progress: Progress | None = None
    ) -> Change:
        """Remove rules: by name ("r4"), as text ("p(X) :- q(X)."), or all of a file ("wind.rules").

        Rules given as text are found whatever their labels, names of variables and order of the body.
        One that is not there is passed over and told in the change's notes; with `strict` it is an
        error (QueryError). Facts in a file stay. Raises ProgramError for a text that cannot be read.
        """
        with self.update(progress=progress) as update:
            update.drop_rules(*rules, strict=strict)
        return update.change

    def insert(self, predicate: str, rows: object) -> Change:
        """Insert explicit facts: a list of tuples, an Arrow table or stream, a pandas, polars
        or Spark data frame, or a DuckDB relation. Facts that are there already change nothing.

        Raises DataError if arity or types do not fit, or something is NULL.
        """
        with self.update() as update:
            update.insert(predicate, rows)
        return update.change

    def delete(self, predicate: str, rows: object) -> Change:
        """Delete explicit facts. One that rules derive, too, stays in the extension."""
        with self.update() as update:
            update.delete(predicate, rows)
        return update.change

    def replace(self, predicate: str, rows: object) -> Change:
        """Let these rows be the explicit facts of a predicate: what else there is goes.

        Only the difference changes anything: giving the same rows again does nothing.
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

        RDF gives one predicate per property and one unary predicate per class; a table gives the
        predicate named, or one named after the file. Raises DataError with file and line, and loads
        nothing then; with `skip_bad` bad lines are left out and told in the change's notes.
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
        """Delete the explicit facts that stand in a file, which is read as `load` reads it.

        Those that are not there are passed over, and counted in the change's notes.
        """
        with self.update(progress=progress) as update:
            update.unload(path, predicate, skip_bad=skip_bad)
        return update.change

    @contextmanager
    def update(self, *, progress: Progress | None = None) -> Iterator[Update]:
        """Several verbs as one atomic change; an exception inside changes nothing.

        with kb.update() as u: u.add_rules(...); u.insert(...)   then u.change
        """
        from zodiac_sql.change.update import Update

        with self._session.updating(progress) as collected:
            yield Update(collected)

    @contextmanager
    def preview(self, *, progress: Progress | None = None) -> Iterator[Update]:
        """What an update would do, without doing it: as `update`, then `.change` tells.

        with kb.preview() as p: p.delete("p3", [("a", "b")])   then p.change.deleted
        """
        from zodiac_sql.change.apply import preview
        from zodiac_sql.change.update import Update

        with self._session.collecting() as collected:
            yield Update(collected)
            self._session.done(preview, collected, progress)

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
        """Apply updates as they come, each as one change, which is in the file when it is yielded.

            updates = [{"delete": {"at": [("wt1", 20)]}, "insert": {"at": [("wt1", 21)]}}]
            for change in kb.stream(updates):
                print(change.updates, change.inserted)

        An update (`StreamUpdate`) has the keys "delete", "insert", "drop_rules" and "add_rules".
        `updates` is an iterable of them; a file of JSON lines, by its path or open; an
        `UpdateQueue`; or an asynchronous iterable: then it is `async for`, and updates are applied
        in a thread of their own while the next change is awaited. Between two changes, `kb` may be
        used for anything.

        With a `name`, the file notes how far the stream has come (`position`), and when it begins
        again, from its first update, those in the file are passed over. `coalesce` lets up to so
        many updates that have arrived be one change, their net. With `queue`, a thread reads up to
        so many updates ahead. A bad update ends the stream (StreamError, with its number; what came
        before it is kept); with `skip_bad` it is passed over, and told in the change's notes.
        """
        from zodiac_sql.stream.loop import Options
        from zodiac_sql.stream.run import stream

        options = Options(name, coalesce, queue, skip_bad)
        self._session.guard.check()
        return stream(updates, self._streamed_update, self.position, self._session.guard, options)

    @contextmanager
    def _streamed_update(self) -> Iterator[StreamedUpdate]:
        from zodiac_sql.change.streamed_update import StreamedUpdate

        with self._session.updating(None) as collected:
            yield StreamedUpdate(collected)

    # Reading

    @exclusive
    def sql(self, text: str, parameters: Sequence[object] | None = None) -> Answer:
        """Answer one reading SQL statement over the views, one per predicate. `?` or `$1` in it
        stand for parameters. Raises QueryError if it would change anything.
        """
        from zodiac_sql.read.query import answer_sql

        return answer_sql(self._session.store.reader, text, parameters)

    @exclusive
    def query(self, goals: str) -> Answer:
        """Answer goals in the rule language: `anomaly(X), hasTemperature(X, T), T > 30`.

        One column per variable, each solution once. Raises ProgramError or QueryError.
        """
        from zodiac_sql.read.query import answer_goals

        return self._session.read(
            lambda state: answer_goals(
                self._session.store, state, self._session.known_functions(), goals
            )
        )

    @exclusive
    def table(self, predicate: str) -> Answer:
        """The extension of a predicate: explicit and derived facts, each once."""
        from zodiac_sql.read.query import answer_table

        return self._session.read(lambda state: answer_table(self._session.store, state, predicate))

    @contextmanager
    def batches(self, predicate: str, rows: int = 100_000) -> Iterator[pa.RecordBatchReader]:
        """The extension of a predicate as `table` gives it, in Arrow batches of so many rows.

        For extensions that are too large to be held in memory. The reader is good inside the block.
        """
        with ExitStack() as opened:
            yield self._batches(opened, predicate, rows)

    @exclusive
    def _batches(self, opened: ExitStack, predicate: str, rows: int) -> pa.RecordBatchReader:
        from zodiac_sql.read.query import stream_table

        return self._session.read(
            lambda state: opened.enter_context(
                stream_table(self._session.store, state, predicate, rows)
            )
        )

    @exclusive
    def rules(self) -> Answer:
        """The rules: name, text, hypernode, when added (UTC)."""
        from zodiac_sql.read.describe import rules

        return rules(self._session.current())

    @exclusive
    def predicates(self) -> Answer:
        """The predicates: name, SQL name, columns, and how many facts are explicit, derived, and in
        the extension.
        """
        from zodiac_sql.read.describe import predicates

        return self._session.read(lambda state: predicates(self._session.store, state))

    @exclusive
    def position(self, stream: str) -> int | None:
        """How far a stream of updates has come: what `Update.record` noted last, or None."""
        return self._session.current().positions.get(stream)

    @exclusive
    def hypernodes(self) -> Answer:
        """The hypernodes in the order of evaluation: stratum, rules, what they derive and read.

        `modules` tells which relations algorithms of their own close: "tc(path)", "stc(near)".
        """
        from zodiac_sql.read.describe import hypernodes

        return hypernodes(self._session.current())

    @exclusive
    def graph(self, change: Change | None = None) -> Drawing:
        """The HRDG, to draw: `.svg()`, `.mermaid()`, `.dot()`, `.save(path)`.

        With a change, or the preview of one, the HRDG before and after it side by side, in which
        everything that changed is marked (paper 1, figure 3).
        """
        from zodiac_sql.read.describe import drawing

        return drawing(self._session.current(), change)

    @exclusive
    def export(self, directory: str | Path, format: str = "parquet", *predicates: str) -> Exported:
        """Write extensions to files, one per predicate ("parquet", "csv") or together ("nt").

        All predicates, or those named. Raises QueryError for an unknown format or predicate.
        """
        from zodiac_sql.facts.export import export_predicates
        from zodiac_sql.read.query import known_predicate

        def write(state: State) -> Exported:
            names = [known_predicate(name, state) for name in predicates] or list(state.schema)
            chosen = [state.schema[name] for name in names]
            return export_predicates(self._session.store, chosen, Path(directory), format)

        return self._session.read(write)

    @exclusive
    def verify(self, *, progress: Progress | None = None) -> Verification:
        """Derive everything once more, aside, and tell what differs from what the file holds.

        True if nothing does. It only reads, and takes as long as all rules take from scratch.
        Raises FunctionError if rules use a function that is not registered.
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

        Types are those of the language ("float"), or Python's; left out, they are read from the
        function's annotations. With `arrow`, it gets and returns pyarrow arrays of many rows, so
        that a model can be called in batches. Symbols come and go as text. None means no value.
        Raises FunctionError if name or types clash with what rules use.
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
        """Make a Python function usable in AGGREGATE ... WITH: it gets the list of a group's values
        (with `arrow`, a pyarrow array of lists, one per group) and returns one value.
        """
        given = None if parameter is None else [parameter]
        self._session.register(function_of(name, function, given, returns, True, arrow))

    @property
    def missing_functions(self) -> tuple[str, ...]:
        """Functions that rules in the file use and that are not registered."""
        return tuple(sorted(set(self._session.state.functions).difference(self._session.functions)))

    # Life

    def trace(self, tracer: Tracer | None) -> None:
        """Let a function see every SQL statement and its parameters before it runs; None ends it.

        It must not call the knowledge base.
        """
        self._session.trace(tracer)

    def close(self) -> None:
        """Close the database. Everything is on disk already; what only a Change needs is dropped."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._session.guard.inherited:  # a fork closes nothing
            self.close()

    def __repr__(self) -> str:
        rules, predicates = len(self._session.state.rules), len(self._session.state.schema)
        return f"<zodiac_sql {self._session.path}: {rules} rules, {predicates} predicates>"
