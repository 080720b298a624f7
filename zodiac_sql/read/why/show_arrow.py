"""The steps of an explanation as an Arrow table: one row per rule instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from zodiac_sql.read.why.proof import Explanation

TEXTS = ("fact", "rule", "text", "kind")
LISTS = ("uses", "absent", "tests", "bindings", "groups")


def arrow_table(explanation: Explanation) -> pa.Table:
    """The steps in the order of their facts, with all parts as texts."""
    import pyarrow as pa

    steps = [
        (str(fact), step)
        for fact in explanation.facts()
        for step in explanation.derivations.get(fact, ())
    ]
    columns = {
        "fact": [fact for fact, _ in steps],
        **{name: [getattr(step, name) for _, step in steps] for name in TEXTS[1:]},
        **{name: [list(map(str, getattr(step, name))) for _, step in steps] for name in LISTS},
    }
    types = [(name, pa.string()) for name in TEXTS]
    types += [(name, pa.list_(pa.string())) for name in LISTS]
    return pa.table(columns, pa.schema(types))
