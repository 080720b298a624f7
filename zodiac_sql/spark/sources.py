"""Files and data frames -> rows, from which mappings make facts.

Text is read line by line, and one Spark expression parses each line. So a bad line stays a row,
with its text and its fault. Files of any size are read by all executors.

    csv, tsv   the first line of each file names its columns; a record is one line; cells are text
    jsonl      columns are the fields of all objects; text, numbers and booleans are read as text
    nt         the columns of TRIPLE
    parquet    the columns of all files, in their own types
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from zodiac_sql.errors import DataError
from zodiac_sql.language.symbols import XSD
from zodiac_sql.spark.mapping import FactMapping
from zodiac_sql.spark.require import explained
from zodiac_sql.spark.text_lines import FILE, LINE, NO_CHARACTER, TextLines, lines_of
from zodiac_sql.spark.types import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

TRIPLE = ("subject", "predicate", "object", "value", "datatype", "language")
"""The columns of N-Triples: the three terms as N-Triples writes them; and for the object its
`value` (the text of a literal, or the IRI without <>), and a literal's `datatype` (an IRI) and
`language` (in lower case), or NULL."""

FAULT = "zodiac$fault"
"""The column with the fault of a row (NULL if there is none). Besides it, and the columns of the
source, rows have FILE (NULL for a data frame) and LINE (NULL if the source has no lines)."""

_PARSED, _CORRUPT = "zodiac$parsed", "zodiac$corrupt"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with the same columns: those of the source, and FILE, LINE and FAULT."""

    frame: DataFrame
    columns: tuple[str, ...]

    @property
    def shown(self) -> SparkColumn:
        """A row as people see it: the line, or else the columns as JSON."""
        named = [F.col(quoted(name)) for name in self.columns]
        as_json = F.to_json(F.struct(*named), {"ignoreNullFields": "false"})
        return F.coalesce(F.make_valid_utf8(F.col(LINE)), as_json)


def rows_of(spark: SparkSession, mapping: FactMapping) -> tuple[Rows, ...]:
    """The rows of a mapping's source; several Rows only for files whose headers differ.

    So far only what is needed to know the columns is read. Raises DataError if there is no file or
    no valid header; SparkError if Spark cannot read the files.
    """
    paths = mapping.paths
    if not paths:
        return (_given(mapping.source),)  # type: ignore[arg-type]
    read = {"csv": _csv, "tsv": _csv, "jsonl": _json, "parquet": _parquet, "nt": _ntriples}
    with explained():
        try:
            return read[mapping.read_as](spark, mapping)
        except AnalysisException as error:
            if error.getCondition() not in ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"):
                raise
            raise DataError(f"{mapping.predicate}: there is no file {mapping.shown}.") from None


def _given(df: DataFrame) -> Rows:
    nothing = [F.lit(None).cast("string").alias(name) for name in (FILE, LINE, FAULT)]
    return Rows(df.select("*", *nothing), tuple(df.columns))


def _parquet(spark: SparkSession, mapping: FactMapping) -> tuple[Rows, ...]:
    df = spark.read.option("mergeSchema", True).parquet(*mapping.paths)
    nothing = [F.lit(None).cast("string").alias(name) for name in (LINE, FAULT)]
    file = F.col("_metadata.file_path").alias(FILE)
    return (Rows(df.select("*", file, *nothing), tuple(df.columns)),)


# --- lines --------------------------------------------------------------------------------------

Fault = tuple["SparkColumn", str]
"""The condition under which a line is bad, and the message about it."""


def _fault(*faults: Fault) -> SparkColumn:
    """The fault of a line: the message of the first condition that holds."""
    told = F.when(~F.is_valid_utf8(F.col(LINE)), "the line is not UTF-8")
    for holds, said in faults:
        told = told.when(holds, said)
    return told.alias(FAULT)


def _json(spark: SparkSession, mapping: FactMapping) -> tuple[Rows, ...]:
    reader = spark.read.option("primitivesAsString", True)
    found = reader.option("columnNameOfCorruptRecord", _CORRUPT).json(list(mapping.paths)).schema
    fields = [field for field in found.fields if field.name != _CORRUPT]
    schema = T.StructType([*fields, T.StructField(_CORRUPT, T.StringType())])
    parsed = F.from_json(LINE, schema, {"columnNameOfCorruptRecord": _CORRUPT})
    parts = F.col(_PARSED)
    names = tuple(field.name for field in fields)
    frame = (
        lines_of(spark, mapping.paths)
        .withColumn(_PARSED, parsed)
        .select(
            *(parts.getField(name).alias(name) for name in names),
            FILE,
            LINE,
            _fault((parts.getField(_CORRUPT).isNotNull(), "the line cannot be read as JSON")),
        )
    )
    return (Rows(frame, names),)


# --- CSV ----------------------------------------------------------------------------------------

_EMPTY = "\ufffezodiac"
"""A mark for empty cells until they become NULL, so that a quoted one, "", can be a text."""


def _csv(spark: SparkSession, mapping: FactMapping) -> tuple[Rows, ...]:
    """Rows for each distinct header of the files.

    Spark would take the header of one file for all, even if others have another order of columns.
    """
    files = sorted(spark.read.text(list(mapping.paths)).inputFiles())
    by_header: dict[str, list[str]] = defaultdict(list)
    text = TextLines(mapping.predicate, mapping.reading)
    for header, path in text.headers(spark, files):
        by_header[header].append(path)
    if not by_header:
        raise DataError(f"{mapping.predicate}: there is no line in {mapping.shown}.")
    return tuple(_with_header(spark, mapping, *found) for found in by_header.items())


def _with_header(
    spark: SparkSession, mapping: FactMapping, header: str, paths: Sequence[str]
) -> Rows:
    delimiter = mapping.reading.delimiter or (
        "\t" if mapping.read_as == "tsv" else _delimiter(header)
    )
    names = _names(mapping, header, delimiter, paths[0])
    fields = [f"c{n}" for n in range(len(names))]
    schema = ", ".join(f"{field} STRING" for field in (*fields, f"`{_CORRUPT}`"))
    options = {
        "sep": delimiter, "escape": '"', "nullValue": _EMPTY, "emptyValue": "",
        "columnNameOfCorruptRecord": _CORRUPT,
    }  # fmt: skip
    parts = F.col(_PARSED)
    quotes = F.length(LINE) - F.length(F.replace(F.col(LINE), F.lit('"'), F.lit("")))
    frame = (
        TextLines(mapping.predicate, mapping.reading)
        .of(spark, paths)
        .where(F.col(LINE) != header)
        .withColumn(_PARSED, F.from_csv(LINE, schema, options))
        .select(
            *(parts.getField(field).alias(name) for field, name in zip(fields, names, strict=True)),
            FILE,
            LINE,
            _fault(
                _lost(mapping),
                (quotes % 2 == 1, f"{_UNREADABLE}: a quote is not closed"),
                (parts.getField(_CORRUPT).isNotNull(), f"{_UNREADABLE}: {_CELLS}"),
            ),
        )
    )
    return Rows(frame, names)


def _lost(mapping: FactMapping) -> Fault:
    """Whether a byte of a line is no character of the encoding that is given."""
    encoding = mapping.reading.encoding
    is_lost = F.lit(encoding is not None) & F.col(LINE).contains(NO_CHARACTER)
    return is_lost, f"the line is not {encoding}"


_UNREADABLE = "the line cannot be read as CSV"
_CELLS = "it has more or fewer cells than the first line of the file"


def _delimiter(header: str) -> str:
    """The separator of cells: a comma, unless another one is more frequent in the header."""
    bare = re.sub('"[^"]*"', "", header)
    return max(",;\t|", key=bare.count)


def _names(mapping: FactMapping, header: str, delimiter: str, path: str) -> tuple[str, ...]:
    """The names of the columns; one without a name is called after its place, as by Spark."""
    cells = next(csv.reader([header], delimiter=delimiter))
    names = tuple(cell.strip() or f"_c{n}" for n, cell in enumerate(cells))
    twice = [name for name, n in Counter(name.lower() for name in names).items() if n > 1]
    if twice:
        raise DataError(
            f"{mapping.predicate}: {path} has more than one column {twice[0]} (SQL ignores case). "
            "Rename one."
        )
    return names


# --- N-Triples ----------------------------------------------------------------------------------

# Numeric escapes cannot be surrogates or lie beyond U+10FFFF.
_HEX = "[0-9A-Fa-f]"
_BMP = f"(?:[0-9A-CE-Fa-ce-f]{_HEX}{{3}}|[Dd][0-7]{_HEX}{{2}})"
_CODE = f"u{_BMP}|U00(?:10{_HEX}{{4}}|0(?:[1-9A-Fa-f]{_HEX}{{4}}|0{_BMP}))"
_PIECE = rf"(?s)\\(?:{_CODE})|\\.|[^\\]+"
_UNUSUAL = r"\\[uUbf']"
"""Escapes that symbols do not have. They become characters before a line is split."""

# A line without those escapes. Quantifiers are possessive (*+), because others recurse in Java: a
# long literal would overflow the stack.
_IRI = r'<[A-Za-z][A-Za-z0-9+.-]*+:[^\x00-\x20<>"{}|^`\\]*+>'
_LETTER = r"\p{L}\p{N}_:"
_BLANK = rf"_:[{_LETTER}](?:[{_LETTER}\p{{M}}\u00b7\u203f\u2040.-]*[{_LETTER}\p{{M}}\u00b7-])?"
_LITERAL = rf'"((?:[^"\\]++|\\[tnr"\\])*+)"(?:\^\^({_IRI})|@([A-Za-z]+(?:-[A-Za-z0-9]+)*+))?'
_STATEMENT = (
    rf"(?s)^[ \t]*({_IRI}|{_BLANK})[ \t]*({_IRI})[ \t]*(?:({_IRI}|{_BLANK})|{_LITERAL})"
    r"[ \t]*\.[ \t]*(?:#.*)?\z"
)
_PARTS = ("subject", "predicate", "node", "body", "datatype", "language")

_ESCAPES = {'"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def _ntriples(spark: SparkSession, mapping: FactMapping) -> tuple[Rows, ...]:
    """Statements, parsed by one regular expression; a missing part is an empty text.

    A line contains no line breaks, so they can separate the parts.
    """
    lines = lines_of(spark, mapping.paths).where(~F.col(LINE).rlike(r"^[ \t]*#"))
    groups = "\n".join(f"${n}" for n in range(1, len(_PARTS) + 1))
    split = F.split(F.regexp_replace(_usual(F.col(LINE)), _STATEMENT, groups), "\n", -1)
    parts = F.when(F.size(_PARSED) == len(_PARTS), F.col(_PARSED))
    terms = (
        lines.withColumn(_PARSED, split)
        .withColumn(_PARSED, parts)
        .select(FILE, LINE, *(F.col(_PARSED)[n].alias(name) for n, name in enumerate(_PARTS)))
    )
    fault = _fault((F.col("subject").isNull(), "the line cannot be read as N-Triples"))
    subject = _scoped(F.col("subject")).alias("subject")
    return (
        Rows(terms.select(subject, "predicate", *_object_columns(), FILE, LINE, fault), TRIPLE),
    )


def _object_columns() -> list[SparkColumn]:
    """The object, its value, datatype and language."""
    node, body, datatype, language = (F.col(name) for name in _PARTS[2:])
    is_literal, language = node == "", F.lower(language)
    suffix = (
        F.when(language != "", F.concat(F.lit("@"), language))
        .when(datatype.isin("", f"<{XSD}string>"), "")
        .otherwise(F.concat(F.lit("^^"), datatype))
    )
    literal = F.concat(F.lit('"'), F.replace(body, F.lit("\t"), F.lit(r"\t")), F.lit('"'), suffix)
    value = F.when(is_literal, _unescaped(body)).when(node.startswith("<"), _bare(node))
    type_ = (
        F.when(language != "", _LANGUAGE_STRING)
        .when(is_literal & (datatype == ""), f"{XSD}string")
        .when(datatype != "", _bare(datatype))
    )
    return [
        F.when(is_literal, literal).otherwise(_scoped(node)).alias("object"),
        value.otherwise(_scoped(node)).alias("value"),
        type_.alias("datatype"),
        F.when(language != "", language).alias("language"),
    ]


_LANGUAGE_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"


def _bare(iri: SparkColumn) -> SparkColumn:
    return F.substring(iri, 2, F.length(iri) - 2)


def _scoped(term: SparkColumn) -> SparkColumn:
    """Make blank nodes of different files different: their labels get a digest of the path.

    This is as in facts/load/blanks.py, except that the digest is of the file's path. So when the
    content of a file changes, only the facts that differ change.
    """
    tag = F.substring(F.sha2(F.col(FILE), 256), 1, 12)
    scoped = F.concat(F.lit("_:z"), tag, F.lit("_"), F.regexp_replace(term, "^_:", ""))
    unscoped = term.startswith("_:") & ~term.rlike("^_:z[0-9a-f]{12}_.+")
    return F.when(unscoped, scoped).otherwise(term)


def _usual(line: SparkColumn) -> SparkColumn:
    """A line with all escapes replaced except those that symbols have."""
    pieces = F.regexp_extract_all(line, F.lit(_PIECE), F.lit(0))
    usual = F.array_join(F.transform(pieces, _usual_piece), "")
    return F.when(line.rlike(_UNUSUAL), usual).otherwise(line)


def _usual_piece(piece: SparkColumn) -> SparkColumn:
    code = F.unhex(F.lpad(F.substring(piece, 3, 8), 8, "0"))
    character = _escaped(F.decode(code, "UTF-32"))
    found = F.when(piece.rlike(rf"^\\(?:{_CODE})\z"), character)
    for escape, meant in {r"\b": "\b", r"\f": "\f", r"\'": "'"}.items():
        found = found.when(piece == escape, meant)
    return found.otherwise(piece)


def _escaped(text: SparkColumn) -> SparkColumn:
    for character, escape in {"\\": r"\\", **_ESCAPES}.items():
        text = F.replace(text, F.lit(character), F.lit(escape))
    return text


def _unescaped(text: SparkColumn) -> SparkColumn:
    """The text without escapes. It is split at escaped backslashes, and each piece unescaped."""
    pieces = F.transform(F.split(text, r"\\\\", -1), _unescaped_piece)
    return F.when(text.contains("\\"), F.array_join(pieces, "\\")).otherwise(text)


def _unescaped_piece(piece: SparkColumn) -> SparkColumn:
    for character, escape in _ESCAPES.items():
        piece = F.replace(piece, F.lit(escape), F.lit(character))
    return piece
