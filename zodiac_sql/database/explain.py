"""How DuckDB would run a query."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zodiac_sql.database.render import render
from zodiac_sql.database.store import Store

if TYPE_CHECKING:
    from sqlglot import exp


def plan(store: Store, query: exp.Query) -> dict[str, Any]:
    """DuckDB's plan for a query: a tree of dictionaries with name, extra_info and children."""
    ((_, plan),) = store.rows(f"EXPLAIN (FORMAT json) {render(query)}")
    (root,) = json.loads(plan)
    return dict(root)
