-- .decl e(a: symbol, t: float)
-- alarm() :- e(X, T), T > 90.

-- alarm() <- e(X, T)@all, T > 90
SELECT
  TRUE AS "holds"
FROM "edb"."e" AS a1
WHERE
  "a1"."t" > CAST(90 AS BIGINT);
