"""The command profile: which rules take the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zodiac_sql.cli.databases import Wanted, changing, reading, require_database
from zodiac_sql.cli.explain_command import ComingFacts, GoingFacts, print_tables, wanted_of
from zodiac_sql.cli.limiting import limited_answer
from zodiac_sql.cli.options import ComingRules, Database, GoingRules, Json, RowsOf

if TYPE_CHECKING:
    from zodiac_sql.read.time_profile import TimeProfile


@limited_answer
def profile(
    db: Database,
    added: ComingRules = None,
    dropped: GoingRules = None,
    inserted: ComingFacts = None,
    deleted: GoingFacts = None,
    predicate: RowsOf = None,
    as_json: Json = False,
) -> None:
    """Tell which rules take the time, the slowest first.

    Evaluates everything once more, aside; the file stays as it is. For each rule it tells how long
    that took, in milliseconds, and how many facts it derived; of several rules that depend on each
    other, the body by itself over all that holds in the end. Then the same for each hypernode. With
    --add, --drop, --insert or --delete, it tells what that change takes, which is only previewed:
    there a rule has the time of all statements that applied it, and the others are named that some
    of them applied, too.

    `zodiac explain` does the same work, and tells how it was done: the operators, why these, and
    what was expected. In a program, kb.profile() sums up what all changes took.

    \b
    Examples:
      zodiac profile farm.duckdb
      zodiac profile farm.duckdb --insert monday.csv -p hasTemperature
    """
    wanted = wanted_of(added, dropped, inserted, deleted, predicate)
    found, notes = _of_change(db, wanted) if wanted else (_from_scratch(db), ())
    print_tables(found, notes, as_json)


def _from_scratch(db: str) -> TimeProfile:
    from zodiac_sql.cli.progress import reported

    with reading(db) as kb, reported() as report:
        return kb.profile(from_scratch=True, progress=report)


def _of_change(db: str, wanted: Wanted) -> tuple[TimeProfile, tuple[str, ...]]:
    """What a change would take, and the notes of its preview."""
    require_database(db)
    with changing(db) as opened:
        change = opened.preview(wanted)
        return opened.kb.profile(change), change.notes
