"""Asks a building three questions, and draws the rules that answer them.

    python explore.py [PICTURE]     where the drawing goes: hypergraph.svg if not given

The building is in building.ttl, what follows from it in building.rules. Nothing is kept: without a
file name, `connect` works in memory.
"""

from __future__ import annotations

import sys
from pathlib import Path

import zodiac_sql

HERE = Path(__file__).parent


def main(picture: Path) -> None:
    with zodiac_sql.connect() as kb:
        kb.add_rules(HERE / "building.rules")
        kb.load(HERE / "building.ttl")

        print("Which rooms have no air if unit AHU1 fails?")
        print(kb.query("cutOff(Room, ex:AHU1), rdfs:label(Room, Name)"))

        print("\nWhich sensors does nothing record, and where are they?")
        print(kb.query("unrecorded(Sensor), within(Sensor, Room), rdfs:label(Room, Name)"))

        print("\nHow many sensors has each floor? (in SQL; every predicate is a view)")
        print(kb.sql("FROM sensorsPerFloor ORDER BY sensors DESC"))

        kb.graph().save(picture)
        print(f"\nThe rules and how they depend on each other: {picture}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("usage: python explore.py [PICTURE]")
    main(Path(sys.argv[1] if len(sys.argv) == 2 else "hypergraph.svg"))
