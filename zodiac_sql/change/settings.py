"""How a knowledge base computes changes: the settings given to `connect`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zodiac_sql.database.limits import Limiting

if TYPE_CHECKING:
    from zodiac_sql.cost.choose_trees import Decomposing


class Changing(Limiting, total=False):
    """How verbs may be told to make a change: its limits, and whether constraints refuse it."""

    check: bool


CHANGING = frozenset(Changing.__annotations__)
"""The names of these arguments."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The strategy for recursive hypernodes, whether modules may be at work, and which cyclic rules
    are decomposed. The docstring of `connect` explains each of them."""

    strategy: str = "auto"
    modules: bool = True
    hypertree: Decomposing = "auto"

    def require_known(self) -> None:
        """Raise ValueError for an unknown setting."""
        if self.strategy != "auto":
            from zodiac_sql.maintain.registry import STRATEGIES  # late: most need no other

            if self.strategy not in STRATEGIES:
                known = ", ".join(STRATEGIES)
                raise ValueError(f"strategy is one of {known}; not {self.strategy!r}")
        if self.hypertree not in ("auto", True, False):
            raise ValueError(f'hypertree is "auto", True or False; not {self.hypertree!r}')
