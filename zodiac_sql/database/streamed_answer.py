"""The answer of a statement that is still streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    import pyarrow as pa


class StreamedAnswer:
    """The last stream of rows of a connection. DuckDB refuses other statements until it has ended.

    It is not kept alive: when nobody refers to it any more, DuckDB ends it.
    """

    __slots__ = ("_reader",)

    def __init__(self) -> None:
        self._reader: ref[pa.RecordBatchReader] | None = None

    def begins(self, reader: pa.RecordBatchReader) -> None:
        """Note a stream that begins."""
        self._reader = ref(reader)

    def end(self) -> None:
        """Give up the rows that were not read yet, if there are any."""
        if self._reader is not None:
            reader, self._reader = self._reader(), None
            if reader is not None:
                reader.close()
