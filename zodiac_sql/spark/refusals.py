"""Finds rules that a cluster would not compute as DuckDB does, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from zodiac_sql.errors import SparkError
from zodiac_sql.language.binding import arrange, expressions_of, used_functions
from zodiac_sql.language.functions import AGGREGATES, BUILTINS
from zodiac_sql.language.mixed import reads_values
from zodiac_sql.language.syntax import Aggregate, Call, Expression, Literal, Rule, Type
from zodiac_sql.language.types import body_types, expression_type
from zodiac_sql.spark.left_to_duckdb import computed, leaves
from zodiac_sql.spark.planning import PlannedRules, Text, parsed
from zodiac_sql.spark.workers import have

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Types = Mapping[str, Type | None]


def require_runnable(planned: PlannedRules, spark: SparkSession) -> None:
    """Raise SparkError naming each rule that would not be computed as DuckDB does, in a session."""
    rules = tuple(planned.graph.rules())
    refused = []
    if spark.conf.get("spark.sql.ansi.enabled") != "true":
        refused += [
            f"rule {rule.name} computes with integers, which overflow silently in this session: "
            "set spark.sql.ansi.enabled to true, as it is by default."
            for rule in rules
            if _computes_integers(rule, planned)
        ]
    if (left := left_to_duckdb(planned)) and not have(spark, computed.__module__):
        refused += [
            f"rule {rule.name} computes what Spark would compute otherwise ({', '.join(what)}). "
            "DuckDB does so in Spark's Python workers, if these have zodiac_sql."
            for rule, what in left
        ]
    if refused:
        raise SparkError("\n".join(refused))


def require_builtins(texts: Iterable[Text]) -> None:
    """Raise SparkError naming each rule that uses a function which is not built in."""
    refused = [
        f"{rule.span}: {name} is not built in, and functions from Python do not run on a cluster: "
        "reason with fleet(), whose workers have them, or compute it into facts beforehand."
        for program in parsed(texts)[0]
        for rule in program.rules
        for name in sorted(used_functions([rule]) - BUILTINS.keys() - AGGREGATES.keys())
    ]
    if refused:
        raise SparkError("\n".join(refused))


def left_to_duckdb(planned: PlannedRules) -> list[tuple[Rule, list[str]]]:
    """The rules that leave something to DuckDB, each with what that is."""
    columns, found = _columns(planned), []
    for rule in planned.graph.rules():
        what = dict.fromkeys(
            call.function
            for call, types in _calls(rule.body, columns)
            if leaves(
                call.function,
                [expression_type(a, types, {}) for a in call.arguments],
                expression_type(call, types, {}),
            )
        )
        if reads_values(rule, columns, {}):
            what["values of terms"] = None
        if what:
            found.append((rule, [*what]))
    return found


def _columns(planned: PlannedRules) -> Mapping[str, Sequence[Type | None]]:
    return {name: [c.meant for c in p.columns] for name, p in planned.schema.items()}


def _computes_integers(rule: Rule, planned: PlannedRules) -> bool:
    """Whether integers are added, subtracted or multiplied."""
    if any(isinstance(one, Aggregate) and one.function == "sum" for one in rule.body):
        return True
    return any(
        call.function in ("+", "-", "*") and expression_type(call, types, {}) is Type.INT
        for call, types in _calls(rule.body, _columns(planned))
    )


def _calls(
    body: tuple[Literal, ...], columns: Mapping[str, Sequence[Type | None]]
) -> Iterator[tuple[Call, Types]]:
    """Each call in a body, with the types of the variables around it."""
    arranged = arrange(body)
    types = body_types(body, columns, {}).types
    expressions = [step.expression for step in arranged.steps]
    expressions += [e for comparison in arranged.filters for e in expressions_of(comparison)]
    for expression in expressions:
        yield from ((call, types) for call in _nested(expression))
    for literal in body:
        if isinstance(literal, Aggregate):
            yield from _calls(literal.body, columns)


def _nested(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
        for argument in expression.arguments:
            yield from _nested(argument)
