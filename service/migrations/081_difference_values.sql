-- In each cell of a cluster.

-- What we say and what the insurer says where the two differ, as one JSON document sealed with the person's data key; null for
-- somebody whom only the insurer knows, of whom nothing but the hash is kept.
alter table feed_differences add column sealed bytea;
