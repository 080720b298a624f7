-- .decl e(a: symbol, t: float)
-- .decl turbine(a: symbol)
-- p(X, M) :- turbine(X), AGGREGATE(e(X, T)) ON X WITH MED(T) AS M, not f(X, M).

-- p(X, M) <- turbine(X)@all, AGGREGATE(e(X, T)) ON X WITH med(T) AS M, not f(X, M)
-- no row twice
SELECT
  "a1"."a" AS "s",
  g2.v1 AS "o"
FROM "edb"."turbine" AS a1
JOIN (
  SELECT
    d.x0 AS v0,
    (
      CAST(median(d.x1) AS DOUBLE) + 0e0
    ) AS v1
  FROM (
    SELECT
      "a1"."a" AS x0,
      "a1"."t" AS x1
    FROM "edb"."e" AS a1
  ) AS d
  GROUP BY
    d.x0
) AS g2
  ON g2.v0 = "a1"."a"
ANTI JOIN "edb"."f" AS n3
  ON "n3"."s" = "a1"."a" AND "n3"."o" = g2.v1;
