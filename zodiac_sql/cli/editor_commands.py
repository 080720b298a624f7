"""The commands for those who write rules: their layout, and the server that editors ask."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zodiac_sql.cli.databases import require_files
from zodiac_sql.cli.endings import Refused
from zodiac_sql.cli.output import print_text

if TYPE_CHECKING:
    from zodiac_sql.editor.stored import Database, Stored

_STANDARD_INPUT = Path("-")


def format(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files of rules, or - for standard input."),
    ],
    only_check: Annotated[
        bool, typer.Option("--check", help="Write nothing; the status is 1 if a file would change.")
    ] = False,
) -> None:
    """Lay out files of rules in one style.

    Only the space between words and signs changes, so rules mean the same, and comments stay. A
    rule has one line, or if that is longer than 100 characters, one for the head and one for each
    literal. What is read from standard input is written to standard output. If a file cannot be
    read, none is written.

    \b
    Examples:
      zodiac format wind.rules heat.rules
      zodiac format wind.rules --check
      zodiac format - < wind.rules
    """
    from zodiac_sql.editor.layout import formatted

    require_files(file for file in files if file != _STANDARD_INPUT)
    texts = [(file, _text(file)) for file in files]
    laid_out = [(file, text, formatted(text, _name(file))) for file, text in texts]
    for file, text, new in laid_out:
        if file == _STANDARD_INPUT and not only_check:
            sys.stdout.buffer.write(new.encode())
        elif text != new:
            print_text(f"{'would change' if only_check else 'changed'}: {_name(file)}")
            if not only_check:
                file.write_bytes(new.encode())
    if only_check and any(text != new for _, text, new in laid_out):
        raise typer.Exit(1)


def _name(file: Path) -> str:
    return "<standard input>" if file == _STANDARD_INPUT else str(file)


def _text(file: Path) -> str:
    """The text of a file as it is, with its line ends."""
    if file.suffix.lower() == ".srl":
        raise Refused(f"{file} has SHACL rules, which have a style of their own.")
    given = sys.stdin.buffer.read() if file == _STANDARD_INPUT else file.read_bytes()
    try:
        return given.decode()
    except UnicodeDecodeError as error:
        raise Refused(f"cannot read {_name(file)}: {error.reason}. Nothing was changed.") from None


def lsp(
    database: Annotated[
        str, typer.Option("--database", metavar="DB", help="Show the sizes of predicates there.")
    ] = "",
) -> None:
    """Answer an editor: the language server of rules.

    Editors start it themselves, and speak with it over standard input and output; editors/vscode
    has an extension for VS Code. It tells what `zodiac check` finds, shows and completes
    predicates, columns and functions, finds and renames names, and lays out texts as `zodiac
    format` does. A database is opened read-only for a moment, where its sizes are asked for, and
    passed over if another process is writing it.

    \b
    Examples:
      zodiac lsp
      zodiac lsp --database farm.duckdb
    """
    from zodiac_sql import __version__

    try:
        from zodiac_sql.editor.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise Refused(
            "the language server needs pygls, which is not installed: pip install 'zodiac-sql[lsp]'"
        ) from error
    serve(__version__, lambda given: _named(given or database))


def _named(database: str) -> Database:
    """A database that an editor asks: it is opened only to be read, and if it has changed since."""
    from zodiac_sql.editor.stored import Database, Stored

    asking = threading.Lock()  # texts are checked in a thread of their own
    stamp: object = None
    found: Mapping[str, Stored] = {}

    def read() -> Mapping[str, Stored]:
        nonlocal stamp, found
        from zodiac_sql import ZodiacError, connect

        with asking, suppress(ZodiacError, OSError):
            now = [_stamp(Path(database + end)) for end in ("", ".wal")]
            if now != stamp:
                with connect(database, read_only=True, threads=1) as kb:
                    rows = kb.predicates().to_pylist()
                names = ("columns", "explicit", "derived", "extension")
                found = {row["predicate"]: Stored(*(row[name] for name in names)) for row in rows}
                stamp = now
        return found

    return Database(Path(database).name, read) if database else Database()


def _stamp(file: Path) -> tuple[int, int] | None:
    """What tells whether a file has changed; None if it is not there."""
    with suppress(OSError):
        status = file.stat()
        return status.st_mtime_ns, status.st_size
    return None
