"""An embedded Datalog reasoner: rules and facts kept materialised in one DuckDB file.

import zodiac_sql
kb = zodiac_sql.connect("farm.duckdb")
kb.add_rules("path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), edge(Y, Z).")
kb.insert("edge", [("a", "b"), ("b", "c")])
kb.query("path(a, X)")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zodiac_sql.errors import (
    BusyError,
    ConstraintError,
    DataError,
    EvaluationError,
    FunctionError,
    LimitError,
    LockedError,
    MissingFunctionError,
    MissingFunctionWarning,
    MissingLogWarning,
    NewerFileError,
    OtherMeaningWarning,
    OtherTableWarning,
    ProgramError,
    PublishedError,
    QueryError,
    ResourceError,
    SparkError,
    StoreError,
    StreamError,
    UnsettledError,
    ZodiacError,
)
from zodiac_sql.language.functions import Function

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.ontology.translate import translate as read_ontology
    from zodiac_sql.opening import connect
    from zodiac_sql.reader import Reader
    from zodiac_sql.serve.server import Server
    from zodiac_sql.stream.channel import UpdateQueue
    from zodiac_sql.stream.updates import StreamUpdate

__all__ = [
    "BusyError",
    "ConstraintError",
    "DataError",
    "EvaluationError",
    "Function",
    "FunctionError",
    "KnowledgeBase",
    "LimitError",
    "LockedError",
    "MissingFunctionError",
    "MissingFunctionWarning",
    "MissingLogWarning",
    "NewerFileError",
    "OtherMeaningWarning",
    "OtherTableWarning",
    "ProgramError",
    "PublishedError",
    "QueryError",
    "Reader",
    "ResourceError",
    "Server",
    "SparkError",
    "StoreError",
    "StreamError",
    "StreamUpdate",
    "UnsettledError",
    "UpdateQueue",
    "ZodiacError",
    "connect",
    "read_ontology",
]
__version__: str


def __getattr__(name: str) -> object:
    """Import DuckDB only when a knowledge base is opened, because `zodiac --help` needs none.

    The version is that of the installed package.
    """
    if name == "__version__":
        from importlib.metadata import version

        return version("zodiac-sql")
    if name == "KnowledgeBase":
        from zodiac_sql.knowledge_base import KnowledgeBase

        return KnowledgeBase
    if name == "connect":
        from zodiac_sql.opening import connect

        return connect
    if name == "Reader":
        from zodiac_sql.reader import Reader

        return Reader
    if name == "Server":
        from zodiac_sql.serve.server import Server

        return Server
    if name == "read_ontology":
        from zodiac_sql.ontology.translate import translate

        return translate
    if name == "UpdateQueue":
        from zodiac_sql.stream.channel import UpdateQueue

        return UpdateQueue
    if name == "StreamUpdate":
        from zodiac_sql.stream.updates import StreamUpdate

        return StreamUpdate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What `%load_ext zodiac_sql` does in a notebook: cells of rules and of queries."""
    from zodiac_sql.notebook import add_magics

    add_magics(shell)
