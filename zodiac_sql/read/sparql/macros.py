"""SQL macros for terms as texts: of which class they are, their values, how they compare.

NULL stands for an unbound value and for an error. A class is iri, blank, string, lang (a literal with
a language), number, bool, date, moment, zoned (a moment in a time zone), or other.
"""

MACROS = r"""
CREATE OR REPLACE TEMP MACRO zodiac_sparql_datatype(t) AS
    CASE WHEN t[1] = '"' AND t[-1] = '>' THEN regexp_extract(t, '"\^\^<([^<>]*)>$', 1) END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_digits(p) AS
    CASE WHEN p.d IN ('double', 'float')
              THEN CASE WHEN p.v IN ('INF', '+INF', '-INF', 'NaN')
                             OR regexp_full_match(
                                 p.v, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?')
                        THEN TRY_CAST(p.v AS DOUBLE) END
         WHEN p.d = 'decimal'
              THEN CASE WHEN regexp_full_match(p.v, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
                        THEN TRY_CAST(p.v AS DOUBLE) END
         WHEN p.d <> '' AND regexp_full_match(p.v, '[+-]?[0-9]+') THEN TRY_CAST(p.v AS DOUBLE) END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_number(t) AS
    CASE WHEN t[1] = '"' AND t[-1] = '>'
         THEN zodiac_sparql_digits(regexp_extract(
             t, '^"([^"]*)"\^\^<http://www\.w3\.org/2001/XMLSchema#(integer|decimal|double|float|'
                || 'long|int|short|byte|nonNegativeInteger|positiveInteger|nonPositiveInteger|'
                || 'negativeInteger|unsignedLong|unsignedInt|unsignedShort|unsignedByte)>$',
             ['v', 'd'])) END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_rank(t) AS
    CASE WHEN zodiac_sparql_number(t) IS NULL THEN NULL
         WHEN ends_with(t, '#decimal>') THEN 1 WHEN ends_with(t, '#float>') THEN 2
         WHEN ends_with(t, '#double>') THEN 3 ELSE 0 END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_typed_class(v, d) AS
    CASE d
    WHEN 'boolean' THEN CASE WHEN v IN ('true', 'false', '0', '1') THEN 'bool' ELSE 'other' END
    WHEN 'date' THEN CASE WHEN regexp_full_match(v, '[0-9]{4}-[0-9]{2}-[0-9]{2}')
                               AND TRY_CAST(v AS DATE) IS NOT NULL THEN 'date' ELSE 'other' END
    WHEN 'dateTime' THEN
         CASE WHEN NOT regexp_full_match(v, '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,}'
                                            || '(Z|[+-][0-9]{2}:[0-9]{2})?') THEN 'other'
              WHEN TRY_CAST(v AS TIMESTAMP) IS NULL AND TRY_CAST(v AS TIMESTAMPTZ) IS NULL
              THEN 'other'
              WHEN regexp_matches(v, '(Z|[+-][0-9]{2}:[0-9]{2})$') THEN 'zoned' ELSE 'moment' END
    ELSE 'other' END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_class(t) AS
    CASE WHEN t IS NULL THEN NULL
         WHEN t[1] = '<' OR zodiac.looks_like_iri(t) THEN 'iri'
         WHEN t[1:2] = '_:' THEN 'blank'
         WHEN t = '' OR t[1] <> '"' OR t[-1] = '"' THEN 'string'
         WHEN t[-1] <> '>' THEN 'lang'
         WHEN zodiac_sparql_number(t) IS NOT NULL THEN 'number'
         ELSE zodiac_sparql_typed_class(
             zodiac.lexical(t),
             CASE WHEN starts_with(zodiac_sparql_datatype(t), 'http://www.w3.org/2001/XMLSchema#')
                  THEN substr(zodiac_sparql_datatype(t), 34)
                  ELSE '' END) END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_language(t) AS
    CASE zodiac_sparql_class(t) WHEN 'lang' THEN regexp_extract(t, '@([^"@]*)$', 1)
         WHEN 'iri' THEN NULL WHEN 'blank' THEN NULL ELSE '' END;

-- The text of a string, with or without language, for functions of strings.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_string(t) AS
    CASE WHEN zodiac_sparql_class(t) IN ('string', 'lang') THEN zodiac.lexical(t) END;

-- A string with the language of another.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_alike(t, s) AS
    CASE zodiac_sparql_class(t)
    WHEN 'string' THEN zodiac.quote_where_needed(s)
    WHEN 'lang' THEN '"' || zodiac.escape_text(s) || '"' || regexp_extract(t, '@[^"@]*$') END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_moment(t) AS
    CASE WHEN regexp_matches(zodiac.lexical(t), '(Z|[+-][0-9]{2}:[0-9]{2})$')
         THEN make_timestamp(epoch_us(TRY_CAST(zodiac.lexical(t) AS TIMESTAMPTZ)))
         ELSE TRY_CAST(zodiac.lexical(t) AS TIMESTAMP) END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_truth(t) AS
    CASE zodiac_sparql_class(t)
    WHEN 'bool' THEN zodiac.lexical(t) IN ('true', '1')
    WHEN 'string' THEN zodiac.lexical(t) <> ''
    WHEN 'number' THEN zodiac_sparql_number(t) <> 0 AND NOT isnan(zodiac_sparql_number(t)) END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_equal(a, b) AS
    CASE WHEN a IS NULL OR b IS NULL THEN NULL
         WHEN a = b THEN NOT coalesce(isnan(zodiac_sparql_number(a)), false)
         ELSE CASE
         WHEN zodiac_sparql_class(a) IN ('iri', 'blank') OR zodiac_sparql_class(b) IN ('iri', 'blank')
              THEN false
         WHEN zodiac_sparql_class(a) = 'other' OR zodiac_sparql_class(b) = 'other' THEN NULL
         WHEN zodiac_sparql_class(a) <> zodiac_sparql_class(b)
              THEN CASE WHEN zodiac_sparql_class(a) IN ('moment', 'zoned')
                             AND zodiac_sparql_class(b) IN ('moment', 'zoned') THEN NULL
                        ELSE false END
         ELSE CASE zodiac_sparql_class(a)
              WHEN 'number' THEN zodiac_sparql_number(a) = zodiac_sparql_number(b)
                                 AND NOT isnan(zodiac_sparql_number(a))
              WHEN 'bool' THEN (zodiac.lexical(a) IN ('true', '1'))
                               = (zodiac.lexical(b) IN ('true', '1'))
              WHEN 'moment' THEN zodiac_sparql_moment(a) = zodiac_sparql_moment(b)
              WHEN 'zoned' THEN zodiac_sparql_moment(a) = zodiac_sparql_moment(b)
              ELSE false END END END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_less(a, b) AS
    CASE WHEN zodiac_sparql_class(a) <> zodiac_sparql_class(b) THEN NULL
         ELSE CASE zodiac_sparql_class(a)
              WHEN 'number' THEN zodiac_sparql_number(a) < zodiac_sparql_number(b)
                                 AND NOT isnan(zodiac_sparql_number(b))
              WHEN 'string' THEN zodiac.lexical(a) < zodiac.lexical(b)
              WHEN 'bool' THEN (zodiac.lexical(a) IN ('true', '1'))
                               < (zodiac.lexical(b) IN ('true', '1'))
              WHEN 'date' THEN TRY_CAST(zodiac.lexical(a) AS DATE)
                               < TRY_CAST(zodiac.lexical(b) AS DATE)
              WHEN 'moment' THEN zodiac_sparql_moment(a) < zodiac_sparql_moment(b)
              WHEN 'zoned' THEN zodiac_sparql_moment(a) < zodiac_sparql_moment(b) END END;

-- Where a term stands among others: blank nodes, IRIs, literals.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_place(t) AS
    CASE zodiac_sparql_class(t) WHEN 'blank' THEN 0 WHEN 'iri' THEN 1 WHEN 'number' THEN 2
         WHEN 'bool' THEN 3 WHEN 'string' THEN 4 WHEN 'lang' THEN 5 WHEN 'date' THEN 6
         WHEN 'moment' THEN 7 WHEN 'zoned' THEN 7 WHEN 'other' THEN 8 END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_numeral(x, rank) AS
    CASE rank
    WHEN 0 THEN '"' || TRY_CAST(x AS HUGEINT)::VARCHAR
                || '"^^<http://www.w3.org/2001/XMLSchema#integer>'
    WHEN 1 THEN '"' || x::DOUBLE::VARCHAR || '"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    ELSE '"' || CASE WHEN isnan(x::DOUBLE) THEN 'NaN'
                     WHEN isinf(x::DOUBLE) THEN CASE WHEN x > 0 THEN 'INF' ELSE '-INF' END
                     ELSE x::DOUBLE::VARCHAR END
         || CASE rank WHEN 2 THEN '"^^<http://www.w3.org/2001/XMLSchema#float>'
                      ELSE '"^^<http://www.w3.org/2001/XMLSchema#double>' END END;
"""
