-- .decl e(a: symbol, t: float, m: int)
-- p(X, E) :- e(X, T, M), BIND(abs(T - M) AS D), E = D * 2 / M, D > 5, not f(X, E).

-- p(X, E) <- e(X, T, M)@all, BIND(abs((T - M)) AS D), BIND(((D * 2) / M) AS E), D > 5, not f(X, E)
SELECT
  b3.v0 AS "s",
  b3.v4 AS "o"
FROM (
  SELECT
    b2.v0 AS v0,
    b2.v1 AS v1,
    b2.v2 AS v2,
    b2.v3 AS v3,
    (
      CAST((
        (
          CAST((
            b2.v3 * CAST(2 AS BIGINT)
          ) AS DOUBLE) + 0e0
        ) / NULLIF(b2.v2, 0)
      ) AS DOUBLE) + 0e0
    ) AS v4
  FROM (
    SELECT
      "a1"."a" AS v0,
      "a1"."t" AS v1,
      "a1"."m" AS v2,
      CAST(abs(CAST((
        "a1"."t" - "a1"."m"
      ) AS DOUBLE)) AS DOUBLE) AS v3
    FROM "edb"."e" AS a1
  ) AS b2
  WHERE
    b2.v3 > CAST(5 AS BIGINT)
) AS b3
ANTI JOIN "edb"."f" AS n4
  ON "n4"."s" = b3.v0 AND "n4"."o" = b3.v4
WHERE
  NOT b3.v4 IS NULL;
