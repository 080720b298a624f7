"""Shortest ways, the heaviest lorry and the earliest arrival: recursion through MIN and MAX.

python examples/roads/explore.py
"""

from pathlib import Path

import zodiac_sql

with zodiac_sql.connect() as kb:
    kb.add_rules(Path(__file__).with_name("roads.rules"))
    print(kb.query("far(alba, Town, Km)"))
    print(kb.table("lorry"))
    print(kb.table("there"))
    print(kb.why("far(alba, davo, 35)"))

    print("The road from brig to chur is closed:")
    change = kb.delete("road", [("brig", "chur", 9)])
    print(change.inserted_facts("far").to_pylist())
    print(change.why("far(alba, chur, 30)"))
