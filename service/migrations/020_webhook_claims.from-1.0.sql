-- In each cell of a cluster.

-- A delivery is claimed by moving `due_at` ahead, so no process owns an endpoint any more.
drop table endpoint_leases;
drop table dispatchers;

-- With the column go its check and the indexes that name it.
alter table deliveries drop column parked;
-- Since when the delivery is due, while `due_at` is ahead because a process is attempting it, or because it stands behind
-- an earlier one of its user; null while `due_at` itself says it.
alter table deliveries add column held_from timestamptz;
create index deliveries_due on deliveries (partner_id, endpoint_id, work, due_at, event_id);

-- Until when the one probe of a broken endpoint may take, and from when an endpoint with a rate may get the next delivery.
alter table endpoint_health add column probing_until timestamptz;
alter table endpoint_health add column next_at timestamptz;
