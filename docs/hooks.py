"""Pages that MkDocs makes when it builds the site: the command line, ARCHITECTURE and CHANGELOG.

The commands of the program are the only source of their page, so the page cannot go out of date.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from zodiac_sql.cli.main import app

ROOT = Path(__file__).parent.parent


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/."""
    pages = {
        "reference/command-line.md": command_line(),
        "explanation/architecture.md": without_links_to_files(ROOT / "ARCHITECTURE.md"),
        "changelog.md": without_links_to_files(ROOT / "CHANGELOG.md"),
    }
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def without_links_to_files(path: Path) -> str:
    """A file of the checkout, without links to other such files: the site does not have them."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)[^)]+\)", r"\1", text)


def command_line() -> str:
    """A section for each command: what it does, its arguments and its options, as in `--help`."""
    program: Any = typer.main.get_command(app)
    context = program.make_context("zodiac", [], resilient_parsing=True)
    parts = [_INTRODUCTION, _fenced(program.get_help(context))]
    for name, command in program.commands.items():
        within = command.make_context(name, [], parent=context, resilient_parsing=True)
        parts.append(f"## zodiac {name}\n\n{_fenced(command.get_help(within))}")
    return "\n".join(parts)


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


_INTRODUCTION = """# Command line

The build of this site takes this page from the program: it is what `zodiac --help` and
`zodiac COMMAND --help` print.

The status of a command is 0 if it has done its work. It is 1 if there is a problem that you can
mend, or if `verify` or `check` has found something. It is 2 for a wrong command line, and 130 if
the command was interrupted. Unless the status is 0, the database is unchanged, or the message says
what is in it.
"""
