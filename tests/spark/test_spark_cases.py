"""Cases of tests/cases evaluated by Spark: as the embedded engine has it.

The rules and the explicit facts that the file holds at the end go to `materialise`; all extensions
must be equal. Refused cases have nothing to evaluate. Spark starts from scratch here, and knows no
modules: of cases about changes, only constraints and some of mixed columns run, of those without
values to compute, each topic's first one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from support.cases import DIRECTORIES, Session, _run, named

from zodiac_sql.language.syntax import Type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zodiac_sql import KnowledgeBase

OpenKb = Callable[..., "KnowledgeBase"]
Rows = list[tuple[object, ...]]

ACCEPTED = [case for case in DIRECTORIES if not (case / "expected_error.txt").exists()]


COMPUTING = ("aggregates", "any", "bind", "comparison", "numbers", "terms")
"""Topics in which Spark computes values in ways of its own, or leaves them to DuckDB."""

MIXED = (
    "aggregates", "best_terms", "best_terms_passed_on", "conditions", "order_of_values",
    "sums_at_the_limit",
)  # fmt: skip
"""Cases of columns of terms of all kinds."""


def _chosen(cases: list[Path]) -> list[Path]:
    """All cases but those of which others like them are enough."""
    seen = Counter({"modules": 1})
    chosen = []
    for case in cases:
        topic = case.parent.name
        if named(case) == "negation/by_constants":
            chosen.append(case)
            continue
        if (case / "steps.txt").exists() and topic not in ("any", "constraints"):
            continue
        if topic == "any" and case.name not in MIXED:
            continue  # random programs: test_spark_mixed_programs.py
        seen[topic] += 1
        if seen[topic] == 1 or topic in COMPUTING:
            chosen.append(case)
    return chosen


@pytest.fixture(scope="module")
def quick(spark: SparkSession) -> SparkSession:
    """A session for small data: one partition, and no plans that adapt to what comes."""
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    session.conf.set("spark.sql.adaptive.enabled", "false")
    return session


@pytest.mark.parametrize("case", _chosen(ACCEPTED), ids=named)
def test_case_on_spark(case: Path, open_kb: OpenKb, quick: SparkSession) -> None:
    from zodiac_sql.errors import ConstraintError
    from zodiac_sql.spark import materialise

    session = Session(open_kb)
    _run(case, session)
    kb = session.kb
    facts = {name: quick.createDataFrame(explicit(kb, name)) for name in with_explicit_facts(kb)}
    if kb.violations().num_rows:
        with pytest.raises(ConstraintError, match="is violated"):
            materialise(quick, rules_of(kb), facts)
        return
    found = materialise(quick, rules_of(kb), facts, driver_rows=0)
    for name in predicates_of(kb):
        if name in facts and name not in found.derived:
            continue  # Spark has nothing to compute
        ours = list(map(tuple, found[name].collect())) if name in found else []
        assert normal(ours) == normal(kb.table(name).fetchall()), name
    kb.close()


def rules_of(kb: KnowledgeBase) -> list[str]:
    """The rules of a knowledge base, each as a text that stands alone, and the types of columns
    that can hold what others hold, too.
    """
    declared = [
        f".decl {p.sql_name}({', '.join(f'{c.name}: {c.meant}' for c in p.columns)})"
        for p in kb._session.state.schema.values()
        if any(c.mixed or c.type in (Type.DECIMAL, Type.FLOAT) for c in p.columns)
    ]
    return declared + [
        "".join(f"@prefix {p}: <{iri}> . " for p, iri in rule.prefixes)
        + f"{rule.name}: {rule.text}"
        for rule in kb._session.state.rules
    ]


def predicates_of(kb: KnowledgeBase) -> list[str]:
    return [name for (name, *_) in kb.predicates().fetchall()]


def with_explicit_facts(kb: KnowledgeBase) -> list[str]:
    state = kb._session.state
    return [n for n, p in state.schema.items() if state.rows.get(("edb", p.sql_name))]


def explicit(kb: KnowledgeBase, name: str) -> pa.Table:
    """The explicit facts of a predicate, symbols as text."""
    from zodiac_sql.sql.relations import Part, Relation, relation_query
    from zodiac_sql.storage.extensions import decoded

    predicate = kb._session.state.schema[name]
    relation = Relation(predicate.columns, (Part("edb", predicate.sql_name, 1),))
    return kb._session.store.arrow(decoded(relation, relation_query(relation), "zodiac.symbol"))


def normal(rows: Rows) -> list[list[str]]:
    return sorted([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> str:
    if isinstance(value, float) and not math.isnan(value):
        return f"{value:.12g}"
    return f"{type(value).__name__} {value}"
