-- .decl e(a: symbol, b: symbol)
-- .decl path(a: symbol, b: symbol)
-- path(X, Z) :- e(X, Y), path(Y, Z).

-- path(X, Z) <- path(Y, Z)@delta, e(X, Y)@all
SELECT
  "a2"."a" AS "a",
  "a1"."b" AS "b"
FROM "temp"."main"."delta_h1_path" AS a1
JOIN "edb"."e" AS a2
  ON "a2"."b" = "a1"."a";
