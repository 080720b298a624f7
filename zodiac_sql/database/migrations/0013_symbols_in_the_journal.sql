-- An entry of the journal has the new symbols of its change, too, which a version that does not know
-- this would lose. No table is another one.
COMMENT ON TABLE zodiac.journal IS 'small changes, symbols included, that are not in their tables yet';
