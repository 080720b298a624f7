"""Opens a knowledge base: `zodiac_sql.connect`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Literal

from zodiac_sql.change.settings import Settings
from zodiac_sql.database.limits import Limits
from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.settings import STORAGE_VERSION
from zodiac_sql.knowledge_base import KnowledgeBase
from zodiac_sql.language.functions import Function
from zodiac_sql.session import Session


def connect(
    path: str | Path = ":memory:",
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    external_access: bool = False,
    storage_version: str = STORAGE_VERSION,
    functions: Iterable[Function] = (),
    strategy: str = "auto",
    modules: bool = True,
    hypertree: Literal["auto"] | bool = "auto",
    timeout: float | None = None,
    max_rows: int | None = None,
    max_iterations: int | None = None,
) -> KnowledgeBase:
    """Open a knowledge base: a DuckDB file, created if it does not exist, or memory.

    `memory_limit` ("512MB"), `threads` and `temp_directory` (where to spill) go to DuckDB. Without
    `external_access`, no SQL in a query or in the file reaches other files or the network. A new
    file is for clients of DuckDB from `storage_version` on; one that was copied in use, without its
    .wal, is a MissingLogWarning. `functions` are those that its rules use (`register_function`).
    A change or a question that takes longer than `timeout` seconds is a LimitError, and changes
    nothing. So is a change in which the rules of one hypernode derive more than `max_rows` facts
    beyond those that they have derived before, or are applied more than `max_iterations` times, and
    an answer of more than `max_rows` rows. Verbs take the same arguments; a verb's value counts.

    The others say how changes are computed; answers and the file's format do not depend on them.
    `strategy` is how derived facts follow a change: "auto" chooses for each hypernode, and looks up
    what few facts do once that pays, "lookups" at once; "support", "bf", "dred", "recompute", and
    for streams "bf_marking" and "dred_marking", are to compare. With `modules`, other algorithms
    compute transitive and symmetric-transitive relations. `hypertree` says which cyclic rules are
    evaluated by a tree of smaller joins: "auto" those that should gain by it, True all, False none.
    Raises LockedError, NewerFileError or StoreError; ValueError for an unknown setting.
    """
    settings = Settings(strategy, modules, hypertree)
    settings.require_known()
    limits = Limits(timeout, max_rows, max_iterations)
    opened = partial(
        open_store,
        path,
        read_only=read_only,
        threads=threads,
        memory_limit=memory_limit,
        temp_directory=temp_directory,
        external_access=external_access,
        storage_version=storage_version,
    )
    return KnowledgeBase(Session(opened, functions, limits), settings)
