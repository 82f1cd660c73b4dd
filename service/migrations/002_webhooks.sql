-- In each cell of a cluster.

-- The processes that share the endpoints. Times are the database's own, because the clocks of processes differ.
create table dispatchers (
  dispatcher_id uuid primary key,
  -- The process owns its endpoints until this time; it renews the time while it is alive.
  until timestamptz not null
);

-- The process that sends to an endpoint.
create table endpoint_leases (
  partner_id uuid not null,
  endpoint_id uuid not null,
  -- null: no process.
  owner uuid,
  -- Each change of owner raises it; a write with an older epoch comes from a former owner and is refused.
  epoch bigint not null,
  primary key (partner_id, endpoint_id),
  foreign key (partner_id, endpoint_id) references webhook_endpoints
);
create index endpoint_leases_of_owner on endpoint_leases (owner);

-- What the owner of an endpoint knows about it and must not lose in a restart.
create table endpoint_health (
  partner_id uuid not null,
  endpoint_id uuid not null,
  -- Raised when a process other than the owner resets the row; the owner then discards what it knew.
  revision integer not null default 1,
  breaker jsonb not null,
  failing_since timestamptz,
  notices integer not null default 0,
  -- The endpoint asked us (Retry-After) to send nothing before this time.
  paused_until timestamptz,
  -- The pair of credentials that the endpoint accepted last, and since when it has accepted the new pair.
  accepted_pair text check (accepted_pair in ('current', 'next')),
  next_accepted_at timestamptz,
  -- When the endpoint's certificate expires, as seen at the last connection.
  certificate_ends_at timestamptz,
  -- What the partner's other endpoints were told last about this one, and since when it was so; null: that all is well.
  reported text check (reported in ('failing', 'disabled')),
  reported_since timestamptz,
  primary key (partner_id, endpoint_id),
  foreign key (partner_id, endpoint_id) references webhook_endpoints
);

-- Deliveries that were given up. They stay listed, and can be replayed.
create table dead_deliveries (
  partner_id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  attempts integer not null,
  reason text not null check (reason in ('attempts', 'age')),
  died_at timestamptz not null,
  primary key (partner_id, event_id, endpoint_id)
);
create index dead_deliveries_of_endpoint on dead_deliveries (partner_id, endpoint_id, event_id);

-- The log of attempts: one partition a day, so that dropping a day is immediate and costs nothing.
create table delivery_attempts (
  partner_id uuid not null,
  attempt_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  -- The number of this attempt at the delivery. An attempt that failed by our own fault is not counted, so the next
  -- attempt has the same number.
  attempt integer not null,
  started_at timestamptz not null,
  pair text not null check (pair in ('current', 'next')),
  status integer,
  error_class text,
  address text,
  dns_ms integer,
  connect_ms integer,
  tls_ms integer,
  first_byte_ms integer,
  total_ms integer not null,
  -- The first 1 KiB of an answer other than 2xx, sealed with the data key of the event's user.
  sealed_answer bytea,
  -- The order in which an event's attempts are listed. The log is mostly written, so one index must serve as key and
  -- for lists.
  primary key (partner_id, event_id, started_at, attempt_id),
  check ((status is null) <> (error_class is null))
) partition by range (started_at);
-- Takes rows of days without a partition, so that a missing partition never stops a delivery.
create table delivery_attempts_rest partition of delivery_attempts default;
