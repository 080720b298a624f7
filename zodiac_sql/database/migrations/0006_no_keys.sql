-- Tables of the catalog have no primary keys any more: that names and numbers are unique is seen to by
-- what writes them (catalog.py). A row of such a table is often deleted and inserted again in one
-- transaction, and if that cannot be committed, because the disk is full, DuckDB 1.5.6 cannot take it
-- back where there is a key: the process is aborted.
CREATE TABLE zodiac.next_migration (
    version    INTEGER NOT NULL,
    name       VARCHAR NOT NULL,
    applied_at TIMESTAMP NOT NULL
);
INSERT INTO zodiac.next_migration SELECT version, name, applied_at FROM zodiac.migration;
DROP TABLE zodiac.migration;
ALTER TABLE zodiac.next_migration RENAME TO migration;

CREATE TABLE zodiac.next_prefix (
    prefix VARCHAR NOT NULL,
    iri    VARCHAR NOT NULL
);
INSERT INTO zodiac.next_prefix SELECT prefix, iri FROM zodiac.prefix;
DROP TABLE zodiac.prefix;
ALTER TABLE zodiac.next_prefix RENAME TO prefix;

-- Files of the day on which modules came lack `parted`: all symmetric-transitive closures were.
CREATE TABLE zodiac.next_hypernode (
    id        INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    stratum   INTEGER NOT NULL,
    recursive BOOLEAN NOT NULL,
    ranked    BOOLEAN NOT NULL,
    modules   STRUCT(kind VARCHAR, predicate VARCHAR, fed BOOLEAN, parted BOOLEAN, unequal BOOLEAN,
                     covers BOOLEAN)[] NOT NULL
);
INSERT INTO zodiac.next_hypernode
SELECT id, position, stratum, recursive, ranked,
       list_transform(
           modules::STRUCT(kind VARCHAR, predicate VARCHAR, fed BOOLEAN, parted BOOLEAN,
                           unequal BOOLEAN, covers BOOLEAN)[],
           lambda m: {'kind': m.kind, 'predicate': m.predicate, 'fed': m.fed,
                      'parted': coalesce(m.parted, m.kind = 'stc'), 'unequal': m.unequal,
                      'covers': m.covers})
FROM zodiac.hypernode;
DROP TABLE zodiac.hypernode;
ALTER TABLE zodiac.next_hypernode RENAME TO hypernode;

CREATE TABLE zodiac.next_rule (
    name      VARCHAR NOT NULL,
    source    VARCHAR NOT NULL,
    prefixes  MAP(VARCHAR, VARCHAR) NOT NULL,
    head      VARCHAR NOT NULL,
    position  INTEGER NOT NULL,
    hypernode INTEGER NOT NULL,
    added_at  TIMESTAMP NOT NULL
);
INSERT INTO zodiac.next_rule
SELECT name, source, prefixes, head, position, hypernode, added_at FROM zodiac.rule;
DROP TABLE zodiac.rule;
ALTER TABLE zodiac.next_rule RENAME TO rule;

CREATE TABLE zodiac.next_predicate (
    name      VARCHAR NOT NULL,
    sql_name  VARCHAR NOT NULL,
    arity     INTEGER NOT NULL,
    columns   VARCHAR[] NOT NULL,
    types     VARCHAR[] NOT NULL,
    settled   VARCHAR[] NOT NULL,
    datatypes VARCHAR[] NOT NULL,
    declared  BOOLEAN NOT NULL
);
INSERT INTO zodiac.next_predicate
SELECT name, sql_name, arity, columns, types, settled, datatypes, declared FROM zodiac.predicate;
DROP TABLE zodiac.predicate;
ALTER TABLE zodiac.next_predicate RENAME TO predicate;

CREATE TABLE zodiac.next_function (
    name       VARCHAR NOT NULL,
    aggregate  BOOLEAN NOT NULL,
    parameters VARCHAR[] NOT NULL,
    returns    VARCHAR NOT NULL
);
INSERT INTO zodiac.next_function SELECT name, aggregate, parameters, returns FROM zodiac.function;
DROP TABLE zodiac.function;
ALTER TABLE zodiac.next_function RENAME TO function;

-- The first catalogs of version 1 had no generation, and other macros (see 0001).
ALTER TABLE zodiac.counter ADD COLUMN IF NOT EXISTS generation BIGINT DEFAULT 0;

CREATE OR REPLACE MACRO zodiac.unescape_text(t) AS
    CASE WHEN contains(t, '\') THEN
        array_to_string(list_transform(string_split(t, '\\'), lambda piece:
            replace(replace(replace(replace(
                piece, '\"', '"'), '\n', chr(10)), '\r', chr(13)), '\t', chr(9))), '\')
    ELSE t END;

CREATE OR REPLACE MACRO zodiac.canonical(t) AS
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
