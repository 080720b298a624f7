"""A sqlglot tree -> its SQL text. This imports no sqlglot: who has a tree has imported it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def render(tree: exp.Expr) -> str:
    """The SQL text of a tree. It takes a fifth of a millisecond, so loops keep the text."""
    # Names of functions keep their case: in some scripts the upper case is another name. The tree
    # is not copied first, because writing does not change it, and copying takes longer than that.
    return tree.sql(dialect="duckdb", normalize_functions=False, copy=False)
