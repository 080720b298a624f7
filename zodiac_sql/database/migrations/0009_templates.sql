-- Rules with variables for predicates, as they were written. Rules are made of them, one for each
-- predicate that facts name: these are in zodiac.rule, with the name of the written rule and the symbols
-- that were put in for its variables, in the order in which the variables first occur. All other rules
-- have NULL there, and in their text no variable stands for a predicate: "?P(X)" in the text of a rule
-- of an older file is an atom of the predicate "?P".
CREATE TABLE zodiac.template (
    name     VARCHAR NOT NULL,
    source   VARCHAR NOT NULL,
    prefixes MAP(VARCHAR, VARCHAR) NOT NULL,
    position INTEGER NOT NULL,
    added_at TIMESTAMP NOT NULL
);
ALTER TABLE zodiac.rule ADD COLUMN template VARCHAR;
ALTER TABLE zodiac.rule ADD COLUMN predicates VARCHAR[];
