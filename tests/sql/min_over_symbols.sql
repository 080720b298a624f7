-- .decl e(a: symbol, b: symbol)
-- p(X, M) :- AGGREGATE(e(X, Y)) ON X WITH MIN(Y) AS M.

-- p(X, M) <- AGGREGATE(e(X, Y)) ON X WITH min(Y) AS M
-- no row twice
SELECT
  g1.v0 AS "s",
  g1.v1 AS "o"
FROM (
  SELECT
    d.x0 AS v0,
    arg_min(d.x1, d.t) AS v1
  FROM (
    SELECT
      "a1"."a" AS x0,
      "a1"."b" AS x1,
      zodiac.lexical(t2.text) || chr(1) || t2.text AS t
    FROM "edb"."e" AS a1
    JOIN "temp"."main"."zodiac$known_symbol" AS t2
      ON t2.id = "a1"."b"
  ) AS d
  GROUP BY
    d.x0
) AS g1;
