"""What ends a command early: a problem that the user can mend, or an interruption."""

from __future__ import annotations

from zodiac_sql.cli.wording import in_shell


class Refused(Exception):
    """Ends the program with a message and the status 1; or 130 after an interruption."""

    status = 1


class Interrupted(Refused):
    """Ctrl-C was pressed while something was being written."""

    status = 130


_interrupted: list[int] = []


def interrupt(number: int, frame: object) -> None:
    """Remember Ctrl-C, because some libraries turn it into another error."""
    _interrupted.append(number)
    raise KeyboardInterrupt


def heed_interruption(statement: str, parameters: object) -> None:
    """End before a statement if Ctrl-C was pressed: DuckDB loses it while it imports modules."""
    if _interrupted:
        raise KeyboardInterrupt


def is_interruption(error: BaseException) -> bool:
    """Whether an error was caused by Ctrl-C."""
    if _interrupted and not isinstance(error, Refused):
        return True
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__cause__ or seen.__context__
    return seen is not None


def message(error: Exception) -> str:
    """The message of an error for people who use the command line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output'}: {error.strerror}"
    return in_shell(str(error))
