"""urn:zodiac: IRIs (language/urns.py) for whole columns of symbols."""

from __future__ import annotations

from zodiac_sql.facts.load.ntriples import ANY_BLANK

MACROS = r"""
CREATE OR REPLACE TEMP MACRO zodiac_from_urn(t) AS
    CASE WHEN starts_with(t, '<urn:zodiac:')
              AND url_encode(TRY(url_decode(t[13:-2]))) = t[13:-2]
         THEN url_decode(t[13:-2]) ELSE t END;

-- The IRI or blank node, as N-Triples, of any symbol.
CREATE OR REPLACE TEMP MACRO zodiac_as_node(t) AS
    CASE WHEN starts_with(t, '_:') AND regexp_full_match(t, '__label__') THEN t
         WHEN zodiac.kind(t) <> 'iri' OR starts_with(t, 'urn:zodiac:')
              OR regexp_matches(t, '[\x00-\x20]')
              THEN '<urn:zodiac:' || url_encode(t) || '>'
         WHEN starts_with(t, '<') THEN t
         ELSE '<' || t || '>' END;

-- The object that a blank node was which could not be written as one.
CREATE OR REPLACE TEMP MACRO zodiac_blank_from_urn(t) AS
    CASE WHEN starts_with(t, '<urn:zodiac:_%3A') THEN zodiac_from_urn(t) ELSE t END;
""".replace("__label__", ANY_BLANK)
