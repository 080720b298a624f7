-- .decl e(a: symbol)
-- .decl f(b: int)
-- p(X, Y) :- e(X), f(Y).

-- p(X, Y) <- e(X)@all, f(Y)@all
-- no row twice
SELECT
  "a1"."a" AS "s",
  "a2"."b" AS "o"
FROM "edb"."e" AS a1
CROSS JOIN "edb"."f" AS a2;
