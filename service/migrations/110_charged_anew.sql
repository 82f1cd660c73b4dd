-- In each cell of a cluster.

-- When somebody who had been imported became a member anew: that membership is charged from its start, as any other.
alter table charged_from add column anew_at timestamptz;
