-- partner_id leads every key of partner data, so that the schema can be spread by it (ARCHITECTURE.md).
-- Timestamps are given by the service; no statement asks the database for the time, except for leases.

create extension if not exists btree_gist;

-- One row: what this database is, for ever.
create table installation (
  only_row boolean primary key default true check (only_row),
  sandbox boolean not null,
  -- A keyed hash of a fixed text: tells a wrong keyring before it does harm.
  keyring_check bytea not null,
  -- What is added to the ids of transactions, so that the event log goes on where it ended in another server: a database
  -- that is restored there finds a count of transactions that may be lower.
  log_offset bigint not null default 0,
  created_at timestamptz not null
);

-- Where the running transaction stands in the event log.
create function log_position() returns bigint language sql volatile
  return pg_current_xact_id()::text::bigint + coalesce((select log_offset from installation), 0);

-- All that stands below this in the event log is there to see, and nothing is added to it any more.
create function log_horizon() returns bigint language sql stable
  return pg_snapshot_xmin(pg_current_snapshot())::text::bigint + coalesce((select log_offset from installation), 0);

-- No transaction of this server has come so far yet.
create function log_limit() returns bigint language sql stable
  return pg_snapshot_xmax(pg_current_snapshot())::text::bigint + coalesce((select log_offset from installation), 0);

create table catalogue_versions (
  version integer primary key check (version > 0),
  document jsonb not null,
  published_at timestamptz not null,
  published_by text not null
);

create table partners (
  partner_id uuid primary key,
  name text not null check (name <> ''),
  -- Further names that partnername of Get Benefits may carry.
  aliases text[] not null default '{}',
  timezone text not null,
  locale text not null default 'en' check (locale in ('en', 'es')),
  origins text[] not null default '{}',
  redirects text[] not null default '{}',
  -- Where its users find help: {"phone", "email", "url"}, each where there is one.
  help jsonb not null default '{}',
  -- null: all offers of the catalogue
  offers text[],
  api_key_optional boolean not null default false,
  -- Requests a second and the burst of the token bucket; null: no limit.
  rate_per_second double precision check (rate_per_second > 0),
  -- What the operator allows: null means all scopes.
  scopes text[],
  -- The partner's key, wrapped by the root key named in it.
  wrapped_key bytea not null,
  -- A sandbox moves business dates forward by this much.
  clock_offset_ms bigint not null default 0 check (clock_offset_ms >= 0),
  disabled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table credentials (
  partner_id uuid not null references partners,
  credential_id text not null,
  kind text not null check (kind in ('client_secret', 'api_key')),
  pepper_id text not null,
  hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (partner_id, credential_id)
);

create table access_tokens (
  partner_id uuid not null,
  token_id text not null,
  -- The secret it was issued from: revoked with it.
  credential_id text not null,
  pepper_id text not null,
  hash bytea not null,
  scopes text[] not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (partner_id, token_id),
  foreign key (partner_id, credential_id) references credentials
);
create index access_tokens_expiry on access_tokens (partner_id, expires_at);

create table users (
  partner_id uuid not null references partners,
  service_id uuid not null,
  userid text not null check (userid <> ''),
  -- false: an erased user whose userid was given to a new one
  is_current boolean not null default true,
  status text not null check (status in ('none', 'prefilled', 'registering', 'active', 'cancelled', 'erased')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- How often a prefill was stored, and when last; both outlive the entry.
  prefill_count integer not null default 0 check (prefill_count >= 0),
  prefill_written_at timestamptz,
  -- When the prefill entry or the registration lapses; null: there is none
  entry_expires_at timestamptz,
  -- The offer in force, to start, or last held; the catalogue version under which it began.
  offer text,
  offer_since timestamptz,
  offer_version integer references catalogue_versions,
  offer_in_force boolean not null default false,
  pending_offer text,
  pending_offer_at timestamptz,
  -- [{"add": name|null, "remove": name|null}]
  swap_pairs jsonb,
  swap_at timestamptz,
  cancel_at timestamptz,
  cancel_requested_at timestamptz,
  cancel_reason text check (cancel_reason in ('voluntary', 'employmentended', 'nonpayment', 'deceased', 'duplicate', 'mistake')),
  erased_at timestamptz,
  -- The earliest instant at which something is to be applied.
  due_at timestamptz,
  primary key (partner_id, service_id),
  check ((status = 'erased') = (erased_at is not null)),
  check (is_current or status = 'erased'),
  check ((offer is null) = (offer_since is null) and (offer is null) = (offer_version is null)),
  check (not offer_in_force or (offer is not null and status = 'active')),
  check (status <> 'active' or offer is not null),
  check ((pending_offer is null) = (pending_offer_at is null)),
  check ((swap_pairs is null) = (swap_at is null)),
  check ((cancel_at is null) = (cancel_reason is null) and (cancel_at is null) = (cancel_requested_at is null)),
  check (status <> 'cancelled' or cancel_at is not null),
  check (status = 'active' or (pending_offer is null and swap_pairs is null))
);
create unique index users_by_userid on users (partner_id, userid) where is_current;
create index users_due on users (partner_id, due_at) where due_at is not null;

-- The wrapped data keys stand alone, so that erasing a user is deleting one row.
create table data_keys (
  partner_id uuid not null,
  service_id uuid not null,
  wrapped_key bytea not null,
  primary key (partner_id, service_id),
  foreign key (partner_id, service_id) references users
);

-- Personal data: one sealed JSON document a row.
create table documents (
  partner_id uuid not null,
  service_id uuid not null,
  kind text not null check (kind in ('prefill', 'profile', 'draft')),
  sealed bytea not null,
  written_at timestamptz not null,
  primary key (partner_id, service_id, kind),
  foreign key (partner_id, service_id) references users
);

create index documents_drafts on documents (partner_id, written_at) where kind = 'draft';

create table enrolments (
  partner_id uuid not null,
  service_id uuid not null,
  enrolment_id uuid not null,
  benefit text not null,
  offer text not null,
  is_fixed boolean not null,
  state text not null check (state in ('selected', 'actionrequired', 'scheduled', 'enrolled', 'endscheduled',
    'ended', 'withdrawn', 'declined', 'rejected', 'void')),
  -- What a pending change would bring: the row follows the change.
  planned_by text check (planned_by in ('offer', 'swap')),
  catalogue_version integer not null references catalogue_versions,
  picked_at timestamptz not null,
  starts_at timestamptz not null,
  ends_at timestamptz,
  -- An end of its own, besides those that pending changes bring.
  own_end_at timestamptz,
  own_end_reason text,
  action_due_at timestamptz,
  close_reason text,
  primary key (partner_id, service_id, enrolment_id),
  foreign key (partner_id, service_id) references users,
  check (ends_at is null or ends_at >= starts_at or state in ('withdrawn', 'declined', 'rejected', 'void')),
  check (state <> 'endscheduled' or ends_at is not null),
  check (state <> 'ended' or ends_at is not null),
  check ((own_end_at is null) = (own_end_reason is null)),
  check (planned_by is null or state not in ('enrolled', 'endscheduled', 'ended')),
  -- Windows of one benefit never overlap.
  exclude using gist (
    service_id with =, benefit with =, partner_id with =, tstzrange(starts_at, ends_at) with &&
  ) where (state in ('selected', 'actionrequired', 'scheduled', 'enrolled', 'endscheduled', 'ended'))
);

create table consents (
  partner_id uuid not null,
  service_id uuid not null,
  name text not null,
  version text not null,
  text_hash bytea,
  locale text not null,
  agreed_at timestamptz not null,
  primary key (partner_id, service_id, name, version),
  foreign key (partner_id, service_id) references users
);

-- What happened to a user: never edited, never deleted, without personal data.
create table history (
  partner_id uuid not null,
  service_id uuid not null,
  -- Counts the user's lines, while the user is locked: the order of its changes, whatever the clocks of the processes say.
  sequence_number integer not null,
  entry_id uuid not null,
  at timestamptz not null,
  recorded_at timestamptz not null,
  what text not null,
  from_state text not null,
  to_state text not null,
  who text not null,
  why text not null,
  primary key (partner_id, service_id, sequence_number)
);

create table events (
  partner_id uuid not null references partners,
  event_id uuid not null,
  service_id uuid not null,
  -- The order of one user's events. Drawn while the user is locked, and without a cache: so it rises as they are raised,
  -- whatever the clocks of the processes say.
  sequence_number bigint not null generated always as identity,
  userid text not null,
  eventname text not null,
  idempotency_key uuid not null,
  -- The bytes that are sent, on every try.
  body bytea not null,
  data jsonb not null,
  created_at timestamptz not null,
  -- Orders the log without gaps: a reader waits for all transactions older than what it shows.
  log_position bigint not null default log_position(),
  primary key (partner_id, event_id)
);
create index events_log on events (partner_id, log_position, event_id);

-- The last event in the log of each partner that has one.
create view newest_events as
  select newest.partner_id, newest.event_id, newest.log_position, newest.sequence_number
  from partners p
  cross join lateral (
    select e.partner_id, e.event_id, e.log_position, e.sequence_number from events e
    where e.partner_id = p.partner_id
    order by e.log_position desc, e.event_id desc limit 1
  ) newest;

create table idempotency_keys (
  partner_id uuid not null references partners,
  operation text not null,
  key_hash bytea not null,
  request_hash bytea not null,
  -- Names the attempt that claimed it: tells a lost commit that took place from one that did not.
  attempt_id uuid not null,
  service_id uuid,
  -- prefill: which of the user's prefills this key stored
  prefill_number integer,
  -- Other writes: the first answer, sealed with the user's data key
  sealed_answer bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (partner_id, operation, key_hash)
);
-- Partial, with what each use implies: before its first ANALYZE the planner would look keys up by these, reading all keys
-- of a partner for each.
create index idempotency_keys_expiry on idempotency_keys (partner_id, expires_at) where expires_at is not null;
create index idempotency_keys_user on idempotency_keys (partner_id, service_id) where service_id is not null;

create table webhook_endpoints (
  partner_id uuid not null references partners,
  endpoint_id uuid not null,
  -- Grows with each change, so that the process that sends to it notices.
  version integer not null default 1,
  url text not null,
  username text not null,
  -- The user name of credentials that are to replace the present ones
  next_username text,
  -- Passwords and signing secrets: one JSON document sealed with the partner's key
  sealed_secrets bytea not null,
  events text[] not null,
  all_events boolean not null default false,
  ordering text not null default 'none' check (ordering in ('none', 'user')),
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (partner_id, endpoint_id),
  check ((disabled_at is null) = (disabled_reason is null))
);

-- What is still to be delivered, and nothing else.
create table deliveries (
  partner_id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  service_id uuid not null,
  -- That of the event.
  sequence_number bigint not null,
  -- Why a try is due: the first one, a later one, or one that was asked for again
  work text not null default 'fresh' check (work in ('fresh', 'retry', 'replay')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  queued_at timestamptz not null,
  -- One user's events are to arrive in order; those behind another one are parked when they come up.
  ordered boolean not null default false,
  parked boolean not null default false,
  primary key (partner_id, event_id, endpoint_id),
  foreign key (partner_id, endpoint_id) references webhook_endpoints,
  foreign key (partner_id, event_id) references events,
  check (ordered or not parked)
);
create index deliveries_due on deliveries (partner_id, endpoint_id, work, due_at, event_id) where not parked;
create index deliveries_of_user on deliveries (partner_id, endpoint_id, service_id, sequence_number) where ordered;
create index deliveries_parked on deliveries (partner_id, endpoint_id, service_id, sequence_number) where parked;
