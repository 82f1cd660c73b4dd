-- partner_id leads every key of partner data, so that the schema can be spread by it (ARCHITECTURE.md).
-- Timestamps are given by the service; no statement asks the database for the time, except for leases.

create extension if not exists btree_gist;

-- One row: what this database is, for ever.
create table installation (
  only_row boolean primary key default true check (only_row),
  sandbox boolean not null,
  -- A keyed hash of a fixed text: tells a wrong keyring before it does harm.
  keyring_check bytea not null,
  -- The id of the root key that the check hangs on, so that who brings another keyring is told which one is wanted.
  root_key_id text not null,
  created_at timestamptz not null,
  -- Set while this copy must not act on the world: no deliveries, no due changes, no writes (`serve --quiet`, `restore`).
  quiet_since timestamptz,
  -- What of the console needs a second person: {"erase": true, ...}; an action that is not named needs one.
  operator_policy jsonb not null default '{}'
);

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
  -- What the page links and names: {"privacyurl", "termsurl", "operatorline"}, each where there is one.
  legal jsonb not null default '{}',
  -- The partner's look on page and copy, checked for contrast: {"logo": file hash, "colors", "radius", "font"}.
  look jsonb not null default '{}',
  -- How long agreed texts, confirmations and dates of coverage outlive an erasure, like `7y`; null: not at all.
  retain text check (retain ~ '^[1-9][0-9]?y$'),
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
  disabled_reason text,
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

-- When a credential was last used, written at most once a minute; apart, so that `credentials` is almost never written.
create table credential_uses (
  partner_id uuid not null,
  credential_id text not null,
  last_used_at timestamptz not null,
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
  partner_id uuid not null,
  service_id uuid not null,
  -- Rises by one with each change. A change is written only where the version is still the one it was decided on.
  version integer not null default 1 check (version > 0),
  -- Of an erased user: a control character and a keyed hash of it, which no living user's can equal.
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
  offer_version integer,
  offer_in_force boolean not null default false,
  -- false: the user's data no longer fit its rules; it stays nevertheless.
  offer_admits boolean not null default true,
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
  primary key (partner_id, service_id)
);

-- Personal data: one sealed JSON document a row.
create table documents (
  partner_id uuid not null,
  service_id uuid not null,
  kind text not null check (kind in ('prefill', 'profile', 'draft')),
  sealed bytea not null,
  written_at timestamptz not null,
  primary key (partner_id, service_id, kind)
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
  catalogue_version integer not null,
  picked_at timestamptz not null,
  starts_at timestamptz not null,
  ends_at timestamptz,
  -- An end of its own, besides those that pending changes bring.
  own_end_at timestamptz,
  own_end_reason text,
  action_due_at timestamptz,
  close_reason text,
  -- Asked for by itself and not with an offer: its start is told by an event of its own.
  is_single boolean not null default false,
  -- The enrolment that this one takes the place of, which an operator voided.
  corrects uuid,
  primary key (partner_id, service_id, enrolment_id),
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
  -- How it was given: on the page, sent by the partner, or put on record by an operator with the evidence for it.
  channel text not null default 'partner' check (channel in ('page', 'partner', 'phone', 'paper', 'email')),
  recorded_by text,
  sealed_evidence bytea,
  primary key (partner_id, service_id, name, version)
);

-- Whom a person names to receive a benefit. Versions, none edited; what a partner proposes counts once it is confirmed.
create table beneficiary_designations (
  partner_id uuid not null,
  service_id uuid not null,
  benefit text not null,
  version integer not null check (version > 0),
  status text not null check (status in ('proposed', 'confirmed', 'dropped')),
  who text not null check (who in ('partner', 'user', 'operator')),
  -- Names, relationships, shares, birth dates and contacts: one JSON document sealed with the user's data key.
  sealed bytea not null,
  written_at timestamptz not null,
  decided_at timestamptz,
  primary key (partner_id, service_id, benefit, version)
);

-- What a person agreed to, as it was shown: made in the transaction of the enrolment, and never changed.
create table confirmations (
  partner_id uuid not null,
  service_id uuid not null,
  confirmation_id uuid not null,
  reference text not null,
  -- One JSON document sealed with the user's data key.
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (partner_id, service_id, confirmation_id)
);
create index confirmations_reference on confirmations (partner_id, reference);

-- Hashes by which the console finds an account: keyed by the partner's key, removed by an erasure.
create table search_hashes (
  partner_id uuid not null,
  service_id uuid not null,
  kind text not null check (kind in ('email', 'phone')),
  hash bytea not null,
  primary key (partner_id, service_id, kind)
);
create index search_hashes_found on search_hashes (partner_id, hash);

-- What happened to a user, a row for each version of it: never edited, never deleted, without personal data.
create table history (
  partner_id uuid not null,
  service_id uuid not null,
  -- The version of the user that the change made. Only one version can follow another, so this is the order of changes.
  version integer not null check (version > 0),
  at timestamptz not null,
  recorded_at timestamptz not null,
  who text not null,
  -- [[what, from, to, why], ...]; empty where only personal data changed
  lines jsonb not null,
  -- The events that the change raised: an erasure finds those of a user by them.
  event_ids uuid[] not null default '{}',
  -- The credential, page session or operator behind `who`, the request it came with, and the reference given for it.
  actor text,
  request_id uuid,
  reference text,
  primary key (partner_id, service_id, version)
);
-- Summarized as blocks fill: until the next vacuum whatever is not would be read whole by each search for a request.
create index history_recorded on history using brin (recorded_at) with (autosummarize = on);

-- How long the event log of each partner is. Whoever adds to the log holds this row until the commit, so that the events
-- of a partner are numbered as they are committed, without a gap.
create table event_log_heads (
  partner_id uuid primary key,
  last bigint not null default 0 check (last >= 0)
) with (fillfactor = 50);

create table events (
  partner_id uuid not null,
  -- A UUID v7: `eventid` of the API, and the Idempotency-Key and webhook-id of every delivery.
  event_id uuid not null,
  -- Where it stands in its partner's log: 1, 2, 3, ...
  position bigint not null,
  service_id uuid not null,
  userid text not null,
  eventname text not null,
  -- The bytes that are sent, on every try.
  body bytea not null,
  data jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (partner_id, event_id)
);
create unique index events_position on events (partner_id, position);

create table idempotency_keys (
  partner_id uuid not null,
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
-- 2 to 3 µs a prefill. A block index would be free to write, but keys of a day and of 90 days lie side by side, so that it
-- finds nothing: with 120,000 keys of 100 partners, seeing that nothing has lapsed took 8 ms a partner instead of 0.3 ms.
create index idempotency_keys_expiry on idempotency_keys (partner_id, expires_at);
-- What an erasure destroys. Prefills keep no answer, so they do not pay for it.
create index idempotency_keys_answers on idempotency_keys (partner_id, service_id) where sealed_answer is not null;

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
  -- That of the event: the order of one user's deliveries.
  position bigint not null,
  -- Why a try is due: the first one, a later one, or one that was asked for again
  work text not null default 'fresh' check (work in ('fresh', 'retry', 'replay')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  queued_at timestamptz not null,
  -- One user's events are to arrive in order; those behind another one are parked when they come up.
  ordered boolean not null default false,
  parked boolean not null default false,
  primary key (partner_id, event_id, endpoint_id),
  check (ordered or not parked)
);
create index deliveries_due on deliveries (partner_id, endpoint_id, work, due_at, event_id) where not parked;
create index deliveries_of_user on deliveries (partner_id, endpoint_id, service_id, position) where ordered;
create index deliveries_parked on deliveries (partner_id, endpoint_id, service_id, position) where parked;
