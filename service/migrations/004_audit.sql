-- In each cell of a cluster.

-- Who did what: reads of personal data, commands of operators, refused authentications. Changes of users are in
-- `history`.
create table audit_log (
  partner_id uuid not null,
  -- A UUID v7, whose time is the time of the entry.
  entry_id uuid not null,
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('credential', 'session', 'operator', 'command', 'nobody')),
  -- The id of the credential, page session or operator; never a secret.
  actor text not null,
  -- The caller's network address, as a keyed hash.
  source bytea,
  action text not null,
  -- The user concerned, by serviceid, if there is one.
  service_id uuid,
  result text not null,
  -- Why an operator looked or acted. Sealed with the partner's key, because people write names there.
  sealed_reason bytea,
  request_id uuid,
  -- Refused authentications share one row for each credential, network and minute; this counts them.
  times integer not null default 1 check (times > 0),
  primary key (partner_id, entry_id)
);
-- Rows arrive in the order of time, so this index finds a period and costs writers almost nothing.
create index audit_log_at on audit_log using brin (at) with (autosummarize = on);
-- The console lists first what operators and commands did; among partners' actions such a row is one in thousands.
create index audit_log_operators on audit_log (partner_id, entry_id) where actor_kind in ('operator', 'command');
create index audit_log_subject on audit_log (partner_id, service_id, entry_id) where service_id is not null;

-- Signed blocks over the committed rows of `history` and `audit_log`: a removed or altered row no longer matches its
-- block.
create table audit_blocks (
  partner_id uuid not null,
  source text not null check (source in ('history', 'audit_log')),
  number integer not null check (number > 0),
  -- The block covers the rows recorded from the first instant up to, but not including, the second.
  from_at timestamptz not null,
  until_at timestamptz not null,
  rows integer not null check (rows >= 0),
  key_id text not null,
  -- 24 bytes for each row, sorted: a keyed hash of the row's name and one of its content. An erasure deletes the
  -- content of a user's rows; their names can still be verified.
  leaves bytea not null,
  -- The hash of the block before; null for the first block.
  previous bytea,
  -- A keyed hash of the leaves, the block's own columns and the block before.
  hash bytea not null,
  sealed_at timestamptz not null,
  primary key (partner_id, source, number),
  check (until_at > from_at)
);

-- Erasures, so that a restored copy can apply those that it has missed.
create table erasures (
  partner_id uuid not null,
  service_id uuid not null,
  erased_at timestamptz not null,
  -- When no trace of the data key was left in table and log files; null: not yet.
  scrubbed_at timestamptz,
  -- When the user's events were removed from log and replay; null: some still wait for an endpoint.
  events_removed_at timestamptz,
  primary key (partner_id, service_id)
);
create index erasures_unscrubbed on erasures (partner_id, service_id) where scrubbed_at is null;
create index erasures_with_events on erasures (partner_id, service_id) where events_removed_at is null;

-- What the law requires the operator to keep of an erased user, sealed under its own key until `keep_until`.
create table retained_records (
  partner_id uuid not null,
  service_id uuid not null,
  kind text not null check (kind in ('consents', 'confirmations', 'coverage', 'beneficiaries')),
  wrapped_key bytea not null,
  sealed bytea not null,
  keep_until timestamptz not null,
  primary key (partner_id, service_id, kind)
);

-- Creates that were refused, so that support can answer "why is this person not enrolled?". Without personal data.
create table refused_creates (
  partner_id uuid not null,
  -- A keyed hash of the userid.
  userid_hash bytea not null,
  -- The user of that userid at the time of the request, if there was one: nobody can make the userid of the hash again.
  service_id uuid,
  at timestamptz not null,
  request_id uuid not null,
  code text not null,
  -- [{"field", "code"}]
  reasons jsonb not null,
  primary key (partner_id, userid_hash, at, request_id)
);
-- Support looks for the id that the refused caller was given.
create index refused_creates_request on refused_creates (request_id);
-- A partner's developers look at the newest.
create index refused_creates_newest on refused_creates (partner_id, at);
