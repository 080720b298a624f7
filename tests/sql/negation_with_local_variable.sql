-- .decl e(a: symbol, b: int)
-- p(X) :- e(X, N), not f(X, Z, Z), not g(_, N).

-- p(X) <- e(X, N)@all, not f(X, Z, Z), not g(_, N)
SELECT
  "a1"."a" AS "s"
FROM "edb"."e" AS a1
ANTI JOIN "edb"."f" AS n2
  ON "n2"."c0" = "a1"."a" AND "n2"."c2" = "n2"."c1"
ANTI JOIN "edb"."g" AS n3
  ON "n3"."o" = "a1"."b";
