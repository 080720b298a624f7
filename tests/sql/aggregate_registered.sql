-- .decl e(a: symbol, t: int)
-- p(X, S) :- AGGREGATE(e(X, T)) ON X WITH spread(T) AS S.

-- p(X, S) <- AGGREGATE(e(X, T)) ON X WITH spread(T) AS S
-- no row twice
SELECT
  g1.v0 AS "s",
  g1.v1 AS "o"
FROM (
  SELECT
    *
  FROM (
    SELECT
      d.x0 AS v0,
      (
        CAST("py_spread"(list(CAST(d.x1 AS DOUBLE))) AS DOUBLE) + 0e0
      ) AS v1
    FROM (
      SELECT
        "a1"."a" AS x0,
        "a1"."t" AS x1
      FROM "edb"."e" AS a1
    ) AS d
    GROUP BY
      d.x0
  ) AS g
  WHERE
    NOT v1 IS NULL
) AS g1;
