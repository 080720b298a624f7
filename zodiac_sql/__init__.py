"""An embedded Datalog reasoner: rules and facts kept materialised in one DuckDB file.

import zodiac_sql
kb = zodiac_sql.connect("farm.duckdb")
kb.add_rules("path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), edge(Y, Z).")
kb.insert("edge", [("a", "b"), ("b", "c")])
kb.query("path(a, X)")
"""

from zodiac_sql.errors import (
    DataError,
    FunctionError,
    LockedError,
    MissingFunctionWarning,
    NewerFileError,
    ProgramError,
    QueryError,
    ResourceError,
    StoreError,
    ZodiacError,
)
from zodiac_sql.functions import Function
from zodiac_sql.knowledge_base import KnowledgeBase, connect

__all__ = [
    "DataError",
    "Function",
    "FunctionError",
    "KnowledgeBase",
    "LockedError",
    "MissingFunctionWarning",
    "NewerFileError",
    "ProgramError",
    "QueryError",
    "ResourceError",
    "StoreError",
    "ZodiacError",
    "connect",
]
__version__ = "0.1.0"
