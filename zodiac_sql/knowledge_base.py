"""The façade that users import: each verb in a few lines, the work elsewhere."""

from __future__ import annotations

import datetime
import inspect
import typing
import warnings
import weakref
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from zodiac_sql.database import dictionary
from zodiac_sql.database.guard import Guard, exclusive
from zodiac_sql.database.store import Store, Tracer, open_store
from zodiac_sql.errors import (
    BusyError,
    FunctionError,
    MissingFunctionWarning,
    PublishedError,
    StoreError,
    ZodiacError,
)
from zodiac_sql.language.functions import AGGREGATES, BUILTINS, Function
from zodiac_sql.language.syntax import Type
from zodiac_sql.storage import catalog

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.change.change import Change
    from zodiac_sql.change.materialise import Progress
    from zodiac_sql.change.update import Prepared, Update
    from zodiac_sql.facts.export import Exported
    from zodiac_sql.maintain.marking import Marks
    from zodiac_sql.program.state import State
    from zodiac_sql.read.drawing.draw import Drawing
    from zodiac_sql.read.query import Answer
    from zodiac_sql.read.verify import Verification
    from zodiac_sql.stream.channel import UpdateQueue

_Answer = TypeVar("_Answer")

_TRIES = 5
"""So often something is asked while other connections change the file again and again."""

_PYTHON_TYPES = {
    str: Type.SYMBOL,
    int: Type.INT,
    float: Type.FLOAT,
    bool: Type.BOOL,
    datetime.date: Type.DATE,
    datetime.datetime: Type.TIMESTAMP,
}

_UDF_TYPES = {
    Type.SYMBOL: "VARCHAR",
    Type.INT: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.BOOL: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


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
        return KnowledgeBase(store, functions, strategy, modules, hypertree, reopen)
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

    def __init__(
        self,
        store: Store,
        functions: Iterable[Function] = (),
        strategy: str = "auto",
        modules: bool = True,
        hypertree: Literal["auto"] | bool = "auto",
        reopen: Callable[[], Store] | None = None,
    ) -> None:
        self._held = store
        self._reopen = reopen
        self._hypertree = hypertree
        self._strategy = strategy
        self._modules = modules
        self._prepared: Prepared | None = None
        self._marks: Marks | None = None
        self._functions: dict[str, Function] = {}
        self._updating = False
        self._has_changed = False
        self._last: weakref.ref[Change] | None = None
        dictionary.prepare(store)
        with store.transaction(read_only=True):
            self._state = catalog.load(store)
        for function in functions:
            self._register(function)
        if self.missing_functions:
            warnings.warn(
                f"rules of {store.path} use functions that are not registered: "
                f"{', '.join(self.missing_functions)}. Reading works; a change that needs one is "
                "refused until it is registered.",
                MissingFunctionWarning,
                stacklevel=3,
            )

    @property
    def _guard(self) -> Guard:
        return self._held.guard

    @property
    def _store(self) -> Store:
        """The open database; it is opened again if a failure has damaged it."""
        if self._held.damaged:
            self._open_again()
        return self._held

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
        with self._updating_with() as update:
            yield update
            self._state = update.apply(lambda state: state is self._state, progress)
            self._has_changed = True
            self._last = weakref.ref(update.change)

    @contextmanager
    def preview(self, *, progress: Progress | None = None) -> Iterator[Update]:
        """What an update would do, without doing it: as `update`, then `.change` tells.

        with kb.preview() as p: p.delete("p3", [("a", "b")])   then p.change.deleted
        """
        with self._updating_with() as update:
            yield update
            update.preview(lambda _: self._state is update.state, progress)

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
        self._guard.check()
        return stream(updates, self.update, self.position, self._guard, options)

    @contextmanager
    def _updating_with(self) -> Iterator[Update]:
        if self._store.read_only:
            raise StoreError(f"{self._store.path} was opened with read_only=True")
        self._guard.check()
        if self._updating:
            raise BusyError("an update is under way: use its verbs, or end it first")
        self._updating = True
        update: Update | None = None
        try:
            self._count_last()
            update = self._begun()
            yield update
            self._prepared = update.prepared
            self._marks = update.marks
        except BaseException as error:
            self._marks = None
            if not self._guard.inherited:
                self._clean()
                if update is not None and self._held is not update.store:
                    self._tell_if_published(update, error)
                elif type(error) is StoreError and self._is_overtaken():
                    said = "this change was computed"
                    raise catalog.changed_meanwhile(self._store, said) from error
            raise
        finally:
            self._updating = False
            if update is not None:
                update.ended = True

    @exclusive
    def _begun(self) -> Update:
        from zodiac_sql.change.update import Update

        dictionary.forget_new(self._store)
        self._store.start_names()
        self._state = replace(self._current())  # the facts of the last change are gone now
        return Update(
            self._store, self._state, dict(self._functions), self._strategy, self._modules,
            self._hypertree, self._prepared, marks=self._marks,
        )  # fmt: skip

    @exclusive
    def _clean(self) -> None:
        """Leave nothing of an update that has failed."""
        from zodiac_sql.change.update import clean

        clean(self._store)
        dictionary.forget_new(self._store)

    def _tell_if_published(self, update: Update, error: BaseException) -> None:
        """Raise PublishedError if an update is in the file that was opened again after a failure."""
        if not isinstance(error, ZodiacError) or isinstance(error, PublishedError):
            return
        if self._state.generation > update.state.generation:
            raise PublishedError(
                f"The change is in {self._held.path}, as a whole, but something failed when it was "
                f"there: {error}"
            ) from error

    def _count_last(self) -> None:
        """Let the last change count what it has not yet, if anybody still holds it."""
        change = self._last() if self._last else None
        self._last = None
        if change is not None:
            with suppress(ZodiacError):  # another connection has changed the file since
                _ = change.deleted

    # Reading

    @exclusive
    def sql(self, text: str, parameters: Sequence[object] | None = None) -> Answer:
        """Answer one reading SQL statement over the views, one per predicate. `?` or `$1` in it
        stand for parameters. Raises QueryError if it would change anything.
        """
        from zodiac_sql.read.query import answer_sql

        return answer_sql(self._store.reader, text, parameters)

    @exclusive
    def query(self, goals: str) -> Answer:
        """Answer goals in the rule language: `anomaly(X), hasTemperature(X, T), T > 30`.

        One column per variable, each solution once. Raises ProgramError or QueryError.
        """
        from zodiac_sql.read.query import answer_goals

        return self._read(
            lambda state: answer_goals(self._store, state, self._known_functions(), goals)
        )

    @exclusive
    def table(self, predicate: str) -> Answer:
        """The extension of a predicate: explicit and derived facts, each once."""
        from zodiac_sql.read.query import answer_table

        return self._read(lambda state: answer_table(self._store, state, predicate))

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

        return self._read(
            lambda state: opened.enter_context(stream_table(self._store, state, predicate, rows))
        )

    @exclusive
    def rules(self) -> Answer:
        """The rules: name, text, hypernode, when added (UTC)."""
        from zodiac_sql.read.describe import rules

        return rules(self._current())

    @exclusive
    def predicates(self) -> Answer:
        """The predicates: name, SQL name, columns, and how many facts are explicit, derived, and in
        the extension.
        """
        from zodiac_sql.read.describe import predicates

        return self._read(lambda state: predicates(self._store, state))

    @exclusive
    def position(self, stream: str) -> int | None:
        """How far a stream of updates has come: what `Update.record` noted last, or None."""
        return self._current().positions.get(stream)

    @exclusive
    def hypernodes(self) -> Answer:
        """The hypernodes in the order of evaluation: stratum, rules, what they derive and read.

        `modules` tells which relations algorithms of their own close: "tc(path)", "stc(near)".
        """
        from zodiac_sql.read.describe import hypernodes

        return hypernodes(self._current())

    @exclusive
    def graph(self, change: Change | None = None) -> Drawing:
        """The HRDG, to draw: `.svg()`, `.mermaid()`, `.dot()`, `.save(path)`.

        With a change, or the preview of one, the HRDG before and after it side by side, in which
        everything that changed is marked (paper 1, figure 3).
        """
        from zodiac_sql.read.describe import drawing

        return drawing(self._current(), change)

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
            return export_predicates(self._store, chosen, Path(directory), format)

        return self._read(write)

    @exclusive
    def verify(self, *, progress: Progress | None = None) -> Verification:
        """Derive everything once more, aside, and tell what differs from what the file holds.

        True if nothing does. It only reads, and takes as long as all rules take from scratch.
        Raises FunctionError if rules use a function that is not registered.
        """
        from zodiac_sql.read.verify import verify

        return verify(self._store, self._functions, progress)

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
        self._register(_function(name, function, parameters, returns, False, arrow))

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
        self._register(_function(name, function, given, returns, True, arrow))

    @property
    def missing_functions(self) -> tuple[str, ...]:
        """Functions that rules in the file use and that are not registered."""
        return tuple(sorted(set(self._state.functions).difference(self._functions)))

    def _register(self, function: Function) -> None:
        from zodiac_sql.sql.functions import python_function

        used = self._state.functions.get(function.name)
        if used is not None and used != _signature(function):
            raise FunctionError(
                f"rules use {_shown(used)}; it cannot be registered as {_shown(function)}"
            )
        if function.call is None or not _takes(function.call, len(function.parameters)):
            raise FunctionError(
                f"{function.name} does not take {len(function.parameters)} arguments"
            )
        if function.name in self._functions:
            self._store.remove_function(python_function(function.name))
        _add_function(self._store, function)
        self._functions[function.name] = function

    def _current(self) -> State:
        """The state of the file: another connection of this process may have changed it."""
        if catalog.generation(self._store) != self._state.generation:
            with self._store.transaction(read_only=True):
                self._state = catalog.load(self._store)
        return self._state

    def _read(self, ask: Callable[[State], _Answer]) -> _Answer:
        """What is asked of one state: again, if another connection has changed the file meanwhile.

        (A transaction would do, but DuckDB ends it where it must plan a statement anew.)
        """
        for _ in range(_TRIES):
            state = self._state
            try:
                answer = ask(state)
            except ZodiacError:
                if self._current() is state:
                    raise
            else:
                if self._current() is state:
                    return answer
        raise catalog.changed_meanwhile(self._store, "it was read")

    def _is_overtaken(self) -> bool:
        """Whether another connection has changed the file since the last call here."""
        with suppress(StoreError):
            return catalog.generation(self._store) != self._state.generation
        return False

    def _known_functions(self) -> dict[str, Function]:
        return {**self._state.functions, **self._functions}

    # Life

    def _open_again(self) -> None:
        """Leave a damaged database, and go on with what is in the file.

        Raises StoreError if it cannot be opened again now; the next call tries once more.
        """
        old = self._held
        if self._reopen is None or old.in_memory:
            raise StoreError("DuckDB failed, and what was in memory is lost: begin with a new one")
        old.close()
        store = self._reopen()
        try:
            dictionary.prepare(store)
            state = catalog.load(store)
            for function in self._functions.values():
                _add_function(store, function)
        except BaseException:
            store.close()
            raise
        store.tracer, store.guard = old.tracer, old.guard
        self._held, self._state = store, state
        self._prepared = self._marks = self._last = None
        self._has_changed = False

    def trace(self, tracer: Tracer | None) -> None:
        """Let a function see every SQL statement and its parameters before it runs; None ends it.

        It must not call the knowledge base.
        """
        self._held.tracer = tracer

    def close(self) -> None:
        """Close the database. Everything is on disk already; what only a Change needs is dropped."""
        self._guard.check()
        if self._has_changed:
            self._count_last()
        self._close()

    @exclusive
    def _close(self) -> None:
        if self._has_changed:
            with suppress(ZodiacError):  # if not now, the next change does it
                self._drop_aside()
        self._has_changed = False
        self._held.close()

    def _drop_aside(self) -> None:
        """Drop what the last change has set aside, if no other connection has changed anything."""
        if self._state.aside and self._state is self._current():
            with self._store.transaction():
                catalog.drop_aside(self._store, self._state)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._guard.inherited:  # a fork closes nothing
            self.close()

    def __repr__(self) -> str:
        rules, predicates = len(self._state.rules), len(self._state.schema)
        return f"<zodiac_sql {self._held.path}: {rules} rules, {predicates} predicates>"


def _add_function(store: Store, function: Function) -> None:
    """Make a registered function callable from SQL."""
    from zodiac_sql.sql.functions import python_function

    types = [_UDF_TYPES[type_] for type_ in function.parameters]
    if function.aggregate:
        types = [f"{type_}[]" for type_ in types]
    assert function.call is not None
    store.add_function(
        python_function(function.name),
        _with_arity(function.call, len(types)),
        types,
        _UDF_TYPES[function.returns],
        function.arrow,
    )


def _function(
    name: str,
    call: Callable[..., Any],
    parameters: Sequence[Any] | None,
    returns: Any,
    aggregate: bool,
    arrow: bool,
) -> Function:
    """A registered function with its types, given or read from annotations."""
    lowered = name.lower()
    if not lowered.isidentifier() or lowered in BUILTINS or lowered in AGGREGATES:
        raise FunctionError(f"{name} is no name for a function, or one that is built in")
    hints = typing.get_type_hints(call) if inspect.isfunction(call) else {}
    if parameters is None:
        given = [hints.get(parameter) for parameter in inspect.signature(call).parameters]
        parameters = [_element(hint) if aggregate else hint for hint in given]
    result = hints.get("return") if returns is None else returns
    types = tuple(_type(name, parameter) for parameter in parameters)
    return Function(lowered, types, _type(name, result), aggregate, arrow, call)


def _takes(call: Callable[..., Any], arguments: int) -> bool:
    """Whether a function can be called with so many arguments; if it does not tell, it may."""
    try:
        inspect.signature(call).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True


def _with_arity(call: Callable[..., Any], arguments: int) -> Callable[..., Any]:
    """A function whose signature has exactly so many parameters: DuckDB looks at it."""
    names = [f"a{index}" for index in range(arguments)]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD

    def called(*values: object) -> object:
        return call(*values)

    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind) for name in names]
    )
    return called


def _element(hint: Any) -> Any:
    """What a list holds, by its annotation: `list[float]` -> float."""
    inside = typing.get_args(hint)
    return inside[0] if inside else hint


def _type(name: str, given: object) -> Type:
    from zodiac_sql.language.parse import TYPE_NAMES

    found = TYPE_NAMES.get(given.lower()) if isinstance(given, str) else None
    if found is None and isinstance(given, type):
        found = _PYTHON_TYPES.get(given)
    if found is None:
        known = ", ".join(type_.value for type_ in Type)
        raise FunctionError(
            f"the types of {name} must be given, or annotated, as one of {known}; not {given!r}"
        )
    return found


def _signature(function: Function) -> Function:
    """A function as the catalog keeps it."""
    return Function(function.name, function.parameters, function.returns, function.aggregate)


def _shown(function: Function) -> str:
    return f"{function.name}({', '.join(function.parameters)}) -> {function.returns}"
