"""What a knowledge base holds, to be compared."""

from __future__ import annotations

from typing import Any

from zodiac_sql import KnowledgeBase


def extensions(kb: KnowledgeBase) -> dict[str, list[tuple[Any, ...]]]:
    names = kb.predicates()["predicate"].to_pylist()
    return {name: sorted(kb.table(name).fetchall()) for name in names}


def described(kb: KnowledgeBase) -> tuple[Any, ...]:
    """Everything that can be asked about a knowledge base."""
    tables = (kb.rules(), kb.predicates(), kb.hypernodes())
    return (extensions(kb), *(sorted(map(str, table.to_pylist())) for table in tables))
