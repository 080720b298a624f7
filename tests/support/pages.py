"""README and the pages of docs/, in the order of the site's navigation, and their blocks of code.

A block is opened by three backticks and a language, or by marks: `{.python .spark}`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from support.places import ROOT

DOCS = ROOT / "docs"
GENERATED = {"reference/command-line.md", "explanation/architecture.md", "changelog.md"}
"""Pages that docs/hooks.py makes when the site is built."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code in a page."""

    marks: tuple[str, ...]
    """Its language, and what else says how it is tested."""
    text: str

    @property
    def language(self) -> str:
        return self.marks[0] if self.marks else ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its name is its path from the root of the checkout."""

    name: str
    text: str

    def blocks(self, *marks: str) -> list[Block]:
        """Its blocks in order; with `marks`, those that have exactly these."""
        found = [
            Block(tuple(re.findall(r"[\w-]+", opened)), text)
            for opened, text in _FENCED.findall(self.text)
        ]
        return [block for block in found if not marks or block.marks == marks]

    def script(self, *marks: str) -> str:
        """All such blocks as one text, as a reader would paste them one after the other."""
        return "\n".join(block.text for block in self.blocks(*marks))


_FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def read_page(path: Path) -> Page:
    return Page(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


def in_navigation() -> list[str]:
    """The paths of pages in mkdocs.yml, from docs/."""
    _, _, navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    return re.findall(r"^ *- (?:.*: )?(\S+\.md)$", navigation, re.MULTILINE)


def pages() -> list[Page]:
    """README first, then the pages as a reader of the site finds them."""
    paths = [DOCS / name for name in in_navigation() if name not in GENERATED]
    return [read_page(ROOT / "README.md"), *map(read_page, paths)]


def page(name: str) -> Page:
    return read_page(ROOT / name)


def language_page() -> str:
    """The program that shows the whole language."""
    (block,) = page("docs/reference/language.md").blocks("prolog")
    return block.text
