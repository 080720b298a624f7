-- Values of literals have a table of their own: most symbols have none, and five columns of NULL for
-- each new symbol made a load of nothing but new texts take a fifth longer.
CREATE TABLE zodiac.symbol_value (
    id     INTEGER NOT NULL,
    sort   TINYINT NOT NULL,
    exact  DECIMAL(38, 18),
    number DOUBLE,
    moment TIMESTAMP,
    truth  BOOLEAN
);
INSERT INTO zodiac.symbol_value
SELECT id, sort, exact, number, moment, truth FROM zodiac.symbol WHERE sort IS NOT NULL ORDER BY id;
CREATE TABLE zodiac.symbol_without_value (
    id   INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL
);
INSERT INTO zodiac.symbol_without_value SELECT id, kind, text FROM zodiac.symbol ORDER BY id;
DROP TABLE zodiac.symbol;
ALTER TABLE zodiac.symbol_without_value RENAME TO symbol;
