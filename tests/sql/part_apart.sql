-- .decl a(x: symbol)
-- .decl b(y: int)
-- .decl c(z: int)
-- .decl d(y: int)
-- h(X) :- a(X), b(Y), c(Z), Y < Z, not d(Y).

-- h(X) <- a(X)@all, b(Y)@all, c(Z)@all, Y < Z, not d(Y)
SELECT
  "a1"."x" AS "s"
FROM "edb"."a" AS a1
CROSS JOIN (
  SELECT
    1 AS one
  FROM "edb"."b" AS a1
  CROSS JOIN "edb"."c" AS a2
  ANTI JOIN "edb"."d" AS n3
    ON "n3"."y" = "a1"."y"
  WHERE
    "a1"."y" < "a2"."z"
  LIMIT 1
) AS e2;
