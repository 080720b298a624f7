"""SQL macros for terms as texts: what they are, their values, how they compare.

NULL stands for an unbound value and for an error. A class is iri, blank, string, lang (a literal
with a language), number, bool, date, zoned date, moment, zoned (a moment in a time zone), or other.

Macros about the value of a term take all of it that is known, which parsed makes of its text, and
known of its row in the dictionary, without parsing.

A macro repeats the text of an argument wherever it uses it, and nested macros would grow without
bound. So each puts its arguments into a list of one element, of which a lambda computes the value.
"""

MACROS = r"""
CREATE OR REPLACE TEMP MACRO zodiac_sparql_digits(v, d) AS
    CASE WHEN d IN ('double', 'float')
              THEN CASE WHEN v IN ('INF', '+INF', '-INF', 'NaN')
                             OR regexp_full_match(
                                 v, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?')
                        THEN TRY_CAST(v AS DOUBLE) END
         WHEN d = 'decimal'
              THEN CASE WHEN regexp_full_match(v, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)')
                        THEN TRY_CAST(v AS DOUBLE) END
         WHEN d IN ('integer', 'long', 'int', 'short', 'byte', 'nonNegativeInteger',
                    'positiveInteger', 'nonPositiveInteger', 'negativeInteger', 'unsignedLong',
                    'unsignedInt', 'unsignedShort', 'unsignedByte')
              THEN CASE WHEN regexp_full_match(v, '[+-]?[0-9]+') THEN TRY_CAST(v AS DOUBLE) END END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_moment_of(v, zoned) AS
    CASE WHEN zoned THEN make_timestamp(epoch_us(TRY_CAST(v AS TIMESTAMPTZ)))
         ELSE TRY_CAST(v AS TIMESTAMP) END;

-- The number, and the moment, of a literal with a datatype of XSD. A date is its first moment.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_read(v, d) AS
    CASE WHEN d = 'dateTime' OR d = 'date'
         THEN {'n': NULL::DOUBLE,
               'm': CASE WHEN d = 'date' AND regexp_full_match(
                             v, '[0-9]{4}-[0-9]{2}-[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?')
                         THEN zodiac_sparql_moment_of(
                             v[1:10] || 'T00:00:00' || v[11:],
                             regexp_matches(v, '(Z|[+-][0-9]{2}:[0-9]{2})$'))
                         WHEN d = 'dateTime' AND regexp_full_match(
                             v, '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,}(Z|[+-][0-9]{2}:[0-9]{2})?')
                         THEN zodiac_sparql_moment_of(
                             v, regexp_matches(v, '(Z|[+-][0-9]{2}:[0-9]{2})$')) END}
         ELSE {'n': zodiac_sparql_digits(v, d), 'm': NULL::TIMESTAMP} END;

CREATE OR REPLACE TEMP MACRO zodiac_sparql_class_of(c, v, d, r) AS
    CASE WHEN c IS NULL OR c <> 'typed' THEN c
         WHEN r.n IS NOT NULL THEN 'number'
         WHEN d = 'boolean' AND v IN ('true', 'false', '0', '1') THEN 'bool'
         WHEN r.m IS NOT NULL AND regexp_matches(v, '(Z|[+-][0-9]{2}:[0-9]{2})$')
         THEN CASE d WHEN 'date' THEN 'zoned date' ELSE 'zoned' END
         WHEN r.m IS NOT NULL THEN CASE d WHEN 'date' THEN 'date' ELSE 'moment' END
         ELSE 'other' END;

-- All of a term: text t, class c, characters v, local name of an XSD datatype d, number n, the same
-- exactly e if it has room, and moment m.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_parsed(given) AS
    list_transform(list_transform(list_transform([given], lambda t: {
        't': t,
        'c': CASE WHEN t IS NULL THEN NULL
                  WHEN t[1] = '"'
                  THEN CASE t[-1] WHEN '"' THEN 'string' WHEN '>' THEN 'typed' ELSE 'lang' END
                  WHEN t[1] = '<' OR zodiac.looks_like_iri(t) THEN 'iri'
                  WHEN t[1:2] = '_:' THEN 'blank'
                  ELSE 'string' END,
        'v': zodiac.lexical(t),
        'd': CASE WHEN t[1] = '"' AND t[-1] = '>'
                  THEN regexp_extract(
                      t, '"\^\^<http://www\.w3\.org/2001/XMLSchema#([^<>]*)>$', 1) END}),
        lambda t: {'t': t.t, 'c': t.c, 'v': t.v, 'd': t.d, 'r': zodiac_sparql_read(t.v, t.d)}),
        lambda t: {'t': t.t, 'c': zodiac_sparql_class_of(t.c, t.v, t.d, t.r), 'v': t.v, 'd': t.d,
                   'n': t.r.n,
                   'e': CASE WHEN t.r.n IS NOT NULL AND t.d NOT IN ('double', 'float')
                                  AND regexp_full_match(
                                      t.v, '[+-]?[0-9]*([.][0-9]{0,18}0*)?')
                             THEN TRY_CAST(t.v AS DECIMAL(38, 18)) END,
                   'm': t.r.m})[1];

-- The same of a symbol, from its row of the dictionary. A few literals have no value there.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_known(given, kind, sort, exact, number, moment) AS
    list_transform([{
        't': given, 'k': kind, 's': sort, 'e': exact, 'n': number, 'm': moment}], lambda r:
        CASE WHEN r.s IS NULL AND r.k <> 'literal'
             THEN {'t': r.t, 'c': CASE r.k WHEN 'plain' THEN 'string' ELSE r.k END,
                   'v': zodiac.lexical(r.t), 'd': NULL::VARCHAR,
                   'n': NULL::DOUBLE, 'e': NULL::DECIMAL(38, 18), 'm': NULL::TIMESTAMP}
             WHEN r.s IS NULL THEN zodiac_sparql_parsed(r.t)
             ELSE {'t': r.t,
                   'c': CASE r.s WHEN 4 THEN 'bool' WHEN 5 THEN 'date' WHEN 6 THEN 'moment'
                                 WHEN 7 THEN 'zoned' ELSE 'number' END,
                   'v': split_part(r.t, '"', 2), 'd': rtrim(split_part(r.t, '#', 2), '>'),
                   'n': r.n, 'e': r.e, 'm': r.m} END)[1];

-- What a clock shows at a moment, and a calendar at a date, in the zone that is written.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_wall(given, timed) AS
    list_transform([given], lambda t:
        CASE WHEN t.c IN ('moment', 'zoned') OR (NOT timed AND t.c IN ('date', 'zoned date'))
             THEN TRY_CAST(regexp_replace(t.v, '(Z|[+-][0-9]{2}:[0-9]{2})$', '') AS TIMESTAMP)
             END)[1];

-- 0 integer, 1 decimal, 2 float, 3 double
CREATE OR REPLACE TEMP MACRO zodiac_sparql_rank(given) AS
    list_transform([given], lambda t:
        CASE WHEN t.n IS NULL THEN NULL ELSE
             CASE t.d WHEN 'decimal' THEN 1 WHEN 'float' THEN 2 WHEN 'double' THEN 3 ELSE 0 END
        END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_higher(first, second) AS
    list_transform([[first, second]], lambda r:
        CASE WHEN r[1] IS NOT NULL AND r[2] IS NOT NULL THEN greatest(r[1], r[2]) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_language(given) AS
    list_transform([given], lambda t:
        CASE WHEN t[1] = '"' AND t[-1] NOT IN ('"', '>')
             THEN regexp_extract(t, '@([^"@]*)$', 1)
             WHEN t[1] = '<' OR t[1:2] = '_:' OR zodiac.looks_like_iri(t) THEN NULL
             WHEN t IS NULL THEN NULL ELSE '' END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_datatype(given) AS
    list_transform([given], lambda t:
        CASE WHEN t[1] = '<' OR t[1:2] = '_:' OR zodiac.looks_like_iri(t) OR t IS NULL THEN NULL
             WHEN t[1] <> '"' OR t[-1] = '"' OR t = ''
             THEN 'http://www.w3.org/2001/XMLSchema#string'
             WHEN t[-1] <> '>' THEN 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString'
             ELSE zodiac.canonical('<' || regexp_extract(t, '"\^\^<([^<>]*)>$', 1) || '>') END)[1];

-- Characters of an IRI or a literal.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_str(given) AS
    list_transform([given], lambda t:
        CASE WHEN t[1:2] = '_:' THEN NULL ELSE zodiac.lexical(t) END)[1];

-- Characters of a string, with or without language, for functions of strings.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_string(given) AS
    list_transform([given], lambda t:
        CASE WHEN t[1] = '<' OR t[1:2] = '_:' OR (t[1] = '"' AND t[-1] = '>')
                  OR zodiac.looks_like_iri(t) THEN NULL
             ELSE zodiac.lexical(t) END)[1];

-- A string with the language of another.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_alike(given, characters) AS
    list_transform([[given, characters]], lambda p:
        CASE WHEN p[2] IS NULL OR p[1] IS NULL THEN NULL
             WHEN p[1][1] = '"' AND p[1][-1] <> '"'
             THEN '"' || zodiac.escape_text(p[2]) || '"' || regexp_extract(p[1], '@[^"@]*$')
             ELSE zodiac.quote_where_needed(p[2]) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_nonzero(given) AS
    list_transform([given], lambda x: x <> 0 AND NOT isnan(x::DOUBLE))[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_truth(given) AS
    list_transform([given], lambda t:
        CASE t.c WHEN 'bool' THEN t.v IN ('true', '1')
                 WHEN 'string' THEN t.v <> ''
                 WHEN 'number' THEN t.n <> 0 AND NOT isnan(t.n) END)[1];

-- -1, 0, 1; 2 where one is no number (NaN); NULL where there is no order.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_sign(first, second) AS
    list_transform([[first, second]], lambda s:
        CASE WHEN s[1] < s[2] THEN -1 WHEN s[1] > s[2] THEN 1 WHEN s[1] = s[2] THEN 0 END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_number_order(first, second) AS
    list_transform([[first::DOUBLE, second::DOUBLE]], lambda s:
        CASE WHEN isnan(s[1]) OR isnan(s[2]) THEN 2
             WHEN s[1] < s[2] THEN -1 WHEN s[1] > s[2] THEN 1 WHEN s[1] = s[2] THEN 0 END)[1];

-- -1 or 1 for an instant and a moment in no time zone, if they are more than 14 hours apart. Else
-- nobody knows which is first, and whether they are equal.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_apart(instant, local) AS
    list_transform([[instant, local]], lambda m:
        CASE WHEN m[1] < m[2] - INTERVAL 14 HOUR THEN -1
             WHEN m[1] > m[2] + INTERVAL 14 HOUR THEN 1 END)[1];

-- The same for two of the classes that have moments.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_moments(first, second) AS
    list_transform([[first, second]], lambda p:
        CASE WHEN p[1].c = p[2].c THEN zodiac_sparql_sign(p[1].m, p[2].m)
             WHEN p[1].c IN ('date', 'zoned date') <> p[2].c IN ('date', 'zoned date') THEN NULL
             WHEN p[1].c IN ('zoned', 'zoned date') THEN zodiac_sparql_apart(p[1].m, p[2].m)
             ELSE -zodiac_sparql_apart(p[2].m, p[1].m) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_equal(first, second) AS
    list_transform([[first, second]], lambda p:
        CASE WHEN p[1].t IS NULL OR p[2].t IS NULL THEN NULL
             WHEN p[1].c = 'number' AND p[2].c = 'number'
             THEN coalesce(p[1].e = p[2].e, p[1].n = p[2].n AND NOT isnan(p[1].n))
             WHEN p[1].t = p[2].t THEN true
             WHEN p[1].c IN ('iri', 'blank', 'lang') OR p[2].c IN ('iri', 'blank', 'lang')
             THEN false
             WHEN p[1].c = 'other' OR p[2].c = 'other' THEN NULL
             WHEN p[1].m IS NOT NULL AND p[2].m IS NOT NULL
                  AND p[1].c IN ('date', 'zoned date') = p[2].c IN ('date', 'zoned date')
             THEN zodiac_sparql_moments(p[1], p[2]) = 0
             WHEN p[1].c = 'bool' AND p[2].c = 'bool'
             THEN (p[1].v IN ('true', '1')) = (p[2].v IN ('true', '1'))
             ELSE false END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_order(first, second) AS
    list_transform([[first, second]], lambda p:
        CASE WHEN p[1].m IS NOT NULL AND p[2].m IS NOT NULL
             THEN zodiac_sparql_moments(p[1], p[2])
             WHEN p[1].c <> p[2].c THEN NULL
             WHEN p[1].c = 'number'
             THEN coalesce(zodiac_sparql_sign(p[1].e, p[2].e),
                           zodiac_sparql_number_order(p[1].n, p[2].n))
             WHEN p[1].c = 'string' THEN zodiac_sparql_sign(p[1].v, p[2].v)
             WHEN p[1].c = 'bool'
             THEN zodiac_sparql_sign(p[1].v IN ('true', '1'), p[2].v IN ('true', '1')) END)[1];

-- What to sort a term by: blank nodes, IRIs, literals. What is unbound has nothing to sort by.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_place(given) AS
    list_transform([given], lambda t: CASE WHEN t.t IS NOT NULL THEN {
        'place': list_position(['blank', 'iri', 'number', 'bool', 'string', 'lang', 'date',
                                'moment', 'other'],
                               CASE t.c WHEN 'zoned' THEN 'moment' WHEN 'zoned date' THEN 'date'
                                        ELSE t.c END),
        'number': t.n, 'exact': t.e, 'moment': t.m, 'text': t.v, 'term': t.t} END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_double_text(x) AS
    CASE WHEN isnan(x) THEN 'NaN' WHEN isinf(x) AND x > 0 THEN 'INF' WHEN isinf(x) THEN '-INF'
         ELSE x::VARCHAR END;

-- A number of any rank as a literal. Integers and decimals that have no room are doubles.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_numeral(number, exact, rank) AS
    list_transform([{'n': number::DOUBLE, 'e': exact::DECIMAL(38, 18), 'r': rank}], lambda p:
        CASE WHEN p.r IS NULL THEN NULL
             WHEN p.r = 0 AND p.e IS NOT NULL
             THEN '"' || p.e::HUGEINT || '"^^<http://www.w3.org/2001/XMLSchema#integer>'
             WHEN p.r = 1 AND p.e IS NOT NULL
             THEN '"' || regexp_replace(p.e::VARCHAR, '([.][0-9]+?)0*$', '\1')
                      || '"^^<http://www.w3.org/2001/XMLSchema#decimal>'
             ELSE '"' || zodiac_sparql_double_text(p.n) || '"^^<http://www.w3.org/2001/XMLSchema#'
                      || CASE p.r WHEN 2 THEN 'float' ELSE 'double' END || '>' END)[1];

-- The sum of a list of decimals; NULL if it has no room.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_total(given) AS
    list_transform(list_transform([given], lambda l: TRY(list_sum(l))),
        lambda s: CASE WHEN abs(s) <= 99999999999999999999.999999999999999999 THEN s END)[1];

-- The decimal that is written as a float; NULL if it has no room.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_as_decimal(given) AS
    list_transform(list_transform([given], lambda n: {
        'n': n, 'e': TRY_CAST(n::VARCHAR AS DECIMAL(38, 18))}),
        lambda p: CASE WHEN p.e::DOUBLE = p.n THEN p.e END)[1];

-- Integers and decimals are not divided by zero.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_quotient(first, second, exact) AS
    list_transform([[first::DOUBLE, second::DOUBLE, exact::INTEGER::DOUBLE]], lambda p:
        CASE WHEN p[2] <> 0 THEN p[1] / p[2]
             WHEN p[3] = 1 OR p[1] IS NULL THEN NULL
             WHEN p[1] = 0 OR isnan(p[1]) THEN 'nan'::DOUBLE
             WHEN p[1] > 0 THEN 'inf'::DOUBLE
             ELSE '-inf'::DOUBLE END)[1];

-- Casts. What XPath does not cast has no value.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_to_number(given, datatype) AS
    list_transform(list_transform([given], lambda t:
        CASE t.c WHEN 'number' THEN t.n
                 WHEN 'bool' THEN (t.v IN ('true', '1'))::INTEGER::DOUBLE
                 WHEN 'string' THEN zodiac_sparql_digits(t.v, datatype) END),
        lambda n: CASE WHEN datatype <> 'decimal' OR isfinite(n) THEN n END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_to_decimal(given) AS
    list_transform([given], lambda t:
        CASE WHEN t.e IS NOT NULL THEN t.e
             WHEN t.c = 'string' AND regexp_full_match(
                      t.v, '[+-]?([0-9]+([.][0-9]{0,18}0*)?|[.][0-9]{1,18}0*)')
             THEN TRY_CAST(t.v AS DECIMAL(38, 18))
             ELSE zodiac_sparql_as_decimal(zodiac_sparql_to_number(t, 'decimal')) END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_to_integer(given) AS
    list_transform([given], lambda t:
        CASE WHEN t.c IN ('number', 'string') AND regexp_full_match(t.v, '[+-]?[0-9]+')
             THEN TRY_CAST(t.v AS BIGINT)
             WHEN t.e IS NOT NULL THEN TRY_CAST(trunc(t.e) AS BIGINT)
             WHEN t.c = 'number' THEN TRY_CAST(trunc(t.n) AS BIGINT)
             WHEN t.c = 'bool' THEN (t.v IN ('true', '1'))::INTEGER::BIGINT END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_to_boolean(given) AS
    list_transform([given], lambda t:
        CASE WHEN t.c = 'number' THEN t.n <> 0 AND NOT isnan(t.n)
             WHEN t.c IN ('bool', 'string') AND t.v IN ('true', '1') THEN true
             WHEN t.c IN ('bool', 'string') AND t.v IN ('false', '0') THEN false END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_to_date(given) AS
    list_transform(list_transform([given], lambda t:
        CASE WHEN t.c IN ('date', 'zoned date', 'moment', 'zoned')
             THEN t.v[1:10] || regexp_extract(t.v, '(Z|[+-][0-9]{2}:[0-9]{2})$')
             WHEN t.c = 'string' THEN t.v END),
        lambda v: CASE WHEN struct_extract(zodiac_sparql_read(v, 'date'), 'm') IS NOT NULL
                       THEN '"' || v || '"^^<http://www.w3.org/2001/XMLSchema#date>' END)[1];

-- The digits of a decimal without zeros that say nothing.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_short(v) AS
    list_transform(list_transform([ltrim(v, '+-')], lambda b:
        CASE WHEN contains(b, '.') THEN rtrim(rtrim(b, '0'), '.') ELSE b END),
        lambda b: CASE WHEN ltrim(b, '0.') = '' THEN '0' ELSE
            CASE WHEN v[1] = '-' THEN '-' ELSE '' END ||
            CASE WHEN ltrim(b, '0')[1] = '.' THEN '0' ELSE '' END || ltrim(b, '0') END)[1];

-- The canonical digits of a double: 1, 0.5, 1.0E6.
CREATE OR REPLACE TEMP MACRO zodiac_sparql_double_digits(given) AS
    list_transform(list_transform([given], lambda x: {
        'x': abs(x), 'sign': CASE WHEN x < 0 THEN '-' ELSE '' END,
        'digits': rtrim(replace(regexp_extract(abs(x)::VARCHAR, '^[^e]*'), '.', ''), '0'),
        'exponent': TRY_CAST(regexp_extract(format('{:e}', abs(x)), 'e(.*)$', 1) AS INTEGER)}),
        lambda p: CASE WHEN NOT isfinite(p.x) THEN p.sign || zodiac_sparql_double_text(p.x)
            WHEN p.x = 0 THEN '0'
            WHEN p.x >= 1e6 OR p.x < 1e-6
            THEN p.sign || ltrim(p.digits, '0')[1] || '.'
                 || CASE WHEN ltrim(p.digits, '0')[2:] = '' THEN '0'
                         ELSE ltrim(p.digits, '0')[2:] END || 'E' || p.exponent
            WHEN p.x = trunc(p.x) THEN p.sign || p.x::BIGINT
            WHEN p.x < 1e-4
            THEN p.sign || '0.' || repeat('0', -p.exponent - 1) || p.digits
            ELSE p.sign || p.x::VARCHAR END)[1];

CREATE OR REPLACE TEMP MACRO zodiac_sparql_to_string(given) AS
    list_transform([given], lambda t:
        CASE WHEN t.c = 'number' AND t.d IN ('double', 'float')
             THEN zodiac_sparql_double_digits(t.n)
             WHEN t.c = 'number' THEN zodiac_sparql_short(t.v)
             WHEN t.c = 'bool' THEN (t.v IN ('true', '1'))::VARCHAR
             WHEN t.c <> 'blank' THEN t.v END)[1];
"""
