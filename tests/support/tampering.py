"""Change a file behind the back of zodiac_sql."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb

import zodiac_sql


def tamper(path: Path, *statements: str) -> None:
    """Change a file as no verb does."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def found(path: Path) -> zodiac_sql.read.verify.verify.Verification:
    """What verify says of a file that it must leave as it is."""
    before = hashlib.sha256(path.read_bytes()).digest()
    with zodiac_sql.connect(path, read_only=True) as kb:
        result = kb.verify()
    assert hashlib.sha256(path.read_bytes()).digest() == before
    return result


def id_of(text: str) -> str:
    return f"(SELECT id FROM zodiac.symbol WHERE text = '{text}')"
