-- .decl e(a: symbol, b: symbol)
-- p(X) :- e(X, Y), X < Y, Y >= "m", X != wt1.

-- p(X) <- e(X, Y)@all, X < Y, Y >= m, X != wt1
SELECT
  "a1"."a" AS "s"
FROM "edb"."e" AS a1
JOIN known_symbol AS t2
  ON t2.id = "a1"."a"
JOIN known_symbol AS t3
  ON t3.id = "a1"."b"
WHERE
  (
    ZODIAC.LEXICAL(t2.text) < ZODIAC.LEXICAL(t3.text)
    AND ZODIAC.LEXICAL(t3.text) >= ZODIAC.LEXICAL('m')
  )
  AND "a1"."a" <> 2;
