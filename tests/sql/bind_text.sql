-- .decl e(a: symbol, b: symbol)
-- p(N, Y) :- e(X, Y), BIND(concat(upper(X), "-", length(Y)) AS N), not f(N).

-- p(N, Y) <- e(X, Y)@all, BIND(concat(upper(X), -, length(Y)) AS N), not f(N)
-- text to encode: s
SELECT
  CAST(zodiac.quote_where_needed(b4.v2) AS TEXT) AS "s",
  b4.v1 AS "o"
FROM (
  SELECT
    "a1"."a" AS v0,
    "a1"."b" AS v1,
    (
      CAST(upper(zodiac.lexical(t2.text)) AS TEXT) || CAST(zodiac.lexical('-') AS TEXT) || CAST(CAST(length(zodiac.lexical(t3.text)) AS BIGINT) AS TEXT)
    ) AS v2
  FROM "edb"."e" AS a1
  JOIN "temp"."main"."zodiac$known_symbol" AS t2
    ON t2.id = "a1"."a"
  JOIN "temp"."main"."zodiac$known_symbol" AS t3
    ON t3.id = "a1"."b"
) AS b4
LEFT JOIN "temp"."main"."zodiac$known_symbol" AS k6
  ON k6.text = CAST(zodiac.quote_where_needed(b4.v2) AS TEXT)
ANTI JOIN "edb"."f" AS n5
  ON "n5"."s" = k6.id;
