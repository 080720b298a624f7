-- The modules at work in a hypernode, each for one predicate that it closes (paper 2): their kind ("tc"
-- or "stc"); whether other rules of the hypernode derive facts of the predicate, too (`fed`: these
-- stand in idb."h7_p external"); whether the relation is kept as nodes and their classes (`parted`: in
-- idb."h7_p classes"); whether nodes are related to themselves only where `loop` says so (`unequal`);
-- and whether it has all facts of the predicate (`covers`).
ALTER TABLE zodiac.hypernode ADD COLUMN modules
    STRUCT(kind VARCHAR, predicate VARCHAR, fed BOOLEAN, parted BOOLEAN, unequal BOOLEAN,
           covers BOOLEAN)[] DEFAULT '[]';
-- (As text: DuckDB 1.5.6 cannot replay DEFAULT [] from its log when a process was killed.)
