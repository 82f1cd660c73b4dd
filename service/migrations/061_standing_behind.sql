-- In each cell of a cluster.

-- Whether the delivery stands behind an earlier one of its user, and so is due again once that has ended. A process that is
-- attempting a delivery has moved its `due_at` ahead in the same way.
alter table deliveries add column is_behind boolean not null default false;
