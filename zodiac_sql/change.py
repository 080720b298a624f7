"""What a change did: the answer of every verb that changes something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class HypernodeChange:
    """Which hypernodes a change created, dropped, updated (because inputs of theirs had changed) or
    left untouched.
    """

    created: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """The outcome of one atomic change.

    `inserted` and `deleted` give, for each predicate concerned, how many facts entered or left its
    extension (explicit or derived). `stats["seconds"]` has the time by phase: "stage" (facts read
    and encoded), "check" (rules), "reason" (hypernodes), "compare" (what entered and left) and
    "publish". `stats["hypernodes"]` has for each hypernode that had work: the "strategy" that did it
    and "why" that one; how many facts of its tables were "inserted" and "deleted"; "seconds"; and the
    work in numbers of facts, "checked", "overdeleted", "rederived", "forward", "backward" and
    "iterations", defined in zodiac_sql.maintain.contract.Work. `notes` are remarks for people, such as
    graph names ignored, or facts that stay because rules derive them.
    """

    inserted: Mapping[str, int]
    deleted: Mapping[str, int]
    hypernodes: HypernodeChange
    stats: Mapping[str, Mapping[str, object]]
    seconds: float
    notes: tuple[str, ...] = ()
    _facts: Callable[[str, str], pa.Table] | None = field(default=None, repr=False, compare=False)

    def inserted_facts(self, predicate: str) -> pa.Table:
        """The facts of a predicate that entered its extension, symbols as text.

        They are kept until the next change begins; afterwards this raises QueryError.
        """
        assert self._facts is not None
        return self._facts("inserted", predicate)

    def deleted_facts(self, predicate: str) -> pa.Table:
        """The facts of a predicate that left its extension, as in `inserted_facts`."""
        assert self._facts is not None
        return self._facts("deleted", predicate)

    def __bool__(self) -> bool:
        """Whether anything entered or left an extension."""
        return bool(self.inserted or self.deleted)
