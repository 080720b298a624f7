"""Regular expressions that stand in rules: are they any?

Arrow has the same library for them as DuckDB (RE2), and needs no database.
"""

from __future__ import annotations

from zodiac_sql.errors import Problem
from zodiac_sql.language.functions import meant
from zodiac_sql.language.syntax import Call, Constant, Type

TAKE_A_PATTERN = ("matches", "regex_replace", "regex_extract")
"""The functions whose second argument is a regular expression."""


def wrong_pattern(call: Call) -> Problem | None:
    """What is wrong with the pattern of a call, if it takes one and that is a constant."""
    if call.function not in TAKE_A_PATTERN or len(call.arguments) < 2:
        return None
    pattern = call.arguments[1]
    if not isinstance(pattern, Constant) or pattern.type is not Type.SYMBOL:
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.match_substring_regex(pa.array([""]), meant(pattern))
    except pa.ArrowInvalid as error:
        said = str(error).partition(": ")[2]
        return Problem(
            f"no regular expression: {said}", pattern.span or call.span,
            r'( ) [ ] { } . * + ? | ^ $ stand for themselves after two backslashes: "\\(".',
        )  # fmt: skip
    return None
