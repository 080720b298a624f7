-- Cyclic rules (paper 5): why each is decomposed, or evaluated as a whole (`nodes` is empty then); how
-- many facts there were to read when that was decided; and the nodes of its tree. The variables of a
-- node are chi, the places of atoms in the rule's body that cover them are lambda, and all that are
-- joined there are `atoms`. A node with a table has it as hd."h7_r3_n1": that of rule r3, in
-- hypernode 7.
CREATE SCHEMA hd;
CREATE TABLE zodiac.hypertree (
    rule  VARCHAR NOT NULL,
    why   VARCHAR NOT NULL,
    facts BIGINT NOT NULL,
    nodes STRUCT(parent INTEGER, variables VARCHAR[], "cover" INTEGER[], atoms INTEGER[],
                 "table" VARCHAR, "columns" VARCHAR[], types VARCHAR[])[] NOT NULL
);
