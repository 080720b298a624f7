-- .decl path(a: symbol, b: symbol)
-- .decl e(a: symbol)
-- path(X, Y) :- path(X, Z), path(Z, W), e(W), path(W, Y), X != Y.

-- path(X, Y) <- path(X, Z)@delta, path(Z, W)@all, e(W)@all, path(W, Y)@all, X != Y
SELECT
  "a1"."a" AS "a",
  "a4"."b" AS "b"
FROM "temp"."main"."delta_h1_path" AS a1
JOIN "temp"."main"."h1_path" AS a2
  ON "a2"."a" = "a1"."b"
JOIN "edb"."e" AS a3
  ON "a3"."a" = "a2"."b"
JOIN "temp"."main"."h1_path" AS a4
  ON "a4"."a" = "a2"."b"
WHERE
  "a1"."a" <> "a4"."b";

-- path(X, Y) <- path(Z, W)@delta, path(X, Z)@old, e(W)@all, path(W, Y)@all, X != Y
SELECT
  "a2"."a" AS "a",
  "a4"."b" AS "b"
FROM "temp"."main"."delta_h1_path" AS a1
JOIN (
  SELECT
    "t"."a",
    "t"."b"
  FROM "temp"."main"."h1_path" AS t
  WHERE
    "t"."$rank" < $i
) AS a2
  ON "a2"."b" = "a1"."a"
JOIN "edb"."e" AS a3
  ON "a3"."a" = "a1"."b"
JOIN "temp"."main"."h1_path" AS a4
  ON "a4"."a" = "a1"."b"
WHERE
  "a2"."a" <> "a4"."b";

-- path(X, Y) <- path(W, Y)@delta, path(Z, W)@old, path(X, Z)@old, e(W)@all, X != Y
SELECT
  "a3"."a" AS "a",
  "a1"."b" AS "b"
FROM "temp"."main"."delta_h1_path" AS a1
JOIN (
  SELECT
    "t"."a",
    "t"."b"
  FROM "temp"."main"."h1_path" AS t
  WHERE
    "t"."$rank" < $i
) AS a2
  ON "a2"."b" = "a1"."a"
JOIN (
  SELECT
    "t"."a",
    "t"."b"
  FROM "temp"."main"."h1_path" AS t
  WHERE
    "t"."$rank" < $i
) AS a3
  ON "a3"."b" = "a2"."a"
JOIN "edb"."e" AS a4
  ON "a4"."a" = "a1"."a"
WHERE
  "a3"."a" <> "a1"."b";
