"""Who owns a table: the explicit facts, a hypernode, or nobody any more."""

from __future__ import annotations

from dataclasses import dataclass

EXPLICIT = 0
"""The owner of explicit facts. Hypernodes own what they derive, and none has the number 0."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """The owner of a table whose hypernode is dropped, or gives the table to no other.

    Such a table is lost as a whole. Its rows are read only if somebody asks which of its facts no
    other table holds. It is dropped, or set aside, when the change is published.
    """

    hypernode: int


Owner = int | Discarded
"""EXPLICIT, the number of a hypernode, or what a hypernode has left behind."""
