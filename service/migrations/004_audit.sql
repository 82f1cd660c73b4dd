-- Who did what: reads of personal data, commands of operators, refused authentications. Changes are in `history`.
create table audit_log (
  partner_id uuid not null,
  -- A UUID v7: its time is that of the entry.
  entry_id uuid not null,
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('credential', 'session', 'operator', 'command', 'nobody')),
  -- The id of the credential, page session or operator; never a secret.
  actor text not null,
  -- The caller's network address, as a keyed hash.
  source bytea,
  action text not null,
  -- On whom: a serviceid where there is one.
  service_id uuid,
  result text not null,
  -- Why an operator looked or acted, sealed with the partner's key: people write names there.
  sealed_reason bytea,
  request_id uuid,
  -- Refused authentications are one row for each credential, network and minute.
  times integer not null default 1 check (times > 0),
  primary key (partner_id, entry_id)
);
-- Rows come in the order of time: this finds a stretch of it at almost no cost for who writes.
create index audit_log_at on audit_log using brin (at) with (autosummarize = on);
-- What operators and commands did is what the console lists first; among what partners do it is one row in thousands.
create index audit_log_operators on audit_log (partner_id, entry_id) where actor_kind in ('operator', 'command');
create index audit_log_subject on audit_log (partner_id, service_id, entry_id) where service_id is not null;

-- Signed blocks of what was committed to `history` and `audit_log`: a removed or altered row no longer fits its block.
create table audit_blocks (
  partner_id uuid not null,
  source text not null check (source in ('history', 'audit_log')),
  number integer not null check (number > 0),
  -- The rows recorded from the first instant up to, not including, the second.
  from_at timestamptz not null,
  until_at timestamptz not null,
  rows integer not null check (rows >= 0),
  key_id text not null,
  -- Of each row 24 bytes, sorted: a keyed hash of its name and one of all that it says. An erasure takes out what the rows
  -- of a user say, and their names stay provable.
  leaves bytea not null,
  -- The hash of the block before; null: it is the first.
  previous bytea,
  -- A keyed hash of the leaves, the block's own columns and the block before.
  hash bytea not null,
  sealed_at timestamptz not null,
  primary key (partner_id, source, number),
  check (until_at > from_at)
);

-- Erasures, so that a restored copy can apply those it does not know of.
create table erasures (
  partner_id uuid not null,
  service_id uuid not null,
  erased_at timestamptz not null,
  -- When nothing of the data key was left in table and log files; null: not yet.
  scrubbed_at timestamptz,
  -- When the user's events had left log and replay; null: some still wait for an endpoint.
  events_removed_at timestamptz,
  primary key (partner_id, service_id)
);
create index erasures_unscrubbed on erasures (partner_id, service_id) where scrubbed_at is null;
create index erasures_with_events on erasures (partner_id, service_id) where events_removed_at is null;

-- What the law makes the operator keep of an erased user, sealed by a key of its own until `keep_until`.
create table retained_records (
  partner_id uuid not null,
  service_id uuid not null,
  kind text not null check (kind in ('consents', 'confirmations', 'coverage', 'beneficiaries')),
  wrapped_key bytea not null,
  sealed bytea not null,
  keep_until timestamptz not null,
  primary key (partner_id, service_id, kind)
);

-- Creates that were refused, so that "why is this person not enrolled?" has an answer. Without personal data.
create table refused_creates (
  partner_id uuid not null,
  -- A keyed hash of the userid.
  userid_hash bytea not null,
  at timestamptz not null,
  request_id uuid not null,
  code text not null,
  -- [{"field", "code"}]
  reasons jsonb not null,
  primary key (partner_id, userid_hash, at, request_id)
);
