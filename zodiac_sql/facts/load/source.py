"""A file as its user knows it, and a file with its plain bytes, which all readers read.

Standard input is copied to a temporary file, and text in another encoding is written anew in UTF-8.
A .gz file is unpacked as a whole into a temporary file before anything of it is used: a damaged
file could give wrong facts before the damage is noticed, because its checksum is at its end.
"""

from __future__ import annotations

import errno
import gzip
import mmap
import shutil
import sys
import tempfile
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from zodiac_sql.errors import DataError, ResourceError
from zodiac_sql.facts.load.recoded import recode
from zodiac_sql.paths import STDIN

LONGEST_LINE = 16 << 20
"""DuckDB reads lines of up to 16 MiB; it would silently skip lines beyond 32 MiB."""

_MOST_UNPACKED_BYTES = 256 << 20
_MOST_TIMES = 200
"""A packed file may unpack to this many bytes, or to this many times its own size if that is
more."""

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`path` is what errors name, `data` a file with the plain bytes.

    `left_out` has the numbers of lines of the file that are not in the data, in ascending order.
    """

    path: Path
    data: Path
    left_out: Sequence[int] = ()

    def line(self, number: int) -> int:
        """The number that a line of the data has in the file."""
        kept_before = [line - place for place, line in enumerate(self.left_out)]
        return number + bisect_right(kept_before, number)

    @property
    def unglobbed(self) -> str:
        """The path of the data for DuckDB, with *, ? and [ escaped because they mean patterns.

        It is absolute: a ~ at its beginning would mean the home directory.
        """
        return "".join(f"[{c}]" if c in "*?[" else c for c in str(self.data.absolute()))


@contextmanager
def opened(path: Path, encoding: str | None = None) -> Iterator[SourceFile]:
    """Open a file, unpack it if it is packed, and write it in UTF-8 if it has another encoding.

    Raises DataError if it is damaged.
    """
    with ExitStack() as open_:
        data = _unpacked(path, open_)
        path = Path("standard input") if str(path) == STDIN else path
        _require_plain(path, data, encoding)
        if encoding is not None:
            text = _temporary(open_) / "text"
            with _writing(path, text):
                recode(path, data, text, encoding)
            data = text
        yield SourceFile(path, open_.enter_context(_without_mark(path, data)))


def _unpacked(path: Path, open_: ExitStack) -> Path:
    """A file that has the bytes of a path: itself, or a copy of what is packed or comes in."""
    if str(path) == STDIN:
        target = _temporary(open_) / "standard input"
        with _writing(path, target), target.open("wb") as plain:
            shutil.copyfileobj(sys.stdin.buffer, plain, _BLOCK_BYTES)
        return target
    if path.suffix.lower() != ".gz":
        return path
    target = _temporary(open_) / "unpacked"
    _unpack(path, target)
    return target


def _temporary(open_: ExitStack) -> Path:
    """A directory that goes when the file is closed."""
    return Path(open_.enter_context(tempfile.TemporaryDirectory(prefix="zodiac_sql_")))


@contextmanager
def _writing(path: Path, target: Path) -> Iterator[None]:
    """Say what is wrong if the bytes of a file cannot be written to a temporary one."""
    try:
        yield
    except OSError as error:
        raise _not_copied(path, target, error) from error


_OTHER_FORMS = {
    b"\x1f\x8b": "packed by gzip: give it a name that ends with .gz",
    b"\x28\xb5\x2f\xfd": "packed by zstd, which is not read: unpack it first",
    b"PK\x03\x04": "a zip archive, as spreadsheets are: unpack it, or save it as CSV",
}
"""How files begin that are not what their names say."""

_UTF_16 = (
    'UTF-16. For CSV, say encoding="utf-16"; other text must be UTF-8: write it anew, or convert '
    "it by iconv"
)
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF_8 = "UTF-8, as the mark at its beginning says: leave the encoding out"


def _require_plain(path: Path, data: Path, encoding: str | None) -> None:
    forms = dict(_OTHER_FORMS)
    if encoding is None or not encoding.startswith(("utf-16", "utf-32")):
        forms |= dict.fromkeys(_UTF_16_MARKS, _UTF_16)
    if encoding is not None:
        forms[_MARK] = _UTF_8
    with suppress(OSError), data.open("rb") as file:  # who reads it tells what is wrong
        begin = file.read(4)
        for other, said in forms.items():
            if begin.startswith(other):
                raise DataError(f"{path} cannot be read: it is {said}. Nothing was loaded.")


_MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, with which some programs begin all texts."""


@contextmanager
def _without_mark(path: Path, data: Path) -> Iterator[Path]:
    """The data without a byte order mark, which few readers take: a temporary copy, if need be."""
    if not _is_marked(data):
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="zodiac_sql_") as folder:
        target = Path(folder) / "unmarked"
        with _writing(path, target), data.open("rb") as source, target.open("wb") as plain:
            source.seek(len(_MARK))
            shutil.copyfileobj(source, plain, _BLOCK_BYTES)
        yield target


def _is_marked(data: Path) -> bool:
    with suppress(OSError), data.open("rb") as file:  # who reads it tells what is wrong
        return file.read(len(_MARK)) == _MARK
    return False


def _unpack(path: Path, target: Path) -> None:
    most = max(_MOST_UNPACKED_BYTES, _MOST_TIMES * path.stat().st_size)
    written = 0
    try:
        with gzip.open(path, "rb") as source, target.open("wb") as plain:
            while block := source.read(_BLOCK_BYTES):
                written += len(block)
                if written > most:
                    raise DataError(
                        f"{path} unpacks to more than {_MOST_TIMES} times its size, and to more "
                        f"than {most >> 20} MiB. Nothing was loaded. If it means no harm, unpack "
                        "it first."
                    )
                plain.write(block)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"{path} cannot be read: it is damaged or cut off ({error}). Nothing was loaded; make "
            "it anew, or fetch it again."
        ) from None
    except OSError as error:
        raise _not_copied(path, target, error) from error


def _not_copied(path: Path, target: Path, error: OSError) -> DataError | ResourceError:
    """What to raise where the bytes of a file could not be written to a temporary one."""
    if error.errno == errno.ENOSPC:
        return ResourceError(
            f"{path}: the disk is full where it was to be unpacked ({target.parent.parent}). "
            "Nothing was changed. Make room, or set the environment variable TMPDIR."
        )
    return DataError(f"{path} cannot be read: {error}")


def check_lines(file: SourceFile) -> None:
    """Raise DataError if a line of a text file is longer than the reader of lines allows.

    This looks for the last line end in each piece of that length, so it reads little of the file.
    """
    size = file.data.stat().st_size
    if size <= LONGEST_LINE:
        return
    with file.data.open("rb") as source, mmap.mmap(source.fileno(), 0, prot=mmap.PROT_READ) as data:
        start = 0
        while size - start > LONGEST_LINE:
            end = start + LONGEST_LINE
            last = data.rfind(b"\n", start, end)
            last = max(last, data.rfind(b"\r", max(last, start), end))
            if last < 0:
                line = file.line(data[:start].count(b"\n") + 1)
                raise DataError(
                    f"{file.path}: line {line} is longer than 16 MiB, which no line may be. "
                    "Nothing was loaded; break it up, or leave it out."
                )
            start = last + 1
