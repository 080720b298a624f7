-- What a rule copies from a native column to one of terms is the same literal there: it had the datatype
-- of the type, and no time zone. In a file with such datatypes, the next change evaluates the hypernodes
-- of these rules anew, and makes the view of triples. The empty name, which no rule has, says so in
-- zodiac.former_rule.
INSERT INTO zodiac.former_rule
SELECT ''
FROM zodiac.predicate
HAVING bool_or(len(list_filter(datatypes, lambda d: d <> '')) > 0);
