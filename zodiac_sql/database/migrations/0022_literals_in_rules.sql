-- What a rule writes as a literal, "2026-01-01T10:00:00+01:00"^^xsd:dateTime, is this literal in a column of
-- terms: it had the datatype of its type, and no time zone. In a file with rules that have typed literals,
-- the next change evaluates the hypernodes of these rules anew, and makes the view of triples. The empty
-- name, which no rule has, says so in zodiac.former_rule.
INSERT INTO zodiac.former_rule
SELECT ''
WHERE NOT EXISTS (FROM zodiac.former_rule WHERE name = '')
AND (
    EXISTS (FROM zodiac.rule WHERE contains(source, '"^^'))
    OR EXISTS (FROM zodiac.template WHERE contains(source, '"^^'))
);
