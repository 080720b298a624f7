"""Constraints on a cluster: what violates one is refused, by Spark as by the driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from generators.constraint_programs import constrained_program
from generators.drawn_programs import programs_with_changes
from generators.program_changes import Delete, Insert, State
from generators.programs import Program, program_text
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from support import budget
from support.agreement import make, numbered
from support.spark_data import as_frames, frame

from zodiac_sql.errors import ConstraintError, QueryError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]

RULES = """path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z).
  acyclic: !- path(X, X)."""


@pytest.mark.parametrize("driver_rows", [0, 1_000_000])
def test_what_violates_a_constraint_is_refused(spark: SparkSession, driver_rows: int) -> None:
    from zodiac_sql.spark import materialise

    line, back = frame(spark, [("a", "b"), ("b", "c")]), frame(spark, [("c", "a")])
    found = materialise(spark, RULES, {"edge": line}, driver_rows=driver_rows)
    assert list(found) == ["edge", "path"] and found.derived == ("path",)
    assert all(set(step.found) <= {"path"} for step in found.iterations)
    with pytest.raises(ConstraintError) as refused:
        materialise(spark, RULES, {"edge": line.unionAll(back)}, driver_rows=driver_rows)
    assert str(refused.value) == (
        "<rules>:2:3: acyclic is violated 3 times: !- path(X, X).\n"
        "    X = a\n    X = b\n    X = c\nNothing was changed."
    )


def test_a_version_that_violates_a_constraint_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    from zodiac_sql.spark import Materialisation

    line, back = frame(spark, [("a", "b"), ("b", "c")]), frame(spark, [("c", "a")])
    kept = Materialisation(spark, RULES, tmp_path)
    assert set(kept.update({"edge": line}).hypernodes) == {"path"}
    with pytest.raises(ConstraintError, match="acyclic is violated 3 times") as refused:
        kept.update({"edge": back})
    with pytest.raises(ConstraintError, match="short is violated once: !- path"):
        kept.update(rules=f"{RULES} short: !- path(X, Y), path(Y, Z).")
    assert kept.version == 2 and list(kept) == ["edge", "path"] and kept.derived == ("path",)
    changed = kept.update({"edge": back}, {"edge": frame(spark, [("a", "b")])})
    assert dict(changed.inserted) == dict(changed.deleted) == {"edge": 1, "path": 2}
    assert set(changed) == {"edge", "path"}
    kept.update({"edge": frame(spark, [("a", "b")])}, rules=RULES.partition("acyclic")[0])
    assert kept["path"].count() == 9
    with pytest.raises(ConstraintError, match="acyclic"):
        kept.update(rules=RULES)
    hidden = refused.value.violations[0].predicate
    with pytest.raises(QueryError, match="There are edge, path"):
        kept[hidden]


def told(error: ConstraintError) -> dict[str, int]:
    return {violation.constraint: violation.count for violation in error.violations}


@settings(max_examples=budget.either(ci=2, fuzz=6))
@given(
    case=programs_with_changes(constrained_program, min_changes=2, max_changes=4),
    driver_rows=st.sampled_from([0, 0, 1_000_000]),
)
def test_random_changes(
    open_kb: OpenKb, spark: SparkSession, case: tuple[Program, Any], driver_rows: int
) -> None:
    """A cluster refuses what the embedded engine refuses, and nothing else."""
    from zodiac_sql.spark import Materialisation

    program, changes = case
    assume(any(rule.never for rule in program.rules))
    note(f"% {driver_rows}\n{program}")
    state = State({rule.name: rule for rule in program.rules}, {})
    first = tuple(Insert(p, tuple(rows)) for p, rows in program.facts.items())
    with open_kb() as kb, TemporaryDirectory() as folder:
        text = program_text(program.rules, {}, program.style)
        try:
            kb.add_rules(text)
        except ConstraintError:
            with pytest.raises(ConstraintError):
                Materialisation(spark, text, folder, driver_rows=driver_rows)
            return
        kept = Materialisation(spark, text, folder, driver_rows=driver_rows)
        for number, wanted in enumerate([first, *changes], 1):
            change = state.possible(wanted)
            note(numbered(number, change))
            after = State(dict(state.rules), dict(state.facts))
            after.apply(change)
            rules = program_text(list(after.rules.values()), {}, program.style)
            given_ = as_frames(spark, change, Insert), as_frames(spark, change, Delete), rules
            budget.tried("changes of constraints on Spark")
            try:
                make(kb, change, program.style)
            except ConstraintError as ours:
                with pytest.raises(ConstraintError) as theirs:
                    kept.update(*given_)
                assert set(told(theirs.value)) <= set(told(ours))
                assert all(told(ours)[name] == n for name, n in told(theirs.value).items())
            else:
                kept.update(*given_)
                state = after
            for predicate in kept:
                found = [tuple(row) for row in kept[predicate].collect()]
                known = predicate in kb.predicates()["predicate"].to_pylist()
                mine = kb.table(predicate).fetchall() if known else []
                assert sorted(found) == sorted(row or (True,) for row in mine), predicate
