-- .decl e(turbine: symbol, t: float)
-- .decl n(a: symbol, b: symbol)
-- p(X, S) :- AGGREGATE(n(X, Y), e(Y, T)) ON X WITH SUM(T) AS S, S > 10.

-- p(X, S) <- AGGREGATE(n(X, Y), e(Y, T)) ON X WITH sum(T) AS S, S > 10
-- no row twice
SELECT
  g1.v0 AS "s",
  g1.v1 AS "o"
FROM (
  SELECT
    d.x0 AS v0,
    CAST(SUM(d.x2 ORDER BY d.x2) AS DOUBLE) AS v1
  FROM (
    SELECT
      "a1"."a" AS x0,
      "a1"."b" AS x1,
      "a2"."t" AS x2
    FROM "edb"."n" AS a1
    JOIN "edb"."e" AS a2
      ON "a2"."turbine" = "a1"."b"
  ) AS d
  GROUP BY
    d.x0
) AS g1
WHERE
  g1.v1 > CAST(10 AS BIGINT);
