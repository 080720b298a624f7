"""The program `zodiac`: a command, mostly followed by the database file, then other arguments.

Status 0: done. 1: a problem that the user can mend, told on standard error, or what `verify` and
`check` have found. 2: a wrong command line. 130: interrupted. Unless the status is 0, the database
is unchanged, or the message says what is in it.

DuckDB, Arrow and rich are imported where they are needed, because `zodiac --help` must be quick.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from zodiac_sql.cli.change_commands import add_rules, alter, delete, drop_rules, insert, run, stream
from zodiac_sql.cli.check_command import check
from zodiac_sql.cli.editor_commands import format as format_
from zodiac_sql.cli.editor_commands import lsp
from zodiac_sql.cli.elsewhere import ARGUMENTS, ServedElsewhere
from zodiac_sql.cli.endings import Interrupted, Refused, interrupt, is_interruption, message
from zodiac_sql.cli.explain_command import explain
from zodiac_sql.cli.feed_commands import changes, keep_feed
from zodiac_sql.cli.log_levels import LogLevel, log_to_stderr
from zodiac_sql.cli.no_pandas import hide_pandas
from zodiac_sql.cli.ontology_command import ontology
from zodiac_sql.cli.output import say
from zodiac_sql.cli.profile_command import profile
from zodiac_sql.cli.read_commands import backup, compact, export, graph, query, show, sparql, verify
from zodiac_sql.cli.serve_command import serve
from zodiac_sql.cli.ui_command import ui
from zodiac_sql.cli.why_commands import inconsistencies, why, why_not
from zodiac_sql.errors import (
    MissingFunctionWarning,
    MissingLogWarning,
    OtherMeaningWarning,
    OtherTableWarning,
    ZodiacError,
)


class Commands(TyperGroup):
    """All commands. Turns the errors that they raise into a message and a status."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with _warnings_in_a_line():
                try:
                    result = super().invoke(ctx)
                except ServedElsewhere as found:
                    from zodiac_sql.cli.client import run_elsewhere

                    status = run_elsewhere(found.place, ctx.meta[ARGUMENTS])
                    raise typer.Exit(status) from None
                sys.stdout.flush()
                return result
        except BrokenPipeError:  # the reader of our output has closed the pipe
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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """The console script."""
    _open_what_is_closed()
    for output in (sys.stdout, sys.stderr):
        if hasattr(output, "reconfigure"):
            output.reconfigure(errors="backslashreplace")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    hide_pandas()
    try:
        app(prog_name="zodiac")
    except OSError as error:  # the help text could not be written
        _refuse(error)
        raise SystemExit(1) from None


def _open_what_is_closed() -> None:
    """Let what is said go nowhere if whoever started the program has closed its output (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


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
    log_level: Annotated[
        LogLevel | None,
        typer.Option(help="Log to standard error: info is one line a change, debug all steps."),
    ] = None,
) -> None:
    """Rules and facts, kept materialised in one DuckDB file.

    \b
    Begin with:
      zodiac run farm.duckdb -r wind.rules -d farm.nt
      zodiac query farm.duckdb 'anomaly(X)'
    """
    if log_level is not None:
        log_to_stderr(log_level)


for _command in (
    run,
    add_rules,
    drop_rules,
    ontology,
    insert,
    delete,
    stream,
    query,
    sparql,
    show,
    graph,
    why,
    why_not,
    inconsistencies,
    explain,
    profile,
    verify,
    export,
    backup,
    check,
    format_,
    lsp,
    keep_feed,
    changes,
    alter,
    compact,
    serve,
    ui,
):
    app.command()(_command)  # the help lists them in this order


def _refuse(error: Exception) -> None:
    say(message(error))
    if isinstance(error, OSError) and error.filename is None:
        _silence_stdout()  # writing to stdout is what failed


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Show warnings on one line, without the place in our code that raised them."""
    with warnings.catch_warnings():
        ours = (
            MissingFunctionWarning, MissingLogWarning, OtherMeaningWarning, OtherTableWarning
        )  # fmt: skip
        for kind in ours:
            warnings.simplefilter("always", kind)
        usual = warnings.showwarning

        def show_warning(message: Any, category: Any, *place: Any, **more: Any) -> None:
            if issubclass(category, ours):
                say(f"warning: {' '.join(str(message).split())}")
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show_warning
        yield


def _silence_stdout() -> None:
    """Discard output that is still buffered, so that Python does not complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
