-- In each cell of a cluster.

-- The dependant of whom an insurer has something otherwise; null: the member, or somebody whom only the insurer knows.
alter table feed_differences add column dependant_id uuid;
