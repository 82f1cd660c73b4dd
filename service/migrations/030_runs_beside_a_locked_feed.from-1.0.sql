-- On every node of a cluster.

-- A process holds the row of its feed while it makes a run. On a cluster, where this key is checked on every node, the run would
-- wait for that.
alter table feed_runs drop constraint feed_runs_feed_fkey;
