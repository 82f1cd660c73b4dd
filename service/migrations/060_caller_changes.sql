-- In each cell of a cluster.

-- When a partner, a credential or a token of it was last changed or taken away. Processes answer callers from memory, and read
-- here several times a second whom to forget. The statements that take something away write it, each with its own transaction.
create table caller_changes (
  partner_id uuid primary key,
  changed_at timestamptz not null
);
create index caller_changes_newest on caller_changes (changed_at);
