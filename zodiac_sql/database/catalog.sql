-- The catalog as the newest version has it: what a new file gets. Files of older versions are brought
-- to the same by migrations/, one after the other. (ARCHITECTURE.md, "What is in the file".)
-- No table has a primary key: migration 6 says why.
CREATE SCHEMA IF NOT EXISTS zodiac;  -- what the program is
CREATE SCHEMA edb;                   -- edb."p": explicit facts of p, exactly what was asserted
CREATE SCHEMA idb;                   -- idb."h7_p": what hypernode 7 derives of p
CREATE SCHEMA hd;                    -- hd."h7_r3_n1": a node of the hypertree of rule r3

-- What has brought the file up to date.
CREATE TABLE zodiac.migration (
    version    INTEGER NOT NULL,
    name       VARCHAR NOT NULL,
    applied_at TIMESTAMP NOT NULL
);

CREATE TABLE zodiac.prefix (
    prefix VARCHAR NOT NULL,
    iri    VARCHAR NOT NULL
);

CREATE TABLE zodiac.hypernode (
    id        INTEGER NOT NULL,
    position  INTEGER NOT NULL,      -- in the topological order of the HRDG
    stratum   INTEGER NOT NULL,
    recursive BOOLEAN NOT NULL,
    ranked    BOOLEAN NOT NULL,      -- whether ranks may be relied upon: migration 2
    modules   STRUCT(kind VARCHAR, predicate VARCHAR, fed BOOLEAN, parted BOOLEAN, unequal BOOLEAN,
                     covers BOOLEAN)[] NOT NULL  -- migration 3
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
    name       VARCHAR NOT NULL,
    source     VARCHAR NOT NULL,     -- the rule as written, without its label
    prefixes   MAP(VARCHAR, VARCHAR) NOT NULL,  -- those it uses, as they were when it was added
    head       VARCHAR NOT NULL,     -- the predicate it derives
    position   INTEGER NOT NULL,     -- order of arrival
    hypernode  INTEGER NOT NULL,
    added_at   TIMESTAMP NOT NULL,   -- UTC
    template   VARCHAR,              -- the rule with variables for predicates that it was made of,
    predicates VARCHAR[]             -- and what was put in for these: migration 9
);

-- Rules with variables for predicates: migration 9.
CREATE TABLE zodiac.template (
    name     VARCHAR NOT NULL,
    source   VARCHAR NOT NULL,
    prefixes MAP(VARCHAR, VARCHAR) NOT NULL,
    position INTEGER NOT NULL,
    added_at TIMESTAMP NOT NULL
);

-- Rules whose facts were derived when aggregates meant something else: migration 16.
CREATE TABLE zodiac.former_rule (
    name VARCHAR NOT NULL
);

-- Which rules came together: migration 8.
CREATE TABLE zodiac.rule_set (
    name       VARCHAR NOT NULL,
    source     VARCHAR,
    digest     VARCHAR,
    changed_at TIMESTAMP NOT NULL,
    prefixes   MAP(VARCHAR, VARCHAR) NOT NULL
);
CREATE TABLE zodiac.rule_member (
    set_name VARCHAR NOT NULL,
    label    VARCHAR NOT NULL,
    rule     VARCHAR NOT NULL
);

-- Cyclic rules, and how they are evaluated: migration 5.
CREATE TABLE zodiac.hypertree (
    rule  VARCHAR NOT NULL,
    why   VARCHAR NOT NULL,
    facts BIGINT NOT NULL,
    nodes STRUCT(parent INTEGER, variables VARCHAR[], "cover" INTEGER[], atoms INTEGER[],
                 "table" VARCHAR, "columns" VARCHAR[], types VARCHAR[])[] NOT NULL
);

CREATE TABLE zodiac.predicate (
    name      VARCHAR NOT NULL,      -- plain name or absolute IRI, case matters
    sql_name  VARCHAR NOT NULL,      -- unique even where case is ignored
    arity     INTEGER NOT NULL,
    columns   VARCHAR[] NOT NULL,
    types     VARCHAR[] NOT NULL,    -- NULL while neither a fact nor a rule has settled it
    settled   VARCHAR[] NOT NULL,    -- of types, those fixed by a declaration or by facts
    datatypes VARCHAR[] NOT NULL,    -- RDF datatype of a column that is native or was; else NULL
    declared  BOOLEAN NOT NULL
);

CREATE TABLE zodiac.function (
    name       VARCHAR NOT NULL,     -- a function from Python that rules use
    aggregate  BOOLEAN NOT NULL,
    parameters VARCHAR[] NOT NULL,
    returns    VARCHAR NOT NULL
);

-- How far streams of updates into this file have come, and the clock (names.py): migration 4.
CREATE TABLE zodiac.stream (
    name     VARCHAR NOT NULL,
    position BIGINT NOT NULL
);

-- How long explicit facts stay, or how many: migration 23.
CREATE TABLE zodiac.fact_window (
    set_name      VARCHAR NOT NULL,
    predicate     VARCHAR NOT NULL,
    time_column   VARCHAR,           -- NULL: the only one of dates or timestamps
    lifetime      BIGINT,            -- microseconds, as `late`
    facts         BIGINT,
    group_columns VARCHAR[] NOT NULL,
    by_events     BOOLEAN NOT NULL,
    late          BIGINT NOT NULL,
    refuses       BOOLEAN NOT NULL,
    added_at      TIMESTAMP NOT NULL
);

-- Small changes that are not in their tables yet: migrations 12 and 13.
CREATE TABLE zodiac.journal (
    number BIGINT NOT NULL,
    entry  VARCHAR NOT NULL
);
COMMENT ON TABLE zodiac.journal IS 'small changes, symbols included, that are not in their tables yet';

-- The change feed, whose entries are in zodiac.feed_1, feed_2, ...: migrations 10 and 14.
CREATE TABLE zodiac.feed (
    predicate VARCHAR,
    since     BIGINT NOT NULL
);
CREATE TABLE zodiac.feed_state (
    gone     BIGINT NOT NULL,
    changes  BIGINT,
    seconds  BIGINT,
    bytes    BIGINT,
    narrowed BIGINT DEFAULT 0
);
CREATE TABLE zodiac.feed_table (
    number    INTEGER NOT NULL,
    predicate VARCHAR NOT NULL,
    columns   VARCHAR[] NOT NULL,
    types     VARCHAR[] NOT NULL
);

-- What tells a file that was copied without its .wal, or lies beside another's: migrations 11, 15.
CREATE TABLE zodiac.log (
    begun TIMESTAMP,
    mark  VARCHAR
);
INSERT INTO zodiac.log VALUES (NULL, NULL);

-- Kinds: iri, blank, plain (a symbol or a string without datatype), literal (the rest).
CREATE TABLE zodiac.symbol (
    id   INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL
);

-- The values of those literals that have one (term_values.py): migrations 18 to 20.
CREATE TABLE zodiac.symbol_value (
    id     INTEGER NOT NULL,
    sort   TINYINT NOT NULL,
    exact  DECIMAL(38, 18),
    number DOUBLE,
    moment TIMESTAMP,
    truth  BOOLEAN
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
