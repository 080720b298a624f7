"""Runs a command for the client of a server (elsewhere.py)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from zodiac_sql.cli.elsewhere import Host, run_by
from zodiac_sql.cli.endings import Refused, message
from zodiac_sql.cli.output import say
from zodiac_sql.cli.terminal import Terminal, printing_on
from zodiac_sql.errors import ZodiacError

_RULES = (".rules", ".dl", ".srl")


def run_hosted(arguments: Sequence[str], folder: str, host: Host, terminal: Terminal) -> int:
    """Run a command with what a server has open. Returns its status.

    Paths are meant from the folder in which the client is.
    """
    from zodiac_sql.cli.main import app

    name, *rest = arguments
    command: Any = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    with run_by(host), printing_on(terminal):
        try:
            with command.make_context(name, rest) as context:
                context.params = {
                    parameter.name: _meant(parameter, context.params[parameter.name], folder)
                    for parameter in command.params
                    if parameter.name in context.params
                }
                command.invoke(context)
        except typer.Exit as error:
            return error.exit_code
        except typer.BadParameter as error:
            say(error.format_message())
            return 2
        except Refused as error:
            say(message(error))
            return error.status
        except (ZodiacError, OSError) as error:
            say(message(error))
            return Refused.status
    return 0


def _meant(parameter: Any, value: Any, folder: str) -> Any:
    """A parameter as the client means it: what names a file is meant from where the client is."""
    if isinstance(value, list | tuple):
        return type(value)(_meant(parameter, one, folder) for one in value)
    if not isinstance(value, str | Path):
        return value
    # Older versions of typer have texts here, and make paths of them later.
    kind = type(getattr(parameter, "type", None)).__name__
    is_path = isinstance(value, Path) or kind in ("Path", "TyperPath")
    names_rules = "FILE" in str(parameter.metavar) and str(value).endswith(_RULES)
    if not is_path and not names_rules:
        return value
    return type(value)(os.path.join(folder, value))
