"""Tells queries in SQL from goals, where both are asked in one place."""

from __future__ import annotations

import re

_SQL = re.compile(
    r"""(?: \s | \( | --[^\n]*(?:\n|$) | /\*.*?\*/ )*      # SQL may begin in parentheses
        (?: SELECT | WITH | FROM | EXPLAIN | DESCRIBE | SHOW | SUMMARIZE | VALUES | TABLE
          | PIVOT | UNPIVOT )
        (?: [\s\d"'*$;-] | /\* | $ )                       # but show(X) and show:p(X) are goals
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def is_sql(text: str) -> bool:
    """Whether a query is SQL; else it is goals."""
    return _SQL.match(text) is not None
