"""The program `zodiac`: a command, then the database file, then what it needs.

Status 0: done. 1: a problem that the user can mend, said on standard error, or what `verify` has
found. 2: a wrong command line. 130: interrupted. Whatever the status but 0, the file is as it was, or the message says so.

DuckDB, Arrow and rich are imported where they are needed: `zodiac --help` must be quick.
"""

from __future__ import annotations

import enum
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from zodiac_sql.cli.databases import (
    MEMORY,
    Interrupted,
    Refused,
    Wanted,
    changing,
    interrupt,
    is_interruption,
    reading,
    require_database,
    require_files,
)
from zodiac_sql.cli.output import (
    exported_as_json,
    print_change,
    print_exported,
    print_json,
    print_notes,
    print_preview,
    print_rows_as_csv,
    print_rows_as_json,
    print_summary,
    print_table,
    print_verification,
    rows,
    run_summary,
    say,
)
from zodiac_sql.errors import MissingFunctionWarning, ZodiacError

if TYPE_CHECKING:
    from zodiac_sql.facts.export import Exported
    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.read.drawing.draw import Drawing
    from zodiac_sql.read.query import Answer


class Program(TyperGroup):
    """All commands; turns what they raise into a message and a status."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with _warnings_in_a_line():
                result = super().invoke(ctx)
                sys.stdout.flush()
                return result
        except BrokenPipeError:  # the reader has seen enough
            _silence_stdout()
            raise typer.Exit(0) from None
        except Refused as error:
            _refuse(error)
            raise typer.Exit(error.status) from None
        except BaseException as error:
            if is_interruption(error):
                say("interrupted; nothing was changed")
                raise typer.Exit(Interrupted.status) from None
            if not isinstance(error, ZodiacError | OSError):
                raise
            _refuse(error)
            raise typer.Exit(Refused.status) from None


app = typer.Typer(
    cls=Program,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        app(prog_name="zodiac")
    except OSError as error:  # the help cannot be written
        _refuse(error)
        raise SystemExit(1) from None


class Format(enum.StrEnum):
    """What export writes."""

    PARQUET = "parquet"
    CSV = "csv"
    NT = "nt"


class What(enum.StrEnum):
    """What show shows."""

    RULES = "rules"
    PREDICATES = "predicates"
    HYPERNODES = "hypernodes"


Database = Annotated[str, typer.Argument(metavar="DB", help="The database file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave bad lines out, and say how many and which.")
]
Preview = Annotated[
    bool, typer.Option("--preview", help="Only tell what would change, and change nothing.")
]
Samples = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Facts of each predicate that a preview shows, 5 if this is not given.",
    ),
]
ExportFormat = Annotated[
    Format, typer.Option("--format", help="One file per predicate, or one N-Triples file.")
]


# --- commands -------------------------------------------------------------------------------------


def _print_version(wanted: bool) -> None:
    if wanted:
        from zodiac_sql import __version__

        typer.echo(f"zodiac {__version__}")
        raise typer.Exit()


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Rules and facts, kept materialised in one DuckDB file.

    \b
    Begin with:
      zodiac run farm.duckdb -r wind.rules -d farm.nt
      zodiac query farm.duckdb 'anomaly(X)'
    """


@app.command()
def run(
    db: Annotated[
        str,
        typer.Argument(metavar="DB", help="The database file, made if missing; or :memory:."),
    ],
    rules: Annotated[
        list[Path] | None,
        typer.Option("-r", "--rules", metavar="FILE", help="Rules; may be repeated."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("-d", "--data", metavar="FILE", help="Facts; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also export all predicates there.")
    ] = None,
    format: ExportFormat = Format.PARQUET,
    skip_bad: SkipBad = False,
    memory_limit: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory for DuckDB, such as 512MB.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Threads for DuckDB.")
    ] = None,
    temp_directory: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to spill; by default beside DB.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add rules and facts, and derive all that follows.

    Prints a summary. Everything is one change: it happens whole, or not at all. Facts come from RDF (.nt .nq .ttl
    .trig .rdf .jsonld), .csv, .tsv, .parquet and .jsonl files.

    \b
    Examples:
      zodiac run farm.duckdb -r wind.rules -d farm.nt -d readings.parquet
      zodiac run :memory: -r wind.rules -d farm.nt --out results --format csv
    """
    rule_files, data_files = rules or [], data or []
    if not rule_files and not data_files:
        raise typer.BadParameter("give rules with -r, or data with -d")
    require_files([*rule_files, *data_files])
    settings = {
        "memory_limit": memory_limit,
        "threads": threads,
        "temp_directory": temp_directory,
    }
    with changing(db, settings) as opened:
        change = opened.carry_out(Wanted(rules=rule_files, data=data_files, skip_bad=skip_bad))
        exported = _export_after(opened.kb, db, out, format) if out else None
        told = run_summary(opened.kb, change, exported)
    if as_json:
        print_json(told)
    else:
        print_summary(told)
        if exported and out:
            print_exported(exported, out)


@app.command("add-rules")
def add_rules(
    db: Annotated[
        str, typer.Argument(metavar="DB", help="The database file, made if it is missing.")
    ],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Files of rules.")
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("-e", metavar="RULES", help="Rules as text; may be repeated."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Let rules take the place of those of the same names."),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse rules that are there already, and change nothing."),
    ] = False,
    preview: Preview = False,
    samples: Samples = None,
    as_json: Json = False,
) -> None:
    """Add rules, and derive what follows.

    Rules that are there already, up to the names of variables and the order of the body, are passed
    over, and told. A rule that has the name of another one is refused, unless it may replace it.

    \b
    Examples:
      zodiac add-rules farm.duckdb wind.rules
      zodiac add-rules farm.duckdb -e 'hot: hot(X) :- hasTemperature(X, T), T > 40.' --replace
      zodiac add-rules farm.duckdb wind.rules --preview
    """
    given: list[Path | str] = [*(files or []), *(rules or [])]
    if not given:
        raise typer.BadParameter("give a FILE of rules, or rules as text with -e")
    shown = _samples(preview, samples)
    if preview:
        require_database(db, preview)
    require_files(files or [])
    _change(db, Wanted(rules=given, replace=replace, strict=strict), shown, as_json)


@app.command("drop-rules")
def drop_rules(
    db: Database,
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|FILE]...", help="Names of rules, and files that end in .rules or .dl."
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("-e", metavar="RULES", help="Rules as text; may be repeated."),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse rules that are not there, and change nothing."),
    ] = False,
    preview: Preview = False,
    samples: Samples = None,
    as_json: Json = False,
) -> None:
    """Remove rules: by name, as text, or all those of a file.

    What followed only from them goes, too. Rules of a text or a file are found whatever their
    names, the names of variables and the order of the body. Rules that are not there are passed
    over, and told. Facts in a file stay. `zodiac show DB rules` lists the names.

    \b
    Examples:
      zodiac drop-rules farm.duckdb r4 r5
      zodiac drop-rules farm.duckdb wind.rules --preview
      zodiac drop-rules farm.duckdb -e 'hot(X) :- hasTemperature(X, T), T > 40.'
    """
    if not given and not rules:
        raise typer.BadParameter("give a NAME or a FILE of rules, or rules as text with -e")
    shown = _samples(preview, samples)
    require_database(db, preview)
    dropped = [*_names_and_files(given or []), *(rules or [])]
    _change(db, Wanted(dropped=dropped, strict=strict), shown, as_json)


@app.command()
def insert(
    db: Annotated[
        str, typer.Argument(metavar="DB", help="The database file, made if it is missing.")
    ],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of facts.")],
    predicate: Annotated[
        str | None,
        typer.Option("-p", metavar="PREDICATE", help="What the rows of tables are facts of."),
    ] = None,
    skip_bad: SkipBad = False,
    preview: Preview = False,
    samples: Samples = None,
    as_json: Json = False,
) -> None:
    """Insert facts from files, and derive what follows.

    RDF names its predicates itself. The rows of a table (.csv, .tsv, .parquet, .jsonl) are facts
    of the predicate given with -p, or of one named after the file. All files are one change.

    \b
    Examples:
      zodiac insert farm.duckdb farm.nt
      zodiac insert farm.duckdb monday.csv tuesday.csv -p hasTemperature
      zodiac insert farm.duckdb monday.csv -p hasTemperature --preview --samples 20
    """
    shown = _samples(preview, samples)
    if preview:
        require_database(db, preview)
    require_files(files)
    _change(db, Wanted(data=files, predicate=predicate, skip_bad=skip_bad), shown, as_json)


@app.command()
def delete(
    db: Database,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of facts.")],
    predicate: Annotated[
        str | None,
        typer.Option("-p", metavar="PREDICATE", help="What the rows of tables are facts of."),
    ] = None,
    skip_bad: SkipBad = False,
    preview: Preview = False,
    samples: Samples = None,
    as_json: Json = False,
) -> None:
    """Delete the facts that stand in files.

    What followed only from them goes, too; what rules derive anyway stays. Files are read as
    `zodiac insert` reads them, so a file that was inserted can be deleted again. Facts that are
    not there are passed over, and counted. All files are one change.

    \b
    Examples:
      zodiac delete farm.duckdb farm.nt
      zodiac delete farm.duckdb monday.csv -p hasTemperature
      zodiac delete farm.duckdb monday.csv -p hasTemperature --preview
    """
    shown = _samples(preview, samples)
    require_database(db, preview)
    require_files(files)
    _change(db, Wanted(unloaded=files, predicate=predicate, skip_bad=skip_bad), shown, as_json)


@app.command()
def stream(
    db: Annotated[
        str, typer.Argument(metavar="DB", help="The database file, made if it is missing.")
    ],
    source: Annotated[
        str, typer.Argument(metavar="FILE|-", help="A file of JSON lines, or standard input.")
    ],
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Note how far the stream has come, and go on there."),
    ] = None,
    coalesce: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Up to N updates that have arrived are one change."),
    ] = 1,
    queue: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Read up to N updates ahead; 100 from a pipe."),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Pass bad updates over, and say which.")
    ] = False,
    strategy: Annotated[
        str, typer.Option(metavar="S", help="How rules follow a change of facts.")
    ] = "auto",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each change as a line of JSON, and nothing else.")
    ] = False,
) -> None:
    """Apply updates as they come, each as a change of its own.

    An update is a line of JSON with some of the keys "delete", "insert", "drop_rules" and
    "add_rules":

    \b
      {"insert": {"near": [["wt1", "wt2"]]}, "delete": {"off": [["wt1"]]}}
      {"drop_rules": ["hot"], "add_rules": "hot(X) :- celsius(X, T), T > 40."}

    A bad update ends the stream; what came before it is kept. With a name, the same stream begun
    again goes on after the last update that is in the file.

    \b
    Examples:
      zodiac stream farm.duckdb readings.jsonl --name readings
      tail -f readings.jsonl | zodiac stream farm.duckdb - --coalesce 50 --json
    """
    from zodiac_sql.cli.stream import follow
    from zodiac_sql.maintain.choose import STRATEGIES

    if strategy not in STRATEGIES:
        raise typer.BadParameter(f"--strategy is one of {', '.join(STRATEGIES)}")
    options = {"name": name, "coalesce": coalesce, "queue": queue, "skip_bad": skip_bad}
    follow(db, source, strategy, options, as_json)


@app.command()
def query(
    db: Database,
    text: Annotated[str, typer.Argument(metavar="QUERY", help="Goals, or an SQL query.")],
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, and nothing else.")] = False,
) -> None:
    """Answer goals, or an SQL query.

    Goals are in the language of rules; SQL sees a view for each predicate. What begins with SELECT, WITH, FROM, DESCRIBE, SUMMARIZE or the like is SQL.

    \b
    Examples:
      zodiac query farm.duckdb 'anomaly(X), hasTemperature(X, T), T > 30'
      zodiac query farm.duckdb 'SELECT count(*) FROM anomaly' --json
    """
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv exclude each other")
    with reading(db) as kb:
        answer = kb.sql(text) if is_sql(text) else kb.query(text)
        if as_json:
            print_rows_as_json(answer)
        elif as_csv:
            print_rows_as_csv(answer)
        elif answer.column_names == ["explain_key", "explain_value"]:
            typer.echo("".join(str(plan) for _, plan in answer), nl=False)
        else:
            print_table(answer.column_names, rows(answer))
            typer.echo("(1 row)" if len(answer) == 1 else f"({len(answer)} rows)")


@app.command()
def show(
    db: Database,
    what: Annotated[What, typer.Argument(metavar="rules|predicates|hypernodes")],
    as_json: Json = False,
) -> None:
    """List rules, predicates or hypernodes.

    Predicates come with the numbers of their facts. A hypernode is a set of rules that are evaluated together: rules that depend on each other, or
    one rule alone. Its modules are algorithms of their own for relations that it closes: tc(path)
    if path is transitive, stc(near) if near is symmetric and transitive. Cyclic rules come with what
    was decided for them, and why: the tree of nodes they are evaluated by, or "as a whole".

    \b
    Examples:
      zodiac show farm.duckdb rules
      zodiac show farm.duckdb hypernodes
    """
    with reading(db) as kb:
        tables: dict[What, Callable[[], Answer]] = {
            What.RULES: kb.rules,
            What.PREDICATES: kb.predicates,
            What.HYPERNODES: kb.hypernodes,
        }
        answer = tables[what]()
    if as_json:
        print_rows_as_json(answer)
        return
    # Most programs have no cyclic rule.
    names = [
        name for name in answer.column_names if name != "trees" or any(answer["trees"].to_pylist())
    ]
    rows = [[_on_one_line(row[name]) for name in names] for row in answer.to_pylist()]
    print_table(names, rows)


def _on_one_line(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) else value


@app.command()
def graph(
    db: Database,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="A .svg, .mmd (Mermaid) or .dot file."),
    ] = None,
    added: Annotated[
        list[Path] | None,
        typer.Option("--add", metavar="FILE", help="Rules that would come; may be repeated."),
    ] = None,
    dropped: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="NAME|FILE", help="Rules that would go; may be repeated."),
    ] = None,
) -> None:
    """Draw how hypernodes depend on each other.

    Without -o, as text. With --add or --drop, as it is and as it would be after that change, side
    by side; nothing is changed. Tells the modules at work, too: see `zodiac show --help`.

    \b
    Examples:
      zodiac graph farm.duckdb
      zodiac graph farm.duckdb -o hrdg.svg
      zodiac graph farm.duckdb -o change.svg --add more.rules --drop r4
    """
    if added or dropped:
        drawing, notes = _graph_of_change(db, added or [], dropped or [])
    else:
        with reading(db) as kb:
            drawing, notes = kb.graph(), ()
    if out is None:
        typer.echo(str(drawing))
    else:
        drawing.save(out)
        typer.echo(f"wrote {out}")
    print_notes(notes)


@app.command()
def verify(db: Database, as_json: Json = False) -> None:
    """Tell whether facts are exactly what rules entail.

    Derives everything once more, aside, and compares it with what the file holds, which stays as it
    is. Status 1 if anything differs: facts that are missing, or rows that are surplus. To have what
    rules derive computed anew, drop them and add them again.

    \b
    Example:
      zodiac verify farm.duckdb
    """
    from zodiac_sql.cli.progress import reported

    with reading(db) as kb, reported() as report:
        found = kb.verify(progress=report)
    print_verification(found, db, as_json)
    if not found:
        raise typer.Exit(1)


@app.command()
def export(
    db: Database,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made if it is missing.")],
    predicates: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PREDICATE]...", help="By default all predicates."),
    ] = None,
    format: ExportFormat = Format.PARQUET,
    as_json: Json = False,
) -> None:
    """Write facts, explicit and derived, to files.

    \b
    Examples:
      zodiac export farm.duckdb results
      zodiac export farm.duckdb results anomaly neighbours --format csv
    """
    with reading(db) as kb:
        exported = _exported(kb, directory, format, predicates or [])
    if as_json:
        print_json(exported_as_json(exported))
    else:
        print_exported(exported, directory)


# --- parts of commands ----------------------------------------------------------------------------


def _change(db: str, wanted: Wanted, samples: int | None, as_json: bool) -> None:
    """Do what is wanted; or, if so many samples are to be shown, tell what it would do."""
    with changing(db) as opened:
        if samples is None:
            print_change(opened.carry_out(wanted), as_json)
        else:
            print_preview(opened.preview(wanted), samples, as_json)


def _samples(preview: bool, samples: int | None) -> int | None:
    """How many facts of each predicate a preview shows; None if it is no preview."""
    if not preview:
        if samples is not None:
            raise typer.BadParameter("--samples goes with --preview")
        return None
    return _SAMPLES if samples is None else samples


_SAMPLES = 5


def _names_and_files(given: Iterable[str]) -> list[Path | str]:
    """Tell files of rules from names of rules. The files must exist."""
    told = [Path(one) if one.endswith((".rules", ".dl")) else one for one in given]
    require_files(one for one in told if isinstance(one, Path))
    return told


def _graph_of_change(
    db: str, added: Sequence[Path], dropped: Sequence[str]
) -> tuple[Drawing, tuple[str, ...]]:
    """The HRDG before and after rules would come and go, and the notes of that change."""
    require_database(db)
    require_files(added)
    wanted = Wanted(dropped=_names_and_files(dropped), rules=added)
    with changing(db) as opened:
        change = opened.preview(wanted)
        return opened.kb.graph(change), change.notes


def _exported(
    kb: KnowledgeBase, directory: Path, format: Format, predicates: Sequence[str] = ()
) -> Exported:
    try:
        return kb.export(directory, format.value, *predicates)
    except BaseException as error:
        if not is_interruption(error):
            raise
        text = f"interrupted; files in {directory} may be missing or cut short"
        raise Interrupted(text) from None


def _export_after(kb: KnowledgeBase, db: str, out: Path, format: Format) -> Exported:
    """Export after a change, which stays whatever happens here."""
    try:
        return _exported(kb, out, format)
    except (ZodiacError, OSError) as error:
        kept = "" if db == MEMORY else f" The change itself is complete in {db}."
        raise Refused(f"{_message(error)}{kept}") from error


_SQL = re.compile(
    r"""(?: \s | \( | --[^\n]*(?:\n|$) | /\*.*?\*/ )*      # SQL may begin in parentheses
        (?: SELECT | WITH | FROM | EXPLAIN | DESCRIBE | SHOW | SUMMARIZE | VALUES | TABLE
          | PIVOT | UNPIVOT )
        (?: [\s\d"'*$;-] | /\* | $ )                       # but show(X) and show:p(X) are goals
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def is_sql(text: str) -> bool:
    """Whether a query is SQL; else it is goals."""
    return _SQL.match(text) is not None


# --- the end, good or bad -------------------------------------------------------------------------


def _refuse(error: Exception) -> None:
    say(_message(error))
    if isinstance(error, OSError) and error.filename is None:
        _silence_stdout()  # it is what cannot be written


def _message(error: Exception) -> str:
    """What went wrong, as a person reads it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output'}: {error.strerror}"
    return str(error)


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Show our warnings on one line, without the place in our code where they arise."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", MissingFunctionWarning)
        usual = warnings.showwarning

        def show_warning(message: Any, category: Any, *place: Any, **more: Any) -> None:
            if issubclass(category, MissingFunctionWarning):
                say(f"warning: {' '.join(str(message).split())}")
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show_warning
        yield


def _silence_stdout() -> None:
    """Let what is still to be written go nowhere, so that Python does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
