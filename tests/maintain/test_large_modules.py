"""Large changes of closed relations: no table of pairs is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from support.closed_relations import FED, NEAR, TURN, UNEQUAL, modules_of, shown

from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., KnowledgeBase]


@contextmanager
def largest_table(kb: KnowledgeBase) -> Iterator[dict[str, int]]:
    """The largest table that there is between any two statements inside: its rows, by its name."""
    seen: dict[str, int] = {}

    def look(text: str, parameters: object) -> None:
        rows = kb._session.store.connection.duckdb.execute(
            "SELECT table_name, estimated_size FROM duckdb_tables() ORDER BY 2 DESC LIMIT 1"
        ).fetchall()
        if rows and rows[0][1] > max(seen.values(), default=0):
            seen.clear()
            seen.update(rows)

    kb._session.store.connection.tracer = look
    yield seen
    kb._session.store.connection.tracer = None


def chain(start: int, stop: int) -> list[tuple[int, int]]:
    return [(number, number + 1) for number in range(start, stop - 1)]


@pytest.mark.parametrize(
    ("rules", "unequal", "chosen"),
    [
        (NEAR, False, "auto"),
        (TURN + UNEQUAL, True, "auto"),
        (FED, False, "auto"),
        (NEAR, False, "recompute"),
    ],
    ids=["stc", "unequal", "fed", "recompute"],
)
def test_large_splits_and_merges_make_no_pairs(
    open_kb: OpenKb, rules: str, unequal: bool, chosen: str
) -> None:
    kb, size = open_kb(strategy=chosen), 400
    limit = 5 * 2 * size

    def whole(nodes: int) -> int:
        return nodes * (nodes - unequal)

    with largest_table(kb) as largest:
        kb.add_rules(rules)
        first = kb.insert("near", chain(0, size) + chain(size, 2 * size))
        assert first.inserted == {"near": 2 * whole(size)}
        assert first.inserted_facts("near", 10).num_rows == 10

        merged = kb.insert("near", [(7, size + 7)])
        assert (merged.inserted, merged.deleted) == ({"near": 2 * size**2}, {})
        some = shown(merged.inserted_facts("near", 1000))
        assert len(some) == 1000 and all((a < size) != (b < size) for a, b in some)
        assert merged.deleted_facts("near").num_rows == 0
        assert kb.predicates().to_pylist()[-1]["explicit"] in (0, 2 * size - 1)

        split = kb.delete("near", [(7, size + 7)])
        assert (split.inserted, split.deleted) == ({}, {"near": 2 * size**2})
        some = shown(split.deleted_facts("near", 1000))
        assert len(some) == 1000 and all((a < size) != (b < size) for a, b in some)

        with kb.update() as update:  # one is taken from the first, and comes to the second
            update.delete("near", [(size - 2, size - 1)])
            update.insert("near", [(size - 1, size)])
        moved = update.change
        assert moved.inserted == {"near": 2 * size}
        assert moved.deleted == {"near": 2 * (size - 1)}
        assert shown(moved.deleted_facts("near")) == {
            pair for other in range(size - 1) for pair in ((other, size - 1), (size - 1, other))
        }
        assert kb.query(f"near(0, {size - 2}), not near(0, {size - 1})").to_pylist() != []
        assert modules_of(kb) == ["stc(near)"]

        gone = kb.drop_rules("join")
        left = 2 * (2 * size - 2)
        assert gone.deleted == {"near": whole(size - 1) + whole(size + 1) - left}
        back = kb.add_rules(rules)
        assert back.inserted == gone.deleted
    assert max(largest.values()) <= limit, largest
    assert len(kb.table("near")) == whole(size - 1) + whole(size + 1)


def test_the_table_of_classes_has_a_row_for_each_node(open_kb: OpenKb) -> None:
    kb = open_kb()
    kb.add_rules(FED)
    kb.insert("strong", [(1,)])
    kb.insert("near", chain(0, 200))
    (row,) = kb.hypernodes().to_pylist()
    assert row["rows"] == 200**2 + 200
    sizes = dict(
        kb.sql(
            "SELECT table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'idb'"
        ).fetchall()
    )
    assert sizes == {"h1_near classes": 200, "h1_near external": 200, "h1_link": 200}
    assert kb.verify()
