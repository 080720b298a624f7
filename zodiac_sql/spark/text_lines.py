"""The lines of text files on Spark, in any encoding, without those before a table and comments.

As a rule Spark splits files into lines by itself, and a file into parts. A file whose first lines
are to be left out, or whose line ends are not single bytes, is read as a whole by one executor:
only so is known which lines these are.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.options import Options
from zodiac_sql.spark.mapping import escaped

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

FILE, LINE = "zodiac$file", "zodiac$line"
"""The columns of lines: the file, and the text."""

_WIDE = {
    "utf-16": "UTF-16", "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32",
}  # fmt: skip
"""Java's names of the encodings whose characters have several bytes."""

_HIGH = bytes(range(128, 256))

NO_CHARACTER = "\ufffd"
"""What stands for a byte that is no character."""


def lines_of(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The lines of UTF-8 that are not blank, as LINE, with their FILE."""
    return TextLines("", Options()).of(spark, paths)


@dataclass(frozen=True, slots=True)
class TextLines:
    """How the text files of a predicate become lines."""

    predicate: str
    options: Options

    def of(self, spark: SparkSession, paths: Sequence[str]) -> DataFrame:
        """The lines that are not blank, as LINE, with their FILE."""
        wide = self.options.encoding in _WIDE
        whole = wide or self.options.skip > 0
        text = spark.read.text(list(paths), wholetext=whole)
        value = self._decoded(F.col("value"))
        if whole:
            all_ = F.split(F.regexp_replace(value, "^\ufeff", ""), "\r\n|\r|\n", -1)
            value = F.explode(F.slice(all_, self.options.skip + 1, F.size(all_)))
        lines = text.select(value.alias(LINE), F.col("_metadata.file_path").alias(FILE))
        lines = lines.where(F.trim(LINE) != "")
        if self.options.comment is not None:
            lines = lines.where(~F.startswith(F.col(LINE), F.lit(self.options.comment)))
        return lines

    def _decoded(self, value: SparkColumn) -> SparkColumn:
        """A text as characters. A byte that is none becomes one that says so."""
        encoding = self.options.encoding
        if encoding is None:
            return value
        if encoding in _WIDE:
            return F.decode(value.cast("binary"), _WIDE[encoding])
        return F.translate(
            F.decode(value.cast("binary"), "ISO-8859-1"), _HIGH.decode("latin-1"), self._high()
        )

    def _high(self) -> str:
        """The characters of an encoding beyond ASCII, a byte each. Raises DataError for others."""
        encoding = self.options.encoding or "latin-1"
        ascii_, high = bytes(range(128)), _HIGH.decode(encoding, errors="replace")
        single = len(high) == len(_HIGH) and ascii_.decode(encoding, errors="replace").isascii()
        if not single or codecs.lookup(encoding).name.startswith("utf"):
            raise DataError(
                f"{self.predicate}: on Spark, text is UTF-8, UTF-16, UTF-32, or has one byte for "
                f"each character, such as cp1252; {encoding} is none of these. Convert it first."
            )
        return high

    def headers(self, spark: SparkSession, files: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The first line of each file that has one, and its path for Spark to read.

        The driver reads these lines through Spark's file systems: a job for each file takes twenty
        times as long, and one job for all reads every file to the end.
        """
        jvm: Any = spark._jvm
        settings = spark._jsparkSession.sessionState().newHadoopConf()
        packed = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(settings)
        for uri in files:
            path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(uri))
            stream = path.getFileSystem(settings).open(path)
            codec = packed.getCodec(path)
            text = codec.createInputStream(stream) if codec else stream
            charset, high = self._charset()
            reader = jvm.java.io.BufferedReader(jvm.java.io.InputStreamReader(text, charset))
            header = self._first(reader)
            reader.close()
            if header is not None:
                yield header.translate(high), escaped(path.toString())

    def _charset(self) -> tuple[str, dict[int, int]]:
        """What Java is to read, and what becomes of the characters that it gives."""
        encoding = self.options.encoding
        if encoding is None or encoding in _WIDE:
            return _WIDE.get(encoding or "", "UTF-8"), {}
        return "ISO-8859-1", dict(zip(range(128, 256), map(ord, self._high()), strict=True))

    def _first(self, reader: Any) -> str | None:
        """The first line of the table."""
        for _ in range(self.options.skip):
            reader.readLine()
        line: str | None = reader.readLine()
        comment = self.options.comment
        while line is not None:
            line = line.removeprefix("\ufeff")
            if line.strip(" ") and not (comment and line.startswith(comment)):
                return line
            line = reader.readLine()
        return None
