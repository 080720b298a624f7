"""What a symbol, or a term of a mixed column, can be given by in a SELECT, other than its id."""

from __future__ import annotations

from zodiac_sql.language.syntax import Type

PLAIN = 1
"""A text that a function has made: that of a plain symbol."""

WRITTEN = 2
"""The text of the symbol as people see it, with its quotes, language or datatype."""


STRUCT = 3
"""What a term is worth, as a function has computed it (terms.py)."""

ENCODED = (Type.SYMBOL, Type.ANY)
"""The types whose values tables hold as ids."""


def is_text(type_: Type | None, form: int) -> bool:
    """Whether a value is the text of a symbol, and not its id."""
    return type_ in ENCODED and bool(form)
