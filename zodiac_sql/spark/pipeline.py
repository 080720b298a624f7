"""From raw files to facts: runs mappings on Spark, and applies their facts as one change.

    files -> rows (sources.py) -> filter, expressions, types -> good rows, distinct -> kb.update
                                                             -> bad rows, with reasons -> quarantine

All steps are Spark expressions. A row is bad if its line cannot be read, if a column of the fact is
empty, or if a value is not of the declared type. Types are checked without loss:

    symbol     any value, as text
    int        '12', and numbers without a fraction
    float      '1.5', '1e3', 'NaN', 'Infinity', and numbers
    bool       'true' t yes y 1, 'false' f no n 0, and the numbers 1 and 0
    date       '2024-02-29', and moments at midnight
    timestamp  '2024-02-29', '2024-02-29 12:00', with T or with a zone (then in UTC), and dates
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from zodiac_sql.errors import DataError, SparkError
from zodiac_sql.facts.load.cells import POINTED, Marks
from zodiac_sql.facts.load.options import Options
from zodiac_sql.facts.spark_frames import said
from zodiac_sql.language.syntax import Type
from zodiac_sql.spark.mapping import FactMapping, Field
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.sources import FAULT, Rows, rows_of
from zodiac_sql.spark.text_lines import FILE
from zodiac_sql.spark.types import SPARK_TYPES, in_utc, type_of
from zodiac_sql.sql.decimals import WRITTEN

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import SparkSession

    from zodiac_sql.change.change import Change
    from zodiac_sql.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True)
class PreparedFacts:
    """The facts of mappings. Spark's executors keep them as long as the data frames are in use.

    `facts` has the facts of each predicate, typed, each once. `quarantine` has the bad rows:
    `predicate`, `file` (a URI; NULL if the source is a data frame), `reason` (all faults of the
    row, joined by "; ") and `row` (the line, or the columns as JSON), all text. The other fields
    are counts by predicate: `read` counts rows that pass the filter or cannot be read, `loaded`
    distinct facts, `bad` bad rows, and `reasons` the rows with each fault.
    """

    facts: Mapping[str, DataFrame]
    quarantine: DataFrame
    read: Mapping[str, int]
    loaded: Mapping[str, int]
    bad: Mapping[str, int]
    reasons: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class PipelineReport:
    """The result of a run: the change of the knowledge base, and counts as in `PreparedFacts`.

    `quarantine` has the bad rows of this run, as in `PreparedFacts`, and the time of the run:
    `run`, a timestamp_ntz in UTC.
    """

    change: Change
    read: Mapping[str, int]
    loaded: Mapping[str, int]
    bad: Mapping[str, int]
    reasons: Mapping[str, Mapping[str, int]]
    quarantine: DataFrame


def run_pipeline(
    kb: KnowledgeBase,
    spark: SparkSession,
    mappings: Iterable[FactMapping],
    *,
    quarantine: str | Path | None = None,
) -> PipelineReport:
    """Make the facts of mappings the only explicit facts of their predicates, as one atomic change.

    Only the difference from the present facts is inserted and deleted. Mappings for the same
    predicate are united. Bad rows are left out and counted, and with `quarantine` appended to the
    Parquet table in this directory or URI. A predicate loses its facts if all of its rows are bad:
    see the report. Raises DataError if a mapping does not fit its source or the predicate,
    SparkError if Spark fails; then nothing has changed.
    """
    prepared = prepare_facts(spark, mappings)
    time = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    bad = prepared.quarantine.withColumn("run", F.lit(time.isoformat()).cast("timestamp_ntz"))
    with kb.update() as update:
        for predicate, facts in prepared.facts.items():
            update.replace(predicate, facts)
        if quarantine is not None:
            with explained():
                bad.write.mode("append").parquet(str(quarantine))
    return PipelineReport(
        update.change, prepared.read, prepared.loaded, prepared.bad, prepared.reasons, bad
    )


def prepare_facts(spark: SparkSession, mappings: Iterable[FactMapping]) -> PreparedFacts:
    """The facts of mappings, by predicate, and the bad rows.

    Errors in mappings themselves are raised before anything runs. Raises DataError for a source, an
    expression or a type that does not fit; SparkError if Spark fails, for instance in an
    expression: use try_cast, try_divide and the like, which give NULL instead and so a bad row.
    """
    mappings = tuple(mappings)
    if not mappings:
        raise DataError("there is no mapping: give those of the facts that are to be made.")
    _require_agreement(mappings)
    rows = _rows(spark, mappings)
    stages = [_Stage(mapping, _staged(mapping, rows[_source(mapping)])) for mapping in mappings]
    with ExitStack() as held:
        for shared in _shared(mappings, rows):
            _hold(held, shared)
        for stage in stages:
            _hold(held, stage.frame)
        return _outcome(stages)


@dataclass(frozen=True, slots=True)
class _Stage:
    """A mapping and its rows: a column for each field by its place, FILE, FAULTS and ROW."""

    mapping: FactMapping
    frame: DataFrame

    def facts(self) -> DataFrame:
        named = [F.col(_value(n)).alias(field.name) for n, field in enumerate(self.mapping.columns)]
        return self.frame.where(F.col(_FAULTS).isNull()).select(*named)

    def bad(self) -> DataFrame:
        return self.frame.where(F.col(_FAULTS).isNotNull()).select(
            F.lit(self.mapping.predicate).alias("predicate"),
            F.col(FILE).alias("file"),
            F.array_join(F.col(_FAULTS).getField("said"), "; ").alias("reason"),
            F.col(_ROW).alias("row"),
        )


_FAULTS, _ROW = "zodiac$faults", "zodiac$row"


def _raw(n: int) -> str:
    return f"zodiac$raw{n}"


def _value(n: int) -> str:
    return f"zodiac$value{n}"


def _require_agreement(mappings: Sequence[FactMapping]) -> None:
    """Raise DataError unless mappings for a predicate have the same columns, in any order."""
    first: dict[str, FactMapping] = {}
    for mapping in mappings:
        other = first.setdefault(mapping.predicate, mapping)
        if _types(mapping) != _types(other):
            raise DataError(
                f"{mapping.predicate}: its mappings give different columns, "
                f"{_listed(other)} from {other.shown} and {_listed(mapping)} from {mapping.shown}. "
                "Let them agree in names and types."
            )


def _types(mapping: FactMapping) -> dict[str, Type]:
    return {field.name: field.type for field in mapping.columns}


def _listed(mapping: FactMapping) -> str:
    return f"({', '.join(f'{field.name}: {field.type}' for field in mapping.columns)})"


# --- running ------------------------------------------------------------------------------------

_Source = tuple[object, ...]


def _source(mapping: FactMapping) -> _Source:
    """A key that is equal for mappings that read the same rows."""
    if not mapping.paths:
        return (id(mapping.source),)
    return (mapping.paths, mapping.read_as, *sorted(mapping.options.items()))


def _rows(spark: SparkSession, mappings: Sequence[FactMapping]) -> dict[_Source, tuple[Rows, ...]]:
    rows: dict[_Source, tuple[Rows, ...]] = {}
    for mapping in mappings:
        if _source(mapping) not in rows:
            rows[_source(mapping)] = rows_of(spark, mapping)
    return rows


def _shared(
    mappings: Sequence[FactMapping], rows: Mapping[_Source, tuple[Rows, ...]]
) -> Iterator[DataFrame]:
    """The rows of text that several mappings read: they should be parsed only once."""
    sources = [_source(m) for m in mappings if m.paths and m.read_as != "parquet"]
    for source in dict.fromkeys(sources):
        if sources.count(source) > 1:
            yield from (one.frame for one in rows[source])


def _hold(held: ExitStack, frame: DataFrame) -> None:
    frame.persist()
    held.callback(frame.unpersist)


def _outcome(stages: Sequence[_Stage]) -> PreparedFacts:
    read: dict[str, int] = defaultdict(int)
    bad: dict[str, int] = defaultdict(int)
    reasons: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    frames: dict[str, list[DataFrame]] = defaultdict(list)
    for stage in stages:
        predicate = stage.mapping.predicate
        with _naming(stage.mapping):
            counts = stage.frame.agg(F.count("*"), F.count(_FAULTS)).collect()[0]
            read[predicate] += counts[0]
            bad[predicate] += counts[1]
            for kind, count in _kinds(stage.frame) if counts[1] else ():
                reasons[predicate][kind] += count
        frames[predicate].append(stage.facts())
    with explained():
        facts = {
            predicate: reduce(DataFrame.unionByName, several).distinct().localCheckpoint()
            for predicate, several in frames.items()
        }
        loaded = {predicate: frame.count() for predicate, frame in facts.items()}
        quarantine = reduce(DataFrame.union, (stage.bad() for stage in stages)).localCheckpoint()
    told = {predicate: dict(found) for predicate, found in reasons.items()}
    return PreparedFacts(facts, quarantine, dict(read), loaded, dict(bad), told)


def _kinds(frame: DataFrame) -> list[tuple[str, int]]:
    """How many rows have each kind of fault."""
    faults = frame.select(F.explode(_FAULTS).alias("fault")).groupBy("fault.kind").count()
    return [(kind, count) for kind, count in faults.orderBy("kind").collect()]


@contextmanager
def _naming(mapping: FactMapping) -> Iterator[None]:
    """Name the mapping in errors that Spark raises inside."""
    try:
        with explained():
            yield
    except SparkError as error:
        hint = " The row goes to quarantine then." if "`try_" in str(error) else ""
        raise SparkError(
            f"{mapping.predicate}, from {mapping.shown}: {str(error).rstrip('. ')}.{hint}"
        ) from error


# --- rows -> values and faults ------------------------------------------------------------------


def _staged(mapping: FactMapping, rows: Sequence[Rows]) -> DataFrame:
    """The rows that a mapping selects, with values or faults. Raises DataError."""
    return reduce(DataFrame.union, (_staged_alike(mapping, one) for one in rows))


def _staged_alike(mapping: FactMapping, rows: Rows) -> DataFrame:
    frame = rows.frame
    if mapping.where is not None:
        with _fitting(mapping, rows, "the filter", mapping.where):
            frame.where(mapping.where)  # raises an error by itself if it is not a condition
            frame = frame.where(F.col(FAULT).isNotNull() | F.expr(mapping.where))
    for n, field in enumerate(mapping.columns):
        with _fitting(mapping, rows, f"column {field.name}", field.sql):
            frame = frame.withColumn(_raw(n), F.expr(field.sql))
    values = {_value(n): _typed(mapping, rows, frame, n) for n in range(len(mapping.columns))}
    frame = frame.withColumns(values).withColumn(_FAULTS, _faults(mapping.columns))
    row = F.when(F.col(_FAULTS).isNotNull(), rows.shown).alias(_ROW)
    return frame.select(*values, FILE, _FAULTS, row)


@contextmanager
def _fitting(mapping: FactMapping, rows: Rows, what: str, expression: str) -> Iterator[None]:
    try:
        yield
    except AnalysisException as error:
        reason = said(str(error)).partition(" Did you mean")[0]  # it would propose our own columns
        raise DataError(
            f"{mapping.predicate}: {what}, {expression}, does not fit {mapping.shown}: {reason} "
            f"The columns there are: {', '.join(rows.columns) or 'none'}."
        ) from None


def _typed(mapping: FactMapping, rows: Rows, frame: DataFrame, n: int) -> SparkColumn:
    """A value of the declared type; NULL if there is none. Raises DataError for other types."""
    field = mapping.columns[n]
    found = T.StructField(field.name, frame.schema[_raw(n)].dataType)
    type_of(mapping.predicate, found)
    raw = F.col(_raw(n))
    if field.expression is None and field.type.numeric and mapping.options:
        raw = _with_usual_marks(raw, mapping.reading)
    value = _converted(raw, found.dataType, field.type)
    with _fitting(mapping, rows, f"column {field.name} as {field.type}", field.sql):
        frame.select(value)
    return value


def _with_usual_marks(text: SparkColumn, options: Options) -> SparkColumn:
    """A number as it is written with a point and no other mark; NULL for one by other marks."""
    marks = Marks(options.decimal, options.thousands)
    plain = F.replace(text, F.lit(marks.thousands), F.lit("")) if marks.thousands else text
    usual = F.when(
        text.rlike(rf"^\s*{marks.number}\s*$"), F.replace(plain, F.lit(marks.decimal), F.lit("."))
    )
    if marks.decimal != ".":
        usual = usual.when(text.rlike(rf"^\s*{POINTED}\s*$"), F.lit(None))
    return usual.otherwise(text)


def _converted(raw: SparkColumn, given: T.DataType, type_: Type) -> SparkColumn:
    if isinstance(given, T.TimestampType):
        raw, given = in_utc(raw), T.TimestampNTZType()
    if isinstance(given, (T.StringType, T.CharType, T.VarcharType)):
        return _from_text(raw, type_)
    value = raw.try_cast(SPARK_TYPES[type_])
    if type_ in (Type.INT, Type.DECIMAL, Type.BOOL, Type.DATE):
        value = F.when(value.try_cast(given) == raw, value)
    return value


_FLOAT = r"(?i)^\s*[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|infinity|nan)\s*$"
_DATE = r"^\s*[+-]?\d{4,}-\d{1,2}-\d{1,2}"
_ZONED = _DATE + r"[T ][0-9:. ]*[^0-9:. ]"


def _from_text(text: SparkColumn, type_: Type) -> SparkColumn:
    """A value out of a text. Spark itself takes '12d' for a float and '2024' for a date."""
    value = text.try_cast(SPARK_TYPES[type_])
    match type_:
        case Type.DECIMAL:
            return F.when(text.rlike(rf"^\s*{WRITTEN}\s*$"), value)
        case Type.FLOAT:
            return F.when(text.rlike(_FLOAT), value)
        case Type.DATE:
            return F.when(text.rlike(_DATE + r"\s*$"), value)
        case Type.TIMESTAMP:
            # TIMESTAMP_NTZ alone would ignore a zone in the text.
            zoned = in_utc(text.try_cast(T.TimestampType()))
            return F.when(text.rlike(_ZONED), zoned).when(text.rlike(_DATE), value)
        case _:
            return value


_CHARACTERS_SHOWN = 80
"""How many characters of a value of a wrong type are reported."""


def _faults(fields: Sequence[Field]) -> SparkColumn:
    """All faults of a row, each with a kind that does not depend on the value; NULL without any."""
    of_line = F.array(_fault(F.col(FAULT), F.col(FAULT)))
    of_fields = F.array_compact(F.array(*(_field_fault(n, f) for n, f in enumerate(fields))))
    return F.when(F.col(FAULT).isNotNull(), of_line).when(F.size(of_fields) > 0, of_fields)


def _field_fault(n: int, field: Field) -> SparkColumn:
    raw, value = F.col(_raw(n)), F.col(_value(n))
    article = "an" if field.type is Type.INT else "a"
    empty = F.lit(f"{field.name} is empty (NULL)")
    kind = F.lit(f"{field.name} is not {article} {field.type}")
    shown = F.substring(raw.cast("string"), 1, _CHARACTERS_SHOWN)
    told = F.concat(F.lit(f"{field.name}: '"), shown, F.lit(f"' is not {article} {field.type}"))
    return F.when(raw.isNull(), _fault(empty, empty)).when(value.isNull(), _fault(kind, told))


def _fault(kind: SparkColumn, text: SparkColumn) -> SparkColumn:
    return F.struct(kind.alias("kind"), text.alias("said"))
