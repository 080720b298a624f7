"""N-Triples and N-Quads -> temporary table zodiac_triple(s, p, o), one SQL statement per file.

Each term has only one spelling: numeric escapes are decoded, and language tags in lower case. The
steps are SQL macros, so that finding the lines for an error uses the same macros once more, with
row numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from zodiac_sql.database.other_connections import connect_outside
from zodiac_sql.database.store import Store
from zodiac_sql.errors import DataError
from zodiac_sql.facts.load import statement_lines, triple_terms
from zodiac_sql.facts.load.lines import LINES, lines_of, true_lines
from zodiac_sql.facts.load.result import MOST_LISTED, Skipped, listed
from zodiac_sql.facts.load.source import SourceFile, check_lines

Syntax = Literal["nt", "nq"]

_EXPECTED = {
    "nt": 'N-Triples has one statement a line: <subject> <predicate> <object or "literal"> .',
    "nq": 'N-Quads has one statement a line: <subject> <predicate> <object or "literal"> <graph> .',
}

_NAMES = {"nt": "N_TRIPLES", "nq": "N_QUADS"}
"""How pyoxigraph calls these syntaxes."""

# --- the grammar, as regular expressions --------------------------------------------------------

_HEX = "[0-9A-Fa-f]"
# Numeric escapes cannot be surrogates or lie beyond U+10FFFF.
_BMP = f"(?:[0-9A-CE-Fa-ce-f]{_HEX}{{3}}|[Dd][0-7]{_HEX}{{2}})"
_CODE = f"u{_BMP}|U00(?:10{_HEX}{{4}}|0(?:[1-9A-Fa-f]{_HEX}{{4}}|0{_BMP}))"
_LETTER = (
    r"A-Za-z_\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}"
    r"\x{200C}-\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}"
    r"\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}0-9"
)
_INNER = _LETTER + r"\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}-"


def _iri(escape: str) -> str:
    return rf'<[A-Za-z][A-Za-z0-9+.-]*:(?:[^\x00-\x20<>"{{}}|^`\\]{escape})*>'


# A tag as BCP 47 has it (RFC 5646, 2.1), and a base direction.
_LANGUAGE = (
    "(?:[A-Za-z]{2,3}(?:-[A-Za-z]{3}){0,3}|[A-Za-z]{4}|[A-Za-z]{5,8})(?:-[A-Za-z]{4})?"
    "(?:-(?:[A-Za-z]{2}|[0-9]{3}))?(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
    "(?:-[0-9A-WYZa-wyz](?:-[A-Za-z0-9]{2,8})+)*(?:-[xX](?:-[A-Za-z0-9]{1,8})+)?"
    "|[xX](?:-[A-Za-z0-9]{1,8})+"
    "|(?i:en-GB-oed|i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)"
    "|sgn-BE-FR|sgn-BE-NL|sgn-CH-DE|art-lojban|cel-gaulish|no-bok|no-nyn|zh-guoyu|zh-hakka|zh-min"
    "|zh-min-nan|zh-xiang)"
)
_ANY_LANGUAGE = f"(?:{_LANGUAGE})(?:--(?:ltr|rtl))?"
_USUAL_LANGUAGE = "[a-z][a-z][a-z]?(?:-[a-z][a-z](?:[a-z][a-z])?)?"


def _literal(characters: str, language: str, iri: str) -> str:
    return rf'"(?:{characters})*"(?:\^\^{iri}|@{language})?'


# All that the grammar allows, ...
_ANY_IRI = _iri(rf"|\\(?:{_CODE})")
_ANY_LITERAL = _literal(rf'[^"\\\n\r]|\\(?:[tbnrf"\x27\\]|{_CODE})', _ANY_LANGUAGE, _ANY_IRI)
ANY_BLANK = rf"_:[{_LETTER}](?:[.{_INNER}]*[{_INNER}])?"
# Labels that pyoxigraph writes for JSON-LD have colons. They are numbered then.
_CONVERTED_BLANK = rf"_:[:{_LETTER}](?:[:.{_INNER}]*[:{_INNER}])?"
# ... and terms that have the right spelling already. Here each character decides how the match goes
# on, so that RE2 finds all terms in one pass: ten times faster.
_USUAL_IRI = _iri("")
_USUAL_LITERAL = _literal(r'[^"\\\n\r\t]|\\[tnr"\\]', _USUAL_LANGUAGE, _USUAL_IRI)
_USUAL_BLANK = "_:[A-Za-z0-9_]+"


def _statement(iri: str, blank: str, literal: str, graph: str) -> str:
    s, p, o = rf"({iri}|{blank})", rf"({iri})", rf"({iri}|{blank}|{literal})"
    return rf"^[ \t]*{s}[ \t]*{p}[ \t]*{o}[ \t]*{graph}\.[ \t]*(?:#.*)?$"


_ANY = (_ANY_IRI, ANY_BLANK, _ANY_LITERAL)
_USUAL = (_USUAL_IRI, _USUAL_BLANK, _USUAL_LITERAL)
# A blank graph name after a blank object is not usual: its match is not decided at once.
_USUAL_QUAD = _statement(*_USUAL, rf"(?:({_USUAL_IRI})[ \t]*)?")


def _any_quad(blank: str) -> str:
    return _statement(_ANY_IRI, blank, _ANY_LITERAL, rf"(?:({_ANY_IRI}|{blank})[ \t]*)?")


_PATTERNS = {
    "nt": {"usual": _statement(*_USUAL, "()"), "any": _statement(*_ANY, "()")},
    "nq": {"usual": _USUAL_QUAD, "any": _any_quad(ANY_BLANK)},
    "converted": {"usual": _USUAL_QUAD, "any": _any_quad(_CONVERTED_BLANK)},
}

_UNTAGGED = r'"\^\^<http://www\.w3\.org/1999/02/22-rdf-syntax-ns#(?:langString|dirLangString)>$'
"""Literals of these types have a tag, and one of the second a direction, instead of the type."""

# --- the statements -----------------------------------------------------------------------------

_MACROS = r"""
CREATE OR REPLACE TEMP MACRO zodiac_nt_piece(t) AS
    CASE WHEN t[1:2] = '\u' OR t[1:2] = '\U'
              THEN zodiac.escape_text(chr(CAST('0x' || t[3:] AS INTEGER)))
         WHEN t = '\b' THEN chr(8)
         WHEN t = '\f' THEN chr(12)
         WHEN t = '\''' THEN ''''
         ELSE t END;

CREATE OR REPLACE TEMP MACRO zodiac_nt_unescaped(t) AS
    CASE WHEN contains(t, '\')
         THEN array_to_string(list_transform(
             regexp_extract_all(t, '\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\.|[^\\]+'),
             lambda piece: zodiac_nt_piece(piece)), '')
         ELSE t END;

-- Empty if an IRI holds, behind an escape, what no IRI may hold.
CREATE OR REPLACE TEMP MACRO zodiac_nt_node(t) AS
    CASE WHEN contains(t, '\')
         THEN regexp_extract(zodiac_nt_unescaped(t), '^<[^\x00-\x20<>"{}|^`\\]*>$')
         ELSE t END;

CREATE OR REPLACE TEMP MACRO zodiac_nt_literal(t) AS
    CASE WHEN ends_with(t, '"') THEN t
         WHEN ends_with(t, '>')
              THEN CASE WHEN contains(t, '\')
                             AND NOT regexp_matches(t, '"\^\^<[^\x00-\x20<>"{}|^`\\]*>$')
                        THEN '' ELSE t END
         WHEN regexp_matches(t, '@[^"]*[A-Z][^"]*$')
              THEN regexp_extract(t, '^(.*)@[^"]*$', 1) || lower(regexp_extract(t, '@[^"]*$'))
         ELSE t END;

CREATE OR REPLACE TEMP MACRO zodiac_nt_object(t) AS
    CASE WHEN starts_with(t, '"') THEN replace(zodiac_nt_unescaped(t), chr(9), '\t')
         ELSE zodiac_nt_node(t) END;
"""

# Each level has one step, because a macro repeats the text of its argument wherever it uses it.
_TERMS = (
    "SELECT {number} line, s, p, named, CASE WHEN ends_with(o, 'angString>')"
    " AND regexp_matches(o, $untagged) THEN ''"
    " WHEN usual OR NOT starts_with(o, '\"') THEN o ELSE zodiac_nt_literal(o) END AS o FROM ("
    "SELECT {number} line, usual, t.g <> '' AS named,"
    " CASE WHEN usual THEN t.s ELSE zodiac_nt_node(t.s) END AS s,"
    " CASE WHEN usual THEN t.p ELSE zodiac_nt_node(t.p) END AS p,"
    " CASE WHEN usual THEN t.o ELSE zodiac_nt_object(t.o) END AS o FROM ("
    "SELECT {number} line, t.s <> '' AS usual, CASE WHEN t.s <> '' THEN t"
    " WHEN line IS NULL OR regexp_full_match(line, '[ \\t]*(#.*)?') THEN NULL"
    " ELSE regexp_extract(line, $any, ['s', 'p', 'o', 'g']) END AS t FROM ("
    "SELECT {number} line, regexp_extract(line, $usual, ['s', 'p', 'o', 'g']) AS t"
    " FROM ({lines}))))"
)
_READ = (
    "CREATE OR REPLACE TEMP TABLE zodiac_triple AS SELECT s, p, o, named FROM ("
    + _TERMS.format(number="", lines=f"SELECT line FROM {LINES}")
    + ")"
)
_READ_NUMBERED = _TERMS.format(
    number="number,", lines=f"SELECT row_number() OVER () AS number, line FROM {LINES}"
)
_MALFORMED = "s = '' OR p = '' OR o = ''"


@dataclass(frozen=True, slots=True)
class TriplesReader:
    """The content of zodiac_triple. Rows of blank lines and comments are NULL, of bad lines ''."""

    triples: int
    graphs: bool
    skipped: tuple[Skipped, ...]
    skipped_count: int
    gone: tuple[int, ...] = ()
    """The rows that were not even read."""


@dataclass(frozen=True, slots=True)
class LineFile:
    """A file of N-Triples or N-Quads.

    If it was made of another file, `original` has the syntax of that one, as pyoxigraph calls it,
    and the file: errors then name no lines of this one.
    """

    source: SourceFile
    syntax: Syntax
    original: tuple[str, SourceFile] | None = None

    @property
    def written(self) -> bool:
        """Whether a user wrote the file."""
        return self.original is None

    @property
    def name(self) -> str:
        return str(self.source.path)

    @property
    def parameters(self) -> dict[str, object]:
        return {"untagged": _UNTAGGED, **_PATTERNS[self.syntax if self.written else "converted"]}


def read(store: Store, file: LineFile, skip_bad: bool) -> TriplesReader:
    """Create the temporary table zodiac_triple(s, p, o, named) from a file.

    Raises DataError if lines are malformed, unless `skip_bad`.
    """
    check_lines(file.source)
    store.run(_MACROS)
    with connect_outside(store) as outside:
        with lines_of(store, outside, file.source):
            store.run(_READ, file.parameters)
        triples, malformed, graphs = store.rows(
            "SELECT count(s), count(*) FILTER (s = '' OR p = '' OR o = ''), bool_or(named)"
            " FROM temp.zodiac_triple"
        )[0]
        unreadable = _unreadable(outside)
    count = malformed + len(unreadable)
    skipped: tuple[Skipped, ...] = ()
    if count:
        found = _rows_where(store, file, _MALFORMED, {})
        bad = [(row, text, triple_terms.reason(text, _NAMES[file.syntax])) for row, text in found]
        skipped = _as_skipped(file, bad + unreadable)
        if file.original is not None:
            skipped = triple_terms.triple_terms(*file.original) or skipped
    if count and not skip_bad:
        raise DataError(refusal(file, skipped, count, _expected(file, skipped)))
    gone = tuple(row for row, _, _ in unreadable)
    return TriplesReader(triples - malformed, bool(graphs), skipped, count, gone)


def line_of(file: LineFile, row: int, reading: TriplesReader) -> int | None:
    """The line of a row of zodiac_triple in the file that a user wrote; None if that takes long."""
    if file.original is not None:
        near = row <= _MOST_COUNTED
        return statement_lines.lines_of(*file.original, [row]).get(row) if near else None
    row = _shifted(row, [*reading.gone])
    return true_lines(file.source.data, [row])[row]


_MOST_COUNTED = 100_000
"""So many statements of a file without lines of its own are read again to tell the line of one."""


def _expected(file: LineFile, bad: tuple[Skipped, ...]) -> str:
    """What would be right instead of some bad lines."""
    if any(one.reason == triple_terms.REASON for one in bad):
        return triple_terms.EXPECTED
    return _EXPECTED[file.syntax] if file.written else "These terms cannot be kept: correct them."


def refusal(file: LineFile, bad: tuple[Skipped, ...], count: int, expected: str) -> str:
    """The message about the lines of a file that were refused, and what would be right."""
    noun = "line" if file.written else "statement"
    lines = noun if count == 1 else f"{noun}s"
    hint = f"{expected} Nothing was loaded; skip_bad loads the rest."
    return f"{file.name}: {count} bad {lines}.\n{listed(bad, count)}\n{hint}"


def located(
    store: Store, file: LineFile, condition: str, values: Mapping[str, object], reason: str
) -> tuple[Skipped, ...]:
    """The first lines whose terms s, p, o meet a condition, which is text of this package.

    This reads the file once more, so it is for errors only.
    """
    found = _rows_where(store, file, condition, values)
    return _as_skipped(file, [(row, text, reason) for row, text in found])


def _rows_where(
    store: Store, file: LineFile, condition: str, values: Mapping[str, object]
) -> list[tuple[int, str]]:
    """The first lines of a file, by number, that meet a condition."""
    matching = f"SELECT number, line FROM ({_READ_NUMBERED}) WHERE {condition}"
    query = f"{matching} ORDER BY number LIMIT {MOST_LISTED}"
    with connect_outside(store) as outside:
        with lines_of(store, outside, file.source):
            found = store.rows(query, {**file.parameters, **values})
        gone = [row for row, _, _ in _unreadable(outside)]
    return [(_shifted(row, gone), text) for row, text in found]


def _unreadable(outside: Store) -> list[tuple[int, str, str]]:
    """Rows that read_csv itself refused, with the reason."""
    rejected = outside.rows(
        "SELECT line, any_value(csv_line), any_value(error_type::VARCHAR)"
        " FROM temp.zodiac_rejected GROUP BY line ORDER BY line"
    )
    return [(row, text, _REJECTIONS.get(kind, kind.lower())) for row, text, kind in rejected]


_REJECTIONS = {"INVALID ENCODING": "not UTF-8"}


def _shifted(row: int, gone: list[int]) -> int:
    """The number of a row among all rows, given its number among those not in `gone`."""
    for other in gone:
        row += other <= row
    return row


def _as_skipped(file: LineFile, bad: list[tuple[int, str, str]]) -> tuple[Skipped, ...]:
    bad = sorted(bad)[:MOST_LISTED]
    if file.original is not None:
        places = statement_lines.lines_of(*file.original, [row for row, _, _ in bad])
        return tuple(Skipped(places.get(row), text, reason) for row, text, reason in bad)
    lines = true_lines(file.source.data, [row for row, _, _ in bad])
    return tuple(Skipped(lines[row], text, reason) for row, text, reason in bad)
