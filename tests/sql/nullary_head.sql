-- .decl e(a: symbol, t: float)
-- alarm() :- e(X, T), T > 90.

-- alarm() <- e(X, T)@all, T > 90
SELECT
  TRUE AS "holds"
FROM (
  SELECT
    1 AS one
  FROM "edb"."e" AS a1
  WHERE
    "a1"."t" > CAST(90 AS BIGINT)
  LIMIT 1
) AS e1;
