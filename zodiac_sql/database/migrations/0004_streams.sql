-- How far streams of updates into this file have come: the number of the last update of each that was
-- applied, written with it in one transaction. So none is lost or repeated after a kill.
CREATE TABLE zodiac.stream (
    name     VARCHAR NOT NULL,
    position BIGINT NOT NULL
);
