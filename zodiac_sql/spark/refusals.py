"""Finds rules that Spark would compute differently from DuckDB, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from zodiac_sql.errors import SparkError
from zodiac_sql.language.binding import arrange, expressions_of, used_functions
from zodiac_sql.language.functions import AGGREGATES, BUILTINS
from zodiac_sql.language.mixed import reads_values
from zodiac_sql.language.syntax import Aggregate, Call, Expression, Literal, Rule, Type
from zodiac_sql.language.types import body_types, expression_type
from zodiac_sql.spark.planning import PlannedRules, Text, parsed

Types = Mapping[str, Type | None]


def require_runnable(planned: PlannedRules, checked: bool) -> None:
    """Raise SparkError naming each rule that Spark would not compute as DuckDB does.

    `checked` tells whether integer overflow is an error in the session, as in DuckDB.
    """
    rules = tuple(planned.graph.rules())
    refused = [reason for rule in rules for reason in _reasons(rule, planned)]
    if not checked:
        refused += [
            f"rule {rule.name} computes with integers, which overflow silently in this session: "
            "set spark.sql.ansi.enabled to true, as it is by default."
            for rule in rules
            if _computes_integers(rule, planned)
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


def _reasons(rule: Rule, planned: PlannedRules) -> Iterator[str]:
    if any(_spells_floats(call, types) for call, types in _calls(rule.body, _columns(planned))):
        yield (
            f"rule {rule.name} makes text of a float or decimal, which Spark writes otherwise "
            "(1.0E10): make it an integer first, as in concat(round(X * 100), ...), or leave it "
            "out."
        )
    if reads_values(rule, _columns(planned), {}):
        yield (
            f"rule {rule.name} reads the values of a column of the type any, which are only texts "
            "on a cluster: reason with fleet(), declare the column with one type, or compute it "
            "into facts beforehand."
        )

    if any(_computes_decimals(call, types) for call, types in _calls(rule.body, _columns(planned))):
        yield (
            f"rule {rule.name} computes with decimals, which Spark rounds where they are long: "
            "reason with fleet(), or compute with floats, as in float(X) * Y."
        )
    called = {call.function for call, _ in _calls(rule.body, _columns(planned))}
    for why, functions in _OTHERWISE.items():
        if other := sorted(called & functions):
            yield (
                f"rule {rule.name} uses {', '.join(other)}: {why}. Reason with fleet(), or compute "
                "it into facts beforehand."
            )


_OTHERWISE = {
    "patterns of Spark are Java's, which mean something else": {
        "matches", "regex_replace", "regex_extract",
    },
    "Spark has no such function of dates and times, or one that differs": {
        "add_days", "add_seconds", "days_between", "seconds_between", "epoch",
        "date", "time_bucket", "format_time",
    },
}  # fmt: skip


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


def _spells_floats(call: Call, types: Types) -> bool:
    return call.function in ("concat", "text") and any(
        expression_type(argument, types, {}) in (Type.DECIMAL, Type.FLOAT)
        for argument in call.arguments
    )


def _computes_decimals(call: Call, types: Types) -> bool:
    """Whether a call makes a decimal of others, and does not choose one, or cuts one off."""
    if call.function == "int":
        return expression_type(call.arguments[0], types, {}) is Type.DECIMAL
    chooses = call.function in ("if", "least", "greatest", "abs")
    return expression_type(call, types, {}) is Type.DECIMAL and not chooses


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
