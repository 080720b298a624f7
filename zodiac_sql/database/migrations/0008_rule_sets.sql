-- Rule sets: which rules came together, and leave together. A rule that stands in several sets is in
-- zodiac.rule once, and has a row in zodiac.rule_member for each of them: `label` is its name in the
-- set. Rules that were added without naming a set are in the set "main", and so are those of files
-- from before there were sets. `source` is the file that a set was read from, `digest` the SHA-256 of
-- its text; both are NULL for a text.
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
INSERT INTO zodiac.rule_set
SELECT 'main', NULL, NULL, max(added_at), map_from_entries([]::STRUCT(k VARCHAR, v VARCHAR)[])
FROM zodiac.rule HAVING count(*) > 0;
INSERT INTO zodiac.rule_member SELECT 'main', name, name FROM zodiac.rule;
