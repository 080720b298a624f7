"""Export within a command. After an interruption or a failure, a message says what is left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zodiac_sql.cli.databases import MEMORY
from zodiac_sql.cli.endings import Interrupted, Refused, is_interruption, message
from zodiac_sql.cli.options import Format
from zodiac_sql.errors import ZodiacError

if TYPE_CHECKING:
    from zodiac_sql.facts.export import Exported
    from zodiac_sql.knowledge_base import KnowledgeBase
    from zodiac_sql.questions import Questions


def export_to(
    kb: Questions,
    directory: Path,
    format: Format,
    predicates: Sequence[str] = (),
    inferred: bool = False,
) -> Exported:
    """Write files. Raises Interrupted, which says that some files may be missing."""
    try:
        return kb.export(directory, format.value, *predicates, inferred=inferred)
    except BaseException as error:
        if not is_interruption(error):
            raise
        text = f"interrupted; files in {directory} may be missing or cut short"
        raise Interrupted(text) from None


def export_after(kb: KnowledgeBase, db: str, out: Path, format: Format) -> Exported:
    """Export after a change. The change stays even if the export fails."""
    try:
        return export_to(kb, out, format)
    except (ZodiacError, OSError) as error:
        kept = "" if db == MEMORY else f" The change itself is complete in {db}."
        raise Refused(f"{message(error)}{kept}") from error
