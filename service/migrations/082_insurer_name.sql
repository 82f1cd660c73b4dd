-- On every node of a cluster.

-- The name by which an 834 names its insurer. A run that was made before has none: its file is made again with the code, as it was sent.
alter table feed_runs add column insurer_name text;
