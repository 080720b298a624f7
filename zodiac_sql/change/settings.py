"""How a knowledge base computes changes, as `connect` was told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zodiac_sql.evaluate.cost.choose_trees import Decomposing


@dataclass(frozen=True, slots=True)
class Settings:
    """The strategy for recursive hypernodes, whether modules may be at work, and which cyclic rules
    are decomposed. `connect` tells what each of them means."""

    strategy: str = "auto"
    modules: bool = True
    hypertree: Decomposing = "auto"
