"""What ends a command early: a problem that the user can mend, or an interruption."""

from __future__ import annotations


class Refused(Exception):
    """What the user is told, with the status 1; or 130 after an interruption."""

    status = 1


class Interrupted(Refused):
    """Control and C were pressed while something was being written."""

    status = 130


_interrupted: list[int] = []


def interrupt(number: int, frame: object) -> None:
    """Remember Control and C, for some libraries make another error of it."""
    _interrupted.append(number)
    raise KeyboardInterrupt


def heed_interruption(statement: str, parameters: object) -> None:
    """End before a statement if Control and C were pressed: DuckDB loses that while it imports."""
    if _interrupted:
        raise KeyboardInterrupt


def is_interruption(error: BaseException) -> bool:
    """Whether something ended because someone pressed Control and C."""
    if _interrupted and not isinstance(error, Refused):
        return True
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__cause__ or seen.__context__
    return seen is not None


def message(error: Exception) -> str:
    """What went wrong, as a person reads it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output'}: {error.strerror}"
    return str(error)
