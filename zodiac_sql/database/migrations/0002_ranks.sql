-- Whether a recursive hypernode's tables have a column "$rank" that may be relied upon: each fact can
-- be derived from facts of lower ranks, where those from outside the hypernode count as 0.
ALTER TABLE zodiac.hypernode ADD COLUMN ranked BOOLEAN DEFAULT false;
