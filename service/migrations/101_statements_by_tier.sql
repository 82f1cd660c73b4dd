-- In each cell of a cluster.

-- The tier of a line (contract §19); null where its benefit has none.
alter table statement_lines add column tier text;

-- Who else was covered in a time of an erased user, by relationships alone ('child,spouse'): the price follows from it.
alter table held_periods add column who text;
