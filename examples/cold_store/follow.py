"""Constraints refuse what must never be; the change feed tells others what has come and gone.

python examples/cold_store/follow.py
"""

from pathlib import Path

import zodiac_sql

with zodiac_sql.connect() as kb:
    kb.add_rules(Path(__file__).with_name("store.rules"))
    kb.keep_feed(["keeps", "spoils"], count=1_000)
    kb.insert("reading", [("fridge", 4.5), ("freezer", -18.0), ("cupboard", 21.0)])

    print("Insulin cannot be put into the freezer, nor aspirin anywhere, as nobody knows it:")
    for medicine, shelf in (("insulin", "freezer"), ("aspirin", "cupboard")):
        try:
            kb.insert("keeps", [(shelf, medicine)])
        except zodiac_sql.ConstraintError as error:
            print(error)

    print("\nA reading is as it is, so it passes; what it spoils is told:")
    change = kb.replace(
        "reading", [("fridge", 11.0), ("freezer", -18.0), ("cupboard", 21.0)], check=False
    )
    print(change.violations[0])
    print(kb.why("spoils(insulin, fridge)"))

    print("\nInsulin that was not spoilt yet moves to a new shelf:")
    with kb.update() as update:
        update.delete("keeps", [("fridge", "insulin")])
        update.insert("reading", [("door", 6.0)])
        update.insert("keeps", [("door", "insulin")])
    print(kb.violations().num_rows, "violations are left")

    print("\nWho follows the store asks for what is new since the last time:")
    changes = kb.changes(since=0)
    for predicate in ("keeps", "spoils"):
        for row in changes.table(predicate).drop_columns("_time").to_pylist():
            print(predicate, row)
    print("next time: since", changes.position)
