-- .decl e(a: symbol, t: int)
-- p(X, C) :- e(X, T), BIND(model(T, X) AS C), C != cold.

-- p(X, C) <- e(X, T)@all, BIND(model(T, X) AS C), C != cold
-- text to encode: o
SELECT
  b3.v0 AS "s",
  CAST(zodiac.quote_where_needed(b3.v2) AS TEXT) AS "o"
FROM (
  SELECT
    "a1"."a" AS v0,
    "a1"."t" AS v1,
    "py_model"(CAST("a1"."t" AS DOUBLE), CAST(zodiac.lexical(t2.text) AS TEXT)) AS v2
  FROM "edb"."e" AS a1
  JOIN "temp"."main"."zodiac$known_symbol" AS t2
    ON t2.id = "a1"."a"
) AS b3
WHERE
  NOT b3.v2 IS NULL AND CAST(zodiac.quote_where_needed(b3.v2) AS TEXT) <> 'cold';
