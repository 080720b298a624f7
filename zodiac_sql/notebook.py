"""Cells of a notebook that are rules or queries: `%load_ext zodiac_sql`.

    %%rules
    path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), edge(Y, Z).

    %%query
    path(a, X)

They go to the knowledge base in the variable `kb`, or in the one that is named behind them.
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError

from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.questions import Questions
from zodiac_sql.read.is_sql import is_sql

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from zodiac_sql.change.change import Change
    from zodiac_sql.read.query import Answer


class _Line(argparse.ArgumentParser):
    """What stands behind `%%rules` or `%%query`."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; {self.format_usage().strip()}")


def add_magics(shell: InteractiveShell) -> None:
    """Let a shell know the cells."""

    def meant(line: argparse.Namespace, kind: type[Questions], what: str) -> Questions:
        found = shell.user_ns.get(line.kb)
        if not isinstance(found, kind):
            example = f'{line.kb} = zodiac_sql.connect("farm.duckdb")'
            raise UsageError(f"{line.kb} is nothing that {what}; begin with {example}")
        return found

    def rules(line: str, cell: str) -> Change:
        """%%rules [KB] [--set SET]: add the rules of a cell, as kb.add_rules does.

        With a set, the cell has all of its rules, as for kb.replace_rules: when it is run again,
        only what is otherwise is added and dropped.
        """
        words = _read("%%rules", line, "--set")
        kb = meant(words, KnowledgeBase, "can be changed")
        assert isinstance(kb, KnowledgeBase)
        return kb.replace_rules(cell, set=words.set) if words.set else kb.add_rules(cell)

    def query(line: str, cell: str) -> Answer:
        """%%query [KB]: answer the goals of a cell, or its SQL, as `zodiac query` does."""
        kb = meant(_read("%%query", line), Questions, "can be asked")
        return kb.sql(cell) if is_sql(cell) else kb.query(cell)

    register: Any = shell.register_magic_function  # its types are those of a method
    register(rules, "cell")
    register(query, "cell")


def _read(magic: str, line: str, *options: str) -> argparse.Namespace:
    words = _Line(prog=magic, add_help=False)
    words.add_argument("kb", nargs="?", default="kb", metavar="KB")
    for option in options:
        words.add_argument(option)
    return words.parse_args(shlex.split(line))
