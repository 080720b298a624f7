-- How long explicit facts stay, or how many (program/windows.py). Lengths of time are microseconds. How far
-- the clock has come, and the events of windows, stands among the positions of streams.
CREATE TABLE zodiac.fact_window (
    set_name      VARCHAR NOT NULL,
    predicate     VARCHAR NOT NULL,
    time_column   VARCHAR,
    lifetime      BIGINT,
    facts         BIGINT,
    group_columns VARCHAR[] NOT NULL,
    by_events     BOOLEAN NOT NULL,
    late          BIGINT NOT NULL,
    refuses       BOOLEAN NOT NULL,
    added_at      TIMESTAMP NOT NULL
);
