-- .decl e(a: symbol)
-- p(X) :- e(X), alarm().

-- p(X) <- e(X)@all, alarm()@all
-- no row twice
SELECT
  "a1"."a" AS "s"
FROM "edb"."e" AS a1
CROSS JOIN "edb"."alarm" AS a2;
