-- Since this version, "2.5"^^xsd:decimal is a decimal in rules. It was a float before. Rules that are
-- there go on with floats: a step in Python has written "2.5"^^xsd:double in their texts
-- (language/kept_texts.py). Columns of floats stay as they are; `alter` makes them columns of decimals.
-- Nothing else changes.
SELECT 1;
