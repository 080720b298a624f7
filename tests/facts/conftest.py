"""What tests of loading start from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from zodiac_sql.database import dictionary
from zodiac_sql.database.open_store import open_store
from zodiac_sql.database.store import Store


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store() as opened:
        dictionary.prepare(opened)
        yield opened
