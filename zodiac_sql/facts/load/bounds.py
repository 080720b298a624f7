"""Checks files for what libraries cannot read safely or exactly, before the libraries see them.

Deep nesting overflows their stacks, which ends the process. XML entities that refer to one another
make gigabytes out of a few kilobytes. Decimals in JSON are rounded while they are read.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load.buffers import sized
from zodiac_sql.facts.load.lines import READ_LINES
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.language.literals import loses_digits

DEEPEST_NESTING = 200
"""How deep JSON may be nested."""

_BLOCK_BYTES = 1 << 20

_OPENERS = bytes.maketrans(b"{[}]", b"(())")
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"?')


def check_nesting(file: SourceFile) -> None:
    """Raise DataError if JSON is nested too deep.

    First all brackets are counted, also in strings, which is fast. Only if these are too deep, the
    file is read again without strings.
    """
    if _deep(file.data, strings=True) and _deep(file.data, strings=False):
        raise DataError(
            f"{file.path} is nested more than {DEEPEST_NESTING} deep. Nothing was loaded; make it "
            "flatter."
        )


def _deep(path: Path, *, strings: bool) -> bool:
    open_ = 0
    with path.open("rb") as source:
        while block := source.read(_BLOCK_BYTES):
            block += source.readline()  # no string of JSON contains a line end
            if not strings:
                block = _STRING.sub(b"", block)
            brackets = b"(" * open_ + block.translate(_OPENERS, _NO_BRACKETS)
            for _ in range(DEEPEST_NESTING):
                fewer = brackets.replace(b"()", b"")
                if len(fewer) == len(brackets):
                    break
                brackets = fewer
            open_ = brackets.count(b"(")
            if open_ > DEEPEST_NESTING:
                return True
    return False


_DECIMAL = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_POINT = re.compile(rb"\.(?:(?<=[0-9]{8}\.)|(?=[0-9]{8}))")
"""The point of a decimal that may have more digits than a double. The pattern begins with a fixed
character instead of a class, which makes the search ten times faster."""

_POWER = re.compile(rb"e-[0-9]{3}|E-[0-9]{3}|e(?<=[0-9]{16}e)|E(?<=[0-9]{16}E)")
"""The exponent of a decimal that may be too small for a double, or has many digits without a point.
Decimals that are too large are not rounded."""

_KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:[\s\[]*$')


_SUSPECTS = f"""
SELECT line
FROM (SELECT line, CASE WHEN regexp_matches(line, '[0-9.]{{16}}|[eE]-[0-9]{{3}}')
                        THEN coalesce(TRY(json(line)::VARCHAR), '') ELSE line END AS written
      FROM ({READ_LINES}))
WHERE CASE WHEN written = line THEN false
           WHEN written = replace(line, ' ', '') THEN false
           ELSE replace(written, ' ', '') <> replace(line, ' ', '') END
"""
"""The lines with many digits that DuckDB would write differently. In all other lines, each decimal
is written like its double."""

_BATCH_ROWS = 20_480


def check_decimals_of_lines(outside: Store, file: SourceFile) -> None:
    """Raise DataError if JSON lines hold a decimal that their reader would round.

    DuckDB finds the lines that need a check; most do not. If it could not read some lines, the
    whole file is checked.
    """
    for batch in outside.batches(sized(outside, _SUSPECTS), _BATCH_ROWS, {"path": file.unglobbed}):
        for line in batch.column(0).to_pylist():
            if any(map(loses_digits, _decimals_of(line))):
                _check_all(file)
    if outside.count("SELECT count(*) FROM temp.zodiac_rejected"):
        _check_all(file)


def _decimals_of(line: str) -> Iterator[str]:
    return (token.decode() for token in _DECIMAL.findall(_without_strings(line.encode())))


def check_decimals(file: SourceFile) -> None:
    """Raise DataError if JSON holds a decimal that its reader would round."""
    for block, before in _blocks(file):
        if _POWER.search(block) or not _written_as_doubles(_long(block)):
            _check_lines(file, block, before)


def _check_all(file: SourceFile) -> None:
    for block, before in _blocks(file):
        _check_lines(file, block, before)


def _blocks(file: SourceFile) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines, each with the number of lines before it."""
    before = 0
    with file.data.open("rb") as source:
        while block := source.read(_BLOCK_BYTES):
            block += source.readline()
            yield block, before
            before += block.count(b"\n")


def _long(block: bytes) -> list[bytes]:
    """The decimals with many digits, without their signs."""
    found = []
    for point in _POINT.finditer(block):
        at = point.start()
        before = block[max(0, at - 30) : at]
        digits = len(before) - len(before.rstrip(b"0123456789"))
        match = _DECIMAL.match(block, at - digits)
        if match:
            found.append(match[0])
    return found


def _written_as_doubles(tokens: list[bytes]) -> bool:
    """Whether all of these texts are written like their doubles. This is a quick check of many."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not tokens:
        return True
    texts = pa.array(tokens, type=pa.binary()).cast(pa.string())
    try:
        return bool(pc.all(pc.equal(texts.cast(pa.float64()).cast(pa.string()), texts)).as_py())
    except pa.ArrowInvalid:
        return False


def _check_lines(file: SourceFile, block: bytes, before: int) -> None:
    """Check lines outside of strings."""
    for number, line in enumerate(block.split(b"\n"), before + 1):
        for token in _DECIMAL.finditer(_without_strings(line)):
            if loses_digits(token[0].decode()):
                key = _KEY.search(line[: token.start()])
                column = f"column {key[1].decode(errors='replace')} holds " if key else ""
                raise DataError(
                    f"{file.path}, line {number}: {column}{token[0].decode()}, which would be "
                    "rounded: floats have 64 bits, about 16 digits. Nothing was loaded; round it, "
                    "or make it text."
                )


def _without_strings(line: bytes) -> bytes:
    """A line without digits in its strings, which keep their length."""
    return _STRING.sub(lambda match: b'"' + b"s" * (len(match[0]) - 2) + b'"', line)


_ENTITY = re.compile(rb'<!ENTITY\s*([^\s"<>]+)\s+"([^"]*)"')
_REFERENCE = re.compile(rb"&([^;&<]{1,200});")

_MOST_EXPANDED_BYTES = 16 << 20
"""The entities of a file may expand to this many bytes, or twenty times the file."""


def check_entities(file: SourceFile) -> None:
    """Raise DataError if the entities that XML declares make it many times larger."""
    size = file.data.stat().st_size
    if not size:
        return
    with file.data.open("rb") as source, mmap.mmap(source.fileno(), 0, prot=mmap.PROT_READ) as data:
        lengths: dict[bytes, int] = {}
        for name, value in _ENTITY.findall(data):
            inner = sum(lengths.get(reference, 0) for reference in _REFERENCE.findall(value))
            lengths[name] = max(lengths.get(name, 0), len(value) + inner)
            _bound(file, lengths[name], size)
        if lengths:
            _bound(file, sum(lengths.get(m[1], 0) for m in _REFERENCE.finditer(data)), size)


def _bound(file: SourceFile, expanded: int, size: int) -> None:
    if expanded > max(_MOST_EXPANDED_BYTES, 20 * size):
        raise DataError(
            f"{file.path}: its entities would become {expanded:,} characters of text. Nothing was "
            "loaded; write out what they stand for."
        )
