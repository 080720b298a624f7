-- .decl e(a: symbol, b: int, c: date, d: bool)
-- p(X, wt2, 1.5) :- e(X, -3, "2024-05-01"^^<http://www.w3.org/2001/XMLSchema#date>, true), f(wt1, X).

-- p(X, wt2, 1.5) <- e(X, -3, 2024-05-01, true)@all, f(wt1, X)@all
-- no row twice
SELECT
  "a1"."a" AS "c0",
  2 AS "c1",
  CAST('1.5' AS DOUBLE) AS "c2"
FROM "edb"."e" AS a1
JOIN "edb"."f" AS a2
  ON "a2"."s" = 1 AND "a2"."o" = "a1"."a"
WHERE
  "a1"."b" = CAST(-3 AS BIGINT)
  AND "a1"."c" = CAST('2024-05-01' AS DATE)
  AND "a1"."d" = TRUE;
