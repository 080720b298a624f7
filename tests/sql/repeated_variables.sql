-- .decl e(a: symbol, b: symbol, c: symbol)
-- p(X, X) :- e(X, X, Y), f(Y, Y).

-- p(X, X) <- e(X, X, Y)@all, f(Y, Y)@all
SELECT
  "a1"."a" AS "s",
  "a1"."a" AS "o"
FROM "edb"."e" AS a1
JOIN "edb"."f" AS a2
  ON "a2"."s" = "a1"."c" AND "a2"."o" = "a1"."c"
WHERE
  "a1"."b" = "a1"."a";
