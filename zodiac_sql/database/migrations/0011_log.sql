-- What tells a file that was copied without its .wal. zodiac.log has one row. "begun" is when the log
-- was begun (UTC) in a file that was left without it, and NULL where the log is there, or none is
-- needed: database/log.py says how.
CREATE TABLE zodiac.log (
    begun TIMESTAMP
);
INSERT INTO zodiac.log VALUES (NULL);
