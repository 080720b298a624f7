"""The options `--timeout`, `--max-rows` and `--max-iterations`, which many commands have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Annotated, Any

import typer

_OPTIONS: dict[str, Any] = {
    "timeout": Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Change nothing if it takes longer."),
    ],
    "max_rows": Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="The most facts that rules may derive together."),
    ],
    "max_iterations": Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="How often rules may be applied."),
    ],
}
"""For commands that change something."""

_NO_CHECK: dict[str, Any] = {
    "no_check": Annotated[
        bool, typer.Option("--no-check", help="Let violations of constraints pass, and tell them.")
    ]
}

_OF_ANSWERS: dict[str, Any] = {
    "timeout": Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Fail if it takes longer.")
    ],
    "max_rows": Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Fail if there are more rows.")
    ],
}
"""For commands that ask for something."""

_given: ContextVar[dict[str, Any]] = ContextVar("limits")
"""What the command that runs was given."""


_DEFAULTS = {"no_check": False}


def limited(command: Callable[..., None]) -> Callable[..., None]:
    """A command that changes something, with options for limits."""
    return _with(command, {**_OPTIONS, **_NO_CHECK})


def limited_answer(command: Callable[..., None]) -> Callable[..., None]:
    """A command that asks for something, with options for limits."""
    return _with(command, _OF_ANSWERS)


def limits() -> dict[str, Any]:
    """The limits given to the command that runs, for `connect`."""
    given = _given.get({})
    return {name: value for name, value in given.items() if name not in _NO_CHECK}


def checks() -> bool:
    """Whether the command that runs is refused if it violates constraints."""
    return not _given.get({}).get("no_check", False)


def _with(command: Callable[..., None], options: dict[str, Any]) -> Callable[..., None]:
    @wraps(command)
    def with_limits(**given: Any) -> None:
        asked = {name: given.pop(name) for name in options}
        timeout = asked["timeout"]
        if timeout is not None and not timeout > 0:
            raise typer.BadParameter(f"--timeout is a number of seconds above 0, not {timeout:g}")
        token = _given.set(asked)
        try:
            command(**given)
        finally:
            _given.reset(token)

    # typer reads the options of a command from its signature, and their types from __annotations__.
    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=option
        )
        for name, option in options.items()
    ]
    with_limits.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), *added]
    )
    with_limits.__annotations__ = {
        **{name: one.annotation for name, one in signature.parameters.items()},
        **options,
    }
    return with_limits
