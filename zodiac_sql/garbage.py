"""Pausing Python's search for garbage where many objects are made that stay.

Python looks through all objects whenever their number has grown by a quarter. Where an ontology of
thousands of axioms is translated, or a program of thousands of rules is planned, nearly all new
objects stay, so each look finds nothing: it took a third of the time. In a proof of hundreds of
facts, one look takes as long as all else.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Do not look for garbage inside the block, unless nobody does anyway."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
