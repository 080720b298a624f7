-- .decl e(a: symbol, b: symbol)
-- p(X) :- e(X, Y), X < Y, Y >= "m", X != wt1.

-- p(X) <- e(X, Y)@all, X < Y, Y >= m, X != wt1
SELECT
  "a1"."a" AS "s"
FROM "edb"."e" AS a1
JOIN "temp"."main"."zodiac$known_symbol" AS t2
  ON t2.id = "a1"."a"
JOIN "temp"."main"."zodiac$known_symbol" AS t3
  ON t3.id = "a1"."b"
WHERE
  zodiac.lexical(t2.text) < zodiac.lexical(t3.text)
  AND zodiac.lexical(t3.text) >= zodiac.lexical('m')
  AND "a1"."a" <> 2;
