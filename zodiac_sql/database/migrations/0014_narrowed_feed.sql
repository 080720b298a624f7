-- When predicates leave the change feed, numbers of changes that only they had are in no table any
-- more. zodiac.feed_state says what the last number was then: numbers go on from there, and have no
-- gaps after it.
ALTER TABLE zodiac.feed_state ADD COLUMN narrowed BIGINT DEFAULT 0;
