"""Makes blank nodes of different files different nodes.

`_:b0` of a file becomes `_:z<12 hex digits>_b0`, where the digits are a digest of the file's
content. So nodes of different files are never the same; the same file gives the same facts however
often it is loaded, and can be used to delete them; an edited file gives new nodes. A label that has
this form already, as in our own exports, stays, because it can only mean the same node.

In syntaxes where nodes need no label, they are numbered in the order of the file instead.
"""

from __future__ import annotations

import hashlib

from zodiac_sql.database.store import Store
from zodiac_sql.facts.load.source import SourceFile
from zodiac_sql.facts.stage import scratch

MACROS = r"""
CREATE OR REPLACE TEMP MACRO zodiac_unscoped(t) AS
    starts_with(t, '_:') AND NOT regexp_full_match(t, '_:z[0-9a-f]{12}_.+');

CREATE OR REPLACE TEMP MACRO zodiac_scoped(t, tag) AS
    CASE WHEN zodiac_unscoped(t) THEN '_:z' || tag || '_' || t[3:] ELSE t END;
"""

_NUMBER = """
CREATE OR REPLACE TEMP TABLE zodiac_blank AS
SELECT label, '_:' || row_number() OVER (ORDER BY min(place)) AS numbered
FROM (
    SELECT s AS label, 2 * rowid AS place FROM temp.zodiac_triple WHERE zodiac_unscoped(s)
    UNION ALL
    SELECT o, 2 * rowid + 1 FROM temp.zodiac_triple WHERE zodiac_unscoped(o)
)
GROUP BY label;

UPDATE temp.zodiac_triple SET s = numbered FROM temp.zodiac_blank WHERE s = label;
UPDATE temp.zodiac_triple SET o = numbered FROM temp.zodiac_blank WHERE o = label;
"""


def tag(store: Store, source: SourceFile, numbered: bool) -> str:
    """The prefix for the labels in zodiac_triple. With `numbered`, numbers the labels first."""
    any_blank = store.count(
        "SELECT count(*) FROM temp.zodiac_triple WHERE zodiac_unscoped(s) OR zodiac_unscoped(o)"
    )
    if not any_blank:
        return ""
    if numbered:
        with scratch(store, "zodiac_blank"):
            store.run(_NUMBER)
    with source.data.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
