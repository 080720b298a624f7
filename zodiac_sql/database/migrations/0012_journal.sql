-- Small changes that are in the file as a whole, but not in the tables yet that they change:
-- storage/journal.py says what "entry" is. They are in the order of "number".
CREATE TABLE zodiac.journal (
    number BIGINT NOT NULL,
    entry  VARCHAR NOT NULL
);
