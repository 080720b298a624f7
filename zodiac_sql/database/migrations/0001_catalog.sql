-- The catalog, and three schemas (ARCHITECTURE.md, "What is in the file").
-- Schema zodiac exists by now: what the program is.
CREATE SCHEMA edb;      -- edb."p": explicit facts of p, exactly what was asserted
CREATE SCHEMA idb;      -- idb."h7_p": what hypernode 7 derives of p

CREATE TABLE zodiac.prefix (
    prefix VARCHAR PRIMARY KEY,
    iri    VARCHAR NOT NULL
);

CREATE TABLE zodiac.hypernode (
    id        INTEGER PRIMARY KEY,
    position  INTEGER NOT NULL,      -- in the topological order of the HRDG
    stratum   INTEGER NOT NULL,
    recursive BOOLEAN NOT NULL
);

CREATE TABLE zodiac.counter (
    next_hypernode INTEGER NOT NULL,  -- numbers are never reused
    generation     BIGINT NOT NULL    -- how many changes were published
);
INSERT INTO zodiac.counter VALUES (1, 0);

CREATE TABLE zodiac.hyperedge (
    source   INTEGER NOT NULL,
    target   INTEGER NOT NULL,
    negative BOOLEAN NOT NULL
);

CREATE TABLE zodiac.rule (
    name      VARCHAR PRIMARY KEY,
    source    VARCHAR NOT NULL,      -- the rule as written, without its label
    prefixes  MAP(VARCHAR, VARCHAR) NOT NULL,  -- those it uses, as they were when it was added
    head      VARCHAR NOT NULL,      -- the predicate it derives
    position  INTEGER NOT NULL,      -- order of arrival
    hypernode INTEGER NOT NULL,
    added_at  TIMESTAMP NOT NULL     -- UTC
);

CREATE TABLE zodiac.predicate (
    name      VARCHAR PRIMARY KEY,   -- plain name or absolute IRI, case matters
    sql_name  VARCHAR NOT NULL,      -- unique even where case is ignored
    arity     INTEGER NOT NULL,
    columns   VARCHAR[] NOT NULL,
    types     VARCHAR[] NOT NULL,    -- NULL while neither a fact nor a rule has settled it
    settled   VARCHAR[] NOT NULL,    -- of types, those fixed by a declaration or by facts
    datatypes VARCHAR[] NOT NULL,    -- RDF datatype of a native column, for export; else NULL
    declared  BOOLEAN NOT NULL
);

CREATE TABLE zodiac.function (
    name       VARCHAR PRIMARY KEY,  -- a function from Python that rules use
    aggregate  BOOLEAN NOT NULL,
    parameters VARCHAR[] NOT NULL,
    returns    VARCHAR NOT NULL
);

-- Kinds: iri, blank, plain (a symbol or a string without datatype), literal (the rest).
CREATE TABLE zodiac.symbol (
    id   INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL
);

-- The text of a symbol is unique, and shows its kind: an IRI with :// or urn: stands bare,
-- others in <>; blank nodes begin with _: ; literals stand in quotes with @language or
-- ^^<datatype>; everything else is a plain string, in quotes only where it could be misread.

CREATE MACRO zodiac.escape_text(t) AS
    replace(replace(replace(replace(replace(t, '\', '\\'), '"', '\"'), chr(10), '\n'), chr(13), '\r'), chr(9), '\t');

CREATE MACRO zodiac.unescape_text(t) AS
    CASE WHEN contains(t, '\') THEN
        array_to_string(list_transform(string_split(t, '\\'), lambda piece:
            replace(replace(replace(replace(
                piece, '\"', '"'), '\n', chr(10)), '\r', chr(13)), '\t', chr(9))), '\')
    ELSE t END;

CREATE MACRO zodiac.looks_like_iri(t) AS
    regexp_full_match(t, '([A-Za-z][A-Za-z0-9+.-]*://|urn:)[^\s<>"{}|\\^`]*');

CREATE MACRO zodiac.quote_where_needed(t) AS
    CASE WHEN t[1] IN ('<', '"') OR t[1:2] = '_:' OR zodiac.looks_like_iri(t)
         THEN '"' || zodiac.escape_text(t) || '"' ELSE t END;

-- The text of the term that some text from outside denotes: N-Triples terms and plain strings.
-- The common cases come first, with one regular expression each.
CREATE MACRO zodiac.canonical(t) AS
    CASE WHEN t[1] NOT IN ('<', '"') THEN t
         WHEN t[1] = '<' THEN
              CASE WHEN t[-1] = '>' AND zodiac.looks_like_iri(t[2:-2]) THEN t[2:-2]
                   WHEN regexp_full_match(t, '<[^\s<>"{}|\\^`]*>') THEN t
                   ELSE zodiac.quote_where_needed(t) END
         WHEN regexp_full_match(t, '"([^"\\\n\r]|\\.)*"')
              THEN zodiac.quote_where_needed(zodiac.unescape_text(t[2:-2]))
         WHEN regexp_full_match(t, '"([^"\\\n\r]|\\.)*"\^\^<http://www\.w3\.org/2001/XMLSchema#string>')
              THEN zodiac.quote_where_needed(zodiac.unescape_text(regexp_extract(t, '^"(.*)"', 1)))
         WHEN regexp_full_match(t, '"([^"\\\n\r]|\\.)*"@[A-Za-z][A-Za-z0-9-]*')
              THEN regexp_extract(t, '^(".*")@', 1) || lower(regexp_extract(t, '@[A-Za-z0-9-]*$'))
         WHEN regexp_full_match(t, '"([^"\\\n\r]|\\.)*"\^\^<[^\s<>"{}|\\^`]*>') THEN t
         ELSE zodiac.quote_where_needed(t) END;

CREATE MACRO zodiac.kind(t) AS
    CASE WHEN t[1] = '<' OR zodiac.looks_like_iri(t) THEN 'iri'
         WHEN t[1:2] = '_:' THEN 'blank'
         WHEN t[1] = '"' AND t[-1] <> '"' THEN 'literal'
         ELSE 'plain' END;

-- What a person means by the text: the string itself, without quotes, language or datatype.
CREATE MACRO zodiac.lexical(t) AS
    CASE WHEN t[1] = '"' THEN zodiac.unescape_text(regexp_extract(t, '^"(.*)"', 1, 's'))
         WHEN t[1] = '<' THEN t[2:-2] ELSE t END;
