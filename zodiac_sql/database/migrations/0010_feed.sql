-- The change feed: what entered and left the extensions of some predicates, change by change.
-- zodiac.feed has the predicates that are in it (NULL: all), and after which change each came in;
-- zodiac.feed_state has one row once there was a feed: the last change that is deleted from it, and
-- what is kept at least, where something says so. The entries are in tables zodiac.feed_1, feed_2, ...,
-- one for each predicate and each layout of its columns: `number` says which. There, "_commit" numbers
-- changes without gaps, "_time" is UTC, "_inserted" tells what entered from what left, and "c0", "c1",
-- ... are the columns of the predicate as its tables have them, symbols as numbers.
CREATE TABLE zodiac.feed (
    predicate VARCHAR,
    since     BIGINT NOT NULL
);
CREATE TABLE zodiac.feed_state (
    gone    BIGINT NOT NULL,
    changes BIGINT,
    seconds BIGINT,
    bytes   BIGINT
);
CREATE TABLE zodiac.feed_table (
    number    INTEGER NOT NULL,
    predicate VARCHAR NOT NULL,
    columns   VARCHAR[] NOT NULL,
    types     VARCHAR[] NOT NULL
);
