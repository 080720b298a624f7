-- An xsd:float is the number as which it is written, also in a column of terms: 0.1 of it was the
-- double 0.10000000149011612 there, and 0.1 in native columns and in rules.
UPDATE zodiac.symbol_value AS v
SET number = (CASE f WHEN 'INF' THEN 'inf' WHEN '+INF' THEN 'inf' WHEN '-INF' THEN '-inf' ELSE f END)::DOUBLE + 0.0
FROM (SELECT id, trim(substr(text, 2, strpos(text, '"^^<http://www.w3.org/2001/XMLSchema#') - 2)) AS f
      FROM zodiac.symbol
      WHERE starts_with(text, '"') AND ends_with(text, '"^^<http://www.w3.org/2001/XMLSchema#float>')) AS s
WHERE v.id = s.id;
