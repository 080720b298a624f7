"""Spark: the data pipeline, the hand-off, the fleet, and rules on a cluster.

    from_spark, to_spark, change_to_spark      facts, extensions and changes over Arrow (handoff.py)
    FactMapping, read_mappings, run_pipeline   raw files -> facts, as one change (pipeline.py)
    into                                       a stream's micro-batches as changes (streaming.py)
    changes, changes_source, apply_changes     the change feed, read and applied (changes.py)
    fleet, try_rules, collect_rules            the same rules on each of many devices (fleet.py)
    materialise                                rules over data frames of any size (cluster.py)
    Materialisation                            the same, kept in versions, as facts and rules change
                                               (materialisation.py)

require.py       requirements: packages, Java, a session; Spark's errors explained
types.py         columns of data frames as columns of facts
mapping.py       which rows of a source are facts of which predicate
sources.py       files as rows, with the faults of their lines
device_facts.py  the facts of each device of a fleet
devices.py       the work on one device, in a Python worker of Spark
together.py      the same on many devices at once
answers.py       the answers of devices, as rows with the device
planning.py      rules checked over data frames
evaluated_program.py  the hypernodes that a cluster evaluates
parts.py         predicates in parts, where rules are stratified by constants only
refusals.py      rules that a cluster would not compute as DuckDB does
left_to_duckdb.py  expressions that DuckDB computes, in Spark's workers
dialect.py       SQL in Spark's dialect
frames.py        data frames under names that SQL can use; computing and counting them
explicit.py      explicit facts as rules read them
from_scratch.py  which of the next three ways a hypernode is evaluated
semi_naive.py    the fixpoint of rules on Spark
improve.py       the same where the best value of each group is kept (MIN or MAX in heads)
apart.py         the same by the workers, each for some values of a column that the rules keep
pivots.py        which rules keep a column
workers.py       Spark's Python workers: how many, with how much memory, with which packages
here.py          rules applied on the driver, by the embedded engine
versions.py      the directory of a materialisation: manifests, and the files that they name
tables.py        its tables, read and written by Spark or by the driver
delta.py         tables of Delta Lake that show its extensions
updating.py      one update: from a version to the next
maintenance.py   how a hypernode follows a change, on Spark: which of the next ways, or from scratch
ledger.py        what an update has changed so far, and what is still to be done
dred.py          delete and rederive, and semi-naive insertion
by_pivots.py     recursion that the workers compute apart

Needs the extra: pip install 'zodiac-sql[spark]', and Java 17 or later. Nothing else in zodiac_sql
imports it. A session that is given is used as it is, never reconfigured or stopped.
"""

from __future__ import annotations

from zodiac_sql.spark.require import local_session, require_packages

require_packages()  # before anything below imports pyspark

from zodiac_sql.spark.changes import apply_changes, changes, changes_source
from zodiac_sql.spark.cluster import Iteration, Materialised, materialise
from zodiac_sql.spark.fleet import collect_rules, fleet, try_rules
from zodiac_sql.spark.handoff import (
    ChangedFrames,
    change_to_spark,
    from_spark,
    to_spark,
)
from zodiac_sql.spark.mapping import FactMapping, Field, read_mappings
from zodiac_sql.spark.materialisation import Changed, Materialisation
from zodiac_sql.spark.pipeline import (
    PipelineReport,
    PreparedFacts,
    prepare_facts,
    run_pipeline,
)
from zodiac_sql.spark.streaming import into

__all__ = [
    "Changed",
    "ChangedFrames",
    "FactMapping",
    "Field",
    "Iteration",
    "Materialisation",
    "Materialised",
    "PipelineReport",
    "PreparedFacts",
    "apply_changes",
    "change_to_spark",
    "changes",
    "changes_source",
    "collect_rules",
    "fleet",
    "from_spark",
    "into",
    "local_session",
    "materialise",
    "prepare_facts",
    "read_mappings",
    "run_pipeline",
    "to_spark",
    "try_rules",
]
