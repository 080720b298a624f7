"""From raw readings of 200 turbines to anomalies, with Spark; then one turbine's own file.

pip install 'zodiac-sql[spark]'          Java 17 or later is needed, too
python demo.py [DIRECTORY]               where raw data and the database go: ./fleet-data
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import generate

import zodiac_sql
from zodiac_sql.spark import (
    fleet,
    from_spark,
    local_session,
    prepare_facts,
    read_mappings,
    try_rules,
)

HERE = Path(__file__).parent
RULES = HERE / "turbine.rules"
STRICTER = "hot: hot(S, T, C) :- reading(S, T, C), usual(S, M), C - M > 26, not maintenance(T)."


def main(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    generate.write(directory / "raw")
    shutil.copy(HERE / "facts.toml", directory)
    spark = local_session("wind fleet")

    # The pipeline: raw files -> typed, distinct facts by predicate. What is broken is told, and
    # why.
    prepared = prepare_facts(spark, read_mappings(directory / "facts.toml"))
    print(f"facts: {prepared.loaded}, bad rows: {prepared.bad}")
    prepared.quarantine.select("reason", "row").orderBy("row").show(truncate=False)

    # The fleet: the same rules on each turbine's own facts, in Spark's workers.
    anomalies = fleet(prepared.facts, RULES, by="turbine", derive="anomaly")
    anomalies.orderBy("turbine").show()

    # A change of rules, tried on the whole fleet before it is sent out.
    trial = try_rules(prepared.facts, RULES, by="turbine", drop=["hot"], add=STRICTER)
    trial.groupBy("change", "predicate").count().orderBy("change", "predicate").show()

    # One turbine's file gets its facts over Arrow, and keeps all consequences up to date.
    with zodiac_sql.connect(directory / "wt042.duckdb") as kb:
        kb.add_rules(RULES)
        for predicate, facts in prepared.facts.items():
            from_spark(kb, facts.where("turbine = 'wt042'").drop("turbine"), predicate)
        print(kb.sql("SELECT * FROM anomaly"))
        print(kb.sql("SELECT * FROM lookAt"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "fleet-data"))
