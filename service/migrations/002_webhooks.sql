-- The processes that share the endpoints. Times are the database's own, as processes' clocks differ.
create table dispatchers (
  dispatcher_id uuid primary key,
  -- What it owns is its own until then; it says in time that it lives on.
  until timestamptz not null
);

-- Which process sends to an endpoint.
create table endpoint_leases (
  partner_id uuid not null,
  endpoint_id uuid not null,
  -- Null: nobody.
  owner uuid,
  -- Grows with each change of owner: what an earlier one still writes is refused.
  epoch bigint not null,
  primary key (partner_id, endpoint_id),
  foreign key (partner_id, endpoint_id) references webhook_endpoints
);
create index endpoint_leases_of_owner on endpoint_leases (owner);

-- What the owner of an endpoint knows of it and must survive a restart.
create table endpoint_health (
  partner_id uuid not null,
  endpoint_id uuid not null,
  -- Grows when somebody else than the owner resets it: what the owner knew before is void.
  revision integer not null default 1,
  breaker jsonb not null,
  failing_since timestamptz,
  notices integer not null default 0,
  -- Until when the endpoint asked us to stay away.
  paused_until timestamptz,
  -- The pair of credentials that was accepted last, and since when the new one is.
  accepted_pair text check (accepted_pair in ('current', 'next')),
  next_accepted_at timestamptz,
  -- When the endpoint's certificate ends, as seen at the last connection.
  certificate_ends_at timestamptz,
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

-- The log of tries: a partition a day, so that a day is removed at once and at no cost.
create table delivery_attempts (
  partner_id uuid not null,
  attempt_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  -- Which try of the delivery; one that was our own fault has the number of the try that follows.
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
  -- The first 1 KiB of what came with a status other than 2xx, sealed with the data key of the event's user.
  sealed_answer bytea,
  -- In the order in which the tries of an event are listed: the log is written most, and one index serves both.
  primary key (partner_id, event_id, started_at, attempt_id),
  check ((status is null) <> (error_class is null))
) partition by range (started_at);
-- Takes what no day was made for, so that a missing partition never stops a delivery.
create table delivery_attempts_rest partition of delivery_attempts default;
