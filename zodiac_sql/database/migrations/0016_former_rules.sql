-- Since this version, all columns of the atoms under an aggregate tell its solutions apart, also those
-- that `_` stands for (language/former_aggregates.py). zodiac.former_rule has the rules whose facts may
-- have been derived as it was before. The next change evaluates anew those that it makes a difference
-- for, and empties the table.
CREATE TABLE zodiac.former_rule (
    name VARCHAR NOT NULL
);
INSERT INTO zodiac.former_rule
SELECT name FROM zodiac.rule
WHERE regexp_matches(source, '\baggregate\s*\(', 'i') AND contains(source, '_');
