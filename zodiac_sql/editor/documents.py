"""The texts that an editor has open, and the files of rules beside them.

The files of one folder are taken to be one program: what one of them says of a predicate counts in
the others. Of a file that is open, the text in the editor counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from zodiac_sql.errors import Problem
from zodiac_sql.language.mentions import Kind, Mention, Mentions, Role, mentions
from zodiac_sql.language.prefixed import WELL_KNOWN_PREFIXES
from zodiac_sql.language.syntax import Program
from zodiac_sql.program.rule_edits import parsed_text

_RULES = (".rules", ".dl", ".srl")
_MARK = "\ufeff"
_MOST = 1_000_000
"""Of the files beside a text, at most so many bytes are read: larger files have facts, not rules,
and a megabyte takes ten seconds."""


@dataclass(frozen=True, eq=False)
class Document:
    """A text of rules. `name` is how problems call it, `version` the number an editor gives it."""

    uri: str
    name: str
    path: Path | None
    text: str
    version: int | None = None

    @property
    def is_shacl(self) -> bool:
        """Whether it has SHACL rules, of which only the problems are told."""
        return self.name.lower().endswith(".srl")

    @property
    def program(self) -> Program:
        """What of the text can be read."""
        return self._parsed[0]

    @property
    def problems(self) -> Sequence[Problem]:
        """Why all else cannot be read."""
        program, problems = self._parsed
        return [*problems, *program.objections]

    @cached_property
    def _parsed(self) -> tuple[Program, list[Problem]]:
        return parsed_text(self.text, self.name, {})

    @cached_property
    def mentions(self) -> Mentions:
        """The names in the text."""
        return mentions("" if self.is_shacl else self.text)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that can be written in the text."""
        return {**WELL_KNOWN_PREFIXES, **self.mentions.prefixes}

    @cached_property
    def known(self) -> frozenset[str]:
        """The predicates that it derives, declares or states."""
        program = self.program
        found = {rule.head.predicate for rule in program.rules}
        found |= {fact.predicate for fact in program.facts}
        found |= {one.predicate for one in program.declarations}
        return frozenset(found.union(name.name for name in self.predicates() if _tells(name)))

    @cached_property
    def read(self) -> frozenset[str]:
        """The predicates that its rules read."""
        return frozenset().union(*(r.positive() | r.negative() for r in self.program.rules))

    def predicates(self) -> Iterator[Mention]:
        """The places where predicates are named."""
        return (name for name in self.mentions.names if name.kind is Kind.PREDICATE)


def _tells(name: Mention) -> bool:
    return name.role is not Role.READ


class Documents:
    """All texts that are open, by their URIs, and the files that were read for them."""

    def __init__(self) -> None:
        self.open: dict[str, Document] = {}
        self._read: dict[Path, tuple[tuple[int, int], Document]] = {}

    def put(self, uri: str, text: str, version: int | None = None) -> Document:
        """Note what an editor shows."""
        path = path_of(uri)
        name = path.name if path else uri
        self.open[uri] = Document(uri, name, path, _without_mark(text), version)
        return self.open[uri]

    def together(self, document: Document) -> list[Document]:
        """A document, and those beside it, in the order of their names."""
        if document.path is None:
            return [document]
        folder = document.path.parent
        shown = {one.path: one for one in self.open.values() if one.path}
        paths = {path for path in shown if path.parent == folder}
        with suppress(OSError):
            paths |= {one for one in folder.iterdir() if one.suffix.lower() in _RULES}
        found, left = [document], _MOST
        for path in sorted(paths):
            other = shown.get(path) or self._file(path, left)
            if other is not None and other is not document:
                found.append(other)
                left -= 0 if path in shown else len(other.text)
        return found

    def _file(self, path: Path, most: int) -> Document | None:
        """A file as it is on disk; None if it cannot be read, or has more bytes."""
        try:
            status = os.stat(path)
            if status.st_size > most:
                return None
            stamp = status.st_mtime_ns, status.st_size
            if (known := self._read.get(path)) and known[0] == stamp:
                return known[1]
            text = path.read_bytes().decode()
        except (OSError, ValueError):
            return None
        document = Document(path.as_uri(), path.name, path, _without_mark(text))
        self._read[path] = stamp, document
        return document


def _without_mark(text: str) -> str:
    """A text without the byte order mark. All places stay."""
    return f" {text[1:]}" if text.startswith(_MARK) else text


def path_of(uri: str) -> Path | None:
    """The file that a URI names; None if it is of another kind: untitled:1."""
    parts = urlsplit(uri)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None
