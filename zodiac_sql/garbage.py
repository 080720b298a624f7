"""Less of Python's search for garbage, where objects stay.

Python looks through all objects whenever their number has grown by a quarter. Where an ontology of
thousands of axioms is translated, or a program of thousands of rules is planned, nearly all new
objects stay, so each look finds nothing: it took a third of the time. In a proof of hundreds of
facts, one look takes as long as all else. While a server answers, one look lets everybody wait for
90 ms.
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


def set_aside() -> bool:
    """Leave out the objects that there are whenever Python looks for garbage, until `take_back`.

    They are the modules and their tables, mostly, which stay anyway. Returns whether it was done:
    if others have set objects aside, that is theirs.
    """
    if gc.get_freeze_count():
        return False
    gc.collect()
    gc.freeze()
    return True


def take_back() -> None:
    """Look through all objects again."""
    gc.unfreeze()
