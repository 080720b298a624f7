-- .decl e(a: symbol)
-- p(X) :- e(X), not f(Y, wt1), not alarm().

-- p(X) <- e(X)@all, not f(Y, wt1), not alarm()
-- no row twice
SELECT
  "a1"."a" AS "s"
FROM "edb"."e" AS a1
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM "edb"."f" AS n2
    WHERE
      "n2"."o" = 1
  )
  AND NOT EXISTS(
    SELECT
      1
    FROM "edb"."alarm" AS n3
  );
