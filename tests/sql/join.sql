-- .decl e(a: symbol, b: symbol)
-- p(X, Z) :- e(X, Y), e(Y, Z).

-- p(X, Z) <- e(X, Y)@all, e(Y, Z)@all
SELECT
  "a1"."a" AS "s",
  "a2"."b" AS "o"
FROM "edb"."e" AS a1
JOIN "edb"."e" AS a2
  ON "a2"."a" = "a1"."b";
