"""What is in a request: parameters, and a body of JSON, text, CSV or Arrow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request

from zodiac_sql.database.limits import Limits
from zodiac_sql.errors import DataError
from zodiac_sql.serve.answers import FORMS

LARGEST = 256 * 1024 * 1024
"""Bodies may have so many bytes."""


class Unacceptable(Exception):
    """A request that cannot be answered, with its status."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that has been read."""

    parameters: QueryParams
    headers: Headers
    body: bytes

    @property
    def kind(self) -> str:
        """The media type of the body."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def text(self) -> str:
        """The body as text. Raises DataError."""
        try:
            return self.body.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"the body is not UTF-8: {error}") from None

    def fields(self, text: str) -> Mapping[str, Any]:
        """The parameters and the keys of a body of JSON; another body is the value of one key.

        Raises DataError.
        """
        found: dict[str, Any] = dict(self.parameters)
        if self.kind == "application/json":
            given = json_of(self.text())
            if not isinstance(given, dict):
                raise DataError(f'the body is an object, such as {{"{text}": ".."}}')
            return {**found, **given}
        if self.body:
            found[text] = self.text()
        return found

    def form(self, forms: Iterable[str] = FORMS) -> str:
        """The media type that is wanted. Raises Unacceptable."""
        forms = tuple(forms)
        wanted = [
            one.partition(";")[0].strip() for one in self.headers.get("accept", "").split(",")
        ]
        for one in wanted:
            if one in forms:
                return one
            if one in ("", "*/*", "application/*") or (one == "text/*" and "text/csv" not in forms):
                return forms[0]
        raise Unacceptable(406, f"the answer can be {', '.join(forms)}")


def json_of(text: str) -> Any:
    """The value of a text of JSON. Raises DataError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the body is not JSON: {error}") from None


async def read(request: Request) -> Asked:
    """Read a request. Raises Unacceptable if its body is too large."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise Unacceptable(413, f"a body has at most {LARGEST:,} bytes: send it in parts")
        parts.append(part)
    return Asked(request.query_params, request.headers, b"".join(parts))


def wanted(fields: Mapping[str, Any], name: str, example: str) -> str:
    """A text that must be there. Raises DataError."""
    found = fields.get(name)
    if not isinstance(found, str) or not found.strip():
        raise DataError(f'"{name}" is missing: a text such as {example}')
    return found


def text_of_rules(key: str, text: Any) -> Any:
    """A text of rules. Raises DataError for a path, by which this process would read a file.

    Where verbs take a text of rules, they take the path of a file, too.
    """
    if isinstance(text, str) and text.strip().endswith((".rules", ".dl", ".srl")):
        raise DataError(f"{key}: send the text of the rules; {text!r} is a path")
    return text


def is_set(fields: Mapping[str, Any], name: str) -> bool:
    """Whether a switch is on. Raises DataError."""
    found = fields.get(name, False)
    if isinstance(found, bool):
        return found
    if str(found).lower() in ("true", "1", ""):
        return True
    if str(found).lower() in ("false", "0"):
        return False
    raise DataError(f'"{name}" is true or false, not {found!r}')


def number(fields: Mapping[str, Any], name: str) -> int | None:
    """A whole number. Raises DataError."""
    found = fields.get(name)
    try:
        return None if found is None else int(found)
    except (TypeError, ValueError):
        raise DataError(f'"{name}" is a whole number, not {found!r}') from None


def limits_of(fields: Mapping[str, Any], usual: Limits) -> Limits:
    """The limits of a request: those of the server, or narrower ones. Raises DataError."""
    try:
        timeout = fields.get("timeout")
        mine = Limits(
            None if timeout is None else float(timeout),
            number(fields, "max_rows"),
            number(fields, "max_iterations"),
        )
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from None
    return Limits(
        _least(mine.timeout, usual.timeout),
        _least(mine.max_rows, usual.max_rows),
        _least(mine.max_iterations, usual.max_iterations),
    )


def _least(one: Any, other: Any) -> Any:
    return min((limit for limit in (one, other) if limit is not None), default=None)
