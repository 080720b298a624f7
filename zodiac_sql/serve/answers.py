"""What a server answers: tables as JSON, CSV or Arrow, changes and errors as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from zodiac_sql.errors import (
    BusyError,
    ConstraintError,
    LimitError,
    LockedError,
    ProgramError,
    PublishedError,
    ResourceError,
    StoreError,
    ZodiacError,
)
from zodiac_sql.facts.printed_values import as_json
from zodiac_sql.read.printed_answers import objects, write_csv

if TYPE_CHECKING:
    from zodiac_sql.read.query import Answer

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"

FORMS = (JSON, CSV, ARROW)
"""The media types of tables. The first is what who names none gets."""


def table(answer: Answer, form: str) -> Response:
    """An answer in one of the forms. JSON has an object for each row, and the notes."""
    if form == ARROW:
        return Response(arrow_bytes(answer), media_type=ARROW)
    if form == CSV:
        return Response(csv_text(answer), media_type=f"{CSV}; charset=utf-8")
    return json_response({"rows": list(objects(answer)), "notes": list(answer.notes)})


def json_response(value: object, status: int = 200) -> Response:
    """A value as JSON. What JSON has no numbers for is text (printed_values.py)."""
    text = json.dumps(as_json(value), ensure_ascii=False, separators=(",", ":"))
    return Response(text + "\n", status, media_type=JSON)


def csv_text(answer: Answer) -> str:
    """The names of the columns, and the rows, as `zodiac query --csv` prints them."""
    text = io.StringIO()
    write_csv(answer, text)
    return text.getvalue()


def arrow_bytes(answer: Answer) -> bytes:
    """A stream of Arrow's IPC format."""
    import pyarrow as pa

    made, found = io.BytesIO(), answer.arrow()
    with pa.ipc.new_stream(made, found.schema) as stream:
        stream.write_table(found)
    return made.getvalue()


def error_response(error: ZodiacError) -> Response:
    """An error: what is wrong, of which kind, and, in texts, where."""
    told: dict[str, Any] = {"error": str(error), "kind": type(error).__name__}
    if isinstance(error, ProgramError):
        told["problems"] = [_problem(one) for one in error.problems]
    return json_response(told, _status(error))


def _problem(problem: Any) -> Mapping[str, Any]:
    span = problem.span
    told = {"message": problem.message, **({"hint": problem.hint} if problem.hint else {})}
    if span is None:
        return told
    end = {"end_line": span.end_line, "end_column": span.end_column}
    return {**told, "line": span.line, "column": span.column, **end}


def _status(error: ZodiacError) -> int:
    """400: the request is wrong; 409: facts forbid it; 422: it needs more than it may have; 503:
    it may succeed later."""
    if isinstance(error, ConstraintError | PublishedError):
        return 409
    if isinstance(error, LimitError):
        return 422
    if isinstance(error, LockedError | BusyError | ResourceError):
        return 503
    return 500 if isinstance(error, StoreError) else 400
