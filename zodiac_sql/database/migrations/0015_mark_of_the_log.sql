-- What tells a log that was begun on another state of the file: "mark" names the last log, and the
-- first thing in a log names it, too (database/log.py). zodiac.log has a second row with the same
-- mark, whose "begun" is NULL, where the log is there, or none is needed.
ALTER TABLE zodiac.log ADD COLUMN mark VARCHAR;
