-- .decl e(select: symbol, Order: int)
-- <http://e/x;y-z>(X) :- e(X, 1).

-- http://e/x;y-z(X) <- e(X, 1)@all
-- no row twice
SELECT
  "a1"."select" AS "s"
FROM "edb"."e" AS a1
WHERE
  "a1"."Order" = CAST(1 AS BIGINT);
