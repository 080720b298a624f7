"""A statement as a sqlglot tree -> its SQL text. Imports no sqlglot: whoever has a tree has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def render(tree: exp.Expr) -> str:
    """The SQL text of a tree. It takes a fifth of a millisecond, so loops keep the text."""
    # Names of functions stay as they are: the upper case of some scripts is another name. And the
    # tree is not copied first, which takes longer than to write it: to write it changes nothing.
    return tree.sql(dialect="duckdb", normalize_functions=False, copy=False)
