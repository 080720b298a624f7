-- .decl e(a: symbol, b: symbol)
-- p(N) :- AGGREGATE(e(X, Y), X != Y) WITH COUNT(X) AS N.

-- p(N) <- AGGREGATE(e(X, Y), X != Y) WITH count(X) AS N
-- no row twice
SELECT
  g1.v0 AS "s"
FROM (
  SELECT
    COUNT(*) AS v0
  FROM (
    SELECT
      "a1"."a" AS x0,
      "a1"."b" AS x1
    FROM "edb"."e" AS a1
    WHERE
      "a1"."a" <> "a1"."b"
  ) AS d
  HAVING
    COUNT(*) > 0
) AS g1;
