"""How a hypernode may be told to react to a change of its inputs."""

from __future__ import annotations

STRATEGIES = ("auto", "lookups", "support", "bf", "dred", "recompute")
"""How a hypernode may be told to react to a change of its inputs."""
