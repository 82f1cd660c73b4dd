-- Every key of partner data begins with partner_id, so that a cluster can spread the tables by it (ARCHITECTURE.md).
-- The service sets all timestamps; only the statements about leases ask the database for the time.
-- Figures such as "1.0 µs a row" are the processor time that a key or index costs PostgreSQL for each row that is inserted,
-- 60,000 at once (`node bench/indexes.mjs`). A primary key is the address of what is read and changed, so each is kept: users
-- 0.7 µs, data keys, history and search hashes 1.0, documents and events 0.8, enrolments 1.2, tokens 1.5, idempotency keys 1.8.

create extension if not exists btree_gist;

-- On every node of a cluster.

-- One row, which says what this database is: a sandbox or live, forever.
create table installation (
  only_row boolean primary key default true check (only_row),
  sandbox boolean not null,
  -- A keyed hash of a fixed text. The service compares it at the start, so that it refuses a wrong keyring before that
  -- does harm.
  keyring_check bytea not null,
  -- The id of the root key that made keyring_check, so that an error about a wrong keyring can name the right one.
  root_key_id text not null,
  -- Signs audit blocks of entries that concern no partner; wrapped by the root key whose id it contains, as partners'
  -- keys are.
  wrapped_audit_key bytea not null,
  created_at timestamptz not null,
  -- Set while this copy must not act: no deliveries, no due changes, no writes (`serve --quiet`, `restore`).
  quiet_since timestamptz,
  -- The console's actions that need a second person: {"erase": true, ...}; an action that is not named needs one.
  operator_policy jsonb not null default '{}',
  -- Where the console was opened last; commands print links to it.
  console_url text
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
  -- Other names of the partner that `partnername` of Get Benefits may carry.
  aliases text[] not null default '{}',
  timezone text not null,
  locale text not null default 'en' check (locale in ('en', 'es')),
  origins text[] not null default '{}',
  redirects text[] not null default '{}',
  -- Where the partner's users find help: {"phone", "email", "url"}, each optional.
  help jsonb not null default '{}',
  -- The links and the line at the foot of the partner's pages: {"privacyurl", "termsurl", "operatorline"}, each
  -- optional.
  legal jsonb not null default '{}',
  -- The partner's look on page and copy, checked for contrast: {"logo": file hash, "colors", "radius", "font"}.
  look jsonb not null default '{}',
  -- How long agreed texts, confirmations and dates of coverage are kept after an erasure, such as `7y`; null: not at
  -- all.
  retain text check (retain ~ '^[1-9][0-9]?y$'),
  -- null: all offers of the catalogue
  offers text[],
  api_key_optional boolean not null default false,
  -- The rate limit in requests a second, and the burst of its token bucket; null: no limit.
  rate_per_second double precision check (rate_per_second > 0),
  -- The scopes that the operator allows; null: the default ones, which are all but those about beneficiaries.
  scopes text[],
  -- The partner's key, wrapped by the root key whose id the wrapped key itself contains.
  wrapped_key bytea not null,
  -- How far a sandbox has moved this partner's business dates forward.
  clock_offset_ms bigint not null default 0 check (clock_offset_ms >= 0),
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The cell that has the rows of the partner; '' where there is one PostgreSQL.
  cell text not null default ''
);

create table credentials (
  partner_id uuid not null references partners,
  credential_id text not null,
  kind text not null check (kind in ('client_secret', 'api_key')),
  pepper_id text not null,
  hash bytea not null,
  created_at timestamptz not null,
  -- The name of the operator or, at the shell, of the system user who made it.
  made_by text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (partner_id, credential_id)
);

-- In each cell of a cluster.

-- When a credential was last used, written at most once a minute. It is a table of its own, so that `credentials` is
-- almost never written.
create table credential_uses (
  partner_id uuid not null,
  credential_id text not null,
  last_used_at timestamptz not null,
  primary key (partner_id, credential_id)
);

create table access_tokens (
  partner_id uuid not null,
  token_id text not null,
  -- The client secret with which the token was issued; revoking the secret revokes the token.
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
-- The clean-up's, for each partner; 1.0 µs a row. The foreign key costs 3.0, and keeps a token from outliving its credential.
-- Partial, with a condition that its use implies. Otherwise the planner, when it last saw few tokens, would use it to
-- look up a token by its id, and read all tokens of the partner each time.
create index access_tokens_expiry on access_tokens (partner_id, expires_at) where expires_at is not null;

-- PostgreSQL parses each check anew for each statement that writes, 11 µs for every 1,000 characters of its stored form.
-- So users, documents, history and the heads of logs have only those that keep states and kinds apart. tests/life/stage.ts
-- looks for the rest: what one object of the code writes together, such as an offer with its day, is there together.
-- A list as one literal takes half the space of `in (...)`.
create table users (
  partner_id uuid not null,
  service_id uuid not null,
  -- Each change raises it by one. A change is written only if the version is still the one on which it was decided.
  version integer not null default 1,
  -- The partner's userid. For an erased user: a control character and a keyed hash of it, which no living user's userid
  -- can equal.
  userid text not null,
  -- false: an erased user whose userid now belongs to a new user.
  is_current boolean not null default true,
  status text not null check (status = any ('{none,prefilled,registering,active,cancelled,erased}')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- How often a prefill was stored, and when last; both stay after the entry has lapsed.
  prefill_count integer not null default 0,
  prefill_written_at timestamptz,
  -- When the prefill entry or the registration lapses; null: there is none.
  entry_expires_at timestamptz,
  -- The offer that is in force, is still to start, or was held last, with the catalogue version under which it began.
  offer text,
  offer_since timestamptz,
  offer_version integer,
  offer_in_force boolean not null default false,
  -- false: the offer's rules no longer admit the user, who keeps it nevertheless.
  offer_admits boolean not null default true,
  pending_offer text,
  pending_offer_at timestamptz,
  -- [{"add": name, "remove": name}, ...]; a pair may have only one of the two
  swap_pairs jsonb,
  swap_at timestamptz,
  cancel_at timestamptz,
  cancel_requested_at timestamptz,
  cancel_reason text check (cancel_reason = any ('{voluntary,employmentended,nonpayment,deceased,duplicate,mistake}')),
  erased_at timestamptz,
  -- The earliest instant at which a change of this user must be applied.
  due_at timestamptz,
  primary key (partner_id, service_id),
  check ((status = 'erased') = (erased_at is not null)),
  check (is_current or status = 'erased'),
  check (not offer_in_force or (offer is not null and status = 'active')),
  check (status <> 'active' or offer is not null),
  check (status <> 'cancelled' or cancel_at is not null),
  check (status = 'active' or (pending_offer is null and swap_pairs is null))
);
-- One living user for a userid; 1.0 µs a row.
create unique index users_by_userid on users (partner_id, userid) where is_current;
-- Those who were erased under a userid before the last one.
create index users_erased_before on users (partner_id, userid) where not is_current;
-- With the id, so that lists of what is due read page by page, in a definite order, from the index alone.
-- 1.0 µs a row.
create index users_due on users (partner_id, due_at, service_id) where due_at is not null;
-- Who changed since an instant (`GET /users?changedafter=`); 0.7 µs a row.
create index users_changed on users (partner_id, updated_at);

-- The wrapped data keys have a table of their own, so that erasing a user is deleting one row.
create table data_keys (
  partner_id uuid not null,
  service_id uuid not null,
  wrapped_key bytea not null,
  primary key (partner_id, service_id)
);

-- Personal data: one sealed JSON document per row.
create table documents (
  partner_id uuid not null,
  service_id uuid not null,
  kind text not null check (kind = any ('{prefill,profile,draft}')),
  sealed bytea not null,
  written_at timestamptz not null,
  -- Hashes by which the console finds a person, keyed with the partner's key; a draft has none.
  email_hash bytea,
  phone_hash bytea,
  primary key (partner_id, service_id, kind)
);
create index documents_email on documents (partner_id, email_hash) where email_hash is not null;
create index documents_phone on documents (partner_id, phone_hash) where phone_hash is not null;

-- The clean-up's; nothing for any other document.
create index documents_drafts on documents (partner_id, written_at) where kind = 'draft';

create table enrolments (
  partner_id uuid not null,
  service_id uuid not null,
  enrolment_id uuid not null,
  benefit text not null,
  offer text not null,
  is_fixed boolean not null,
  state text not null check (state = any ('{selected,actionrequired,scheduled,enrolled,endscheduled,ended,withdrawn,declined,rejected,void}')),
  -- The pending change that would bring this enrolment; the row is deleted or kept together with that change.
  pending_by text check (pending_by = any ('{offer,swap}')),
  catalogue_version integer not null,
  picked_at timestamptz not null,
  starts_at timestamptz not null,
  ends_at timestamptz,
  -- The enrolment's own end, independent of pending changes.
  own_end_at timestamptz,
  own_end_reason text,
  -- The end that an operator gave, while an earlier end of a person whom the benefit does not admit stands before it.
  corrected_end_at timestamptz,
  action_due_at timestamptz,
  close_reason text,
  -- The user asked for this benefit alone and not with an offer, so an event of its own reports its start.
  is_single boolean not null default false,
  -- The voided enrolment that this one replaces, after an operator's correction.
  corrects uuid,
  primary key (partner_id, service_id, enrolment_id),
  check (ends_at is null or ends_at >= starts_at or state in ('withdrawn', 'declined', 'rejected', 'void')),
  check (state <> 'endscheduled' or ends_at is not null),
  check (state <> 'ended' or ends_at is not null),
  check ((own_end_at is null) = (own_end_reason is null)),
  check (corrected_end_at is null or own_end_reason = 'ineligible'),
  check (pending_by is null or state not in ('enrolled', 'endscheduled', 'ended')),
  -- The enrolments of one benefit never overlap in time. The dearest of all, 8.7 µs a row, and the only guard against two rules
  -- that give one benefit twice.
  exclude using gist (
    service_id with =, benefit with =, partner_id with =, tstzrange(starts_at, ends_at) with &&
  ) where (state in ('selected', 'actionrequired', 'scheduled', 'enrolled', 'endscheduled', 'ended'))
);

create table consents (
  partner_id uuid not null,
  service_id uuid not null,
  name text not null,
  version text not null,
  locale text not null,
  agreed_at timestamptz not null,
  -- How the consent was given: on the page, sent by the partner, or put on record by an operator with evidence.
  channel text not null default 'partner' check (channel in ('page', 'partner', 'phone', 'paper', 'email', 'import')),
  text_hash bytea,
  recorded_by text,
  sealed_evidence bytea,
  primary key (partner_id, service_id, name, version)
);

-- The beneficiaries that a person names. Versions are never edited; the newest is in force.
create table beneficiary_designations (
  partner_id uuid not null,
  service_id uuid not null,
  benefit text not null,
  version integer not null check (version > 0),
  who text not null check (who in ('user', 'operatorlink')),
  written_at timestamptz not null,
  -- Names, relationships, shares, birth dates and contacts: one JSON document sealed with the user's data key.
  sealed bytea not null,
  primary key (partner_id, service_id, benefit, version)
);

-- What a person agreed to, as the page showed it: stored in the transaction of the enrolment, and never changed.
create table confirmations (
  partner_id uuid not null,
  service_id uuid not null,
  confirmation_id uuid not null,
  reference text not null,
  -- The session of the page that did it, and what it did; an undo is a confirmation without a copy.
  session_id uuid not null,
  outcome text not null,
  has_copy boolean not null,
  -- One JSON document sealed with the user's data key.
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (partner_id, service_id, confirmation_id)
);
create index confirmations_reference on confirmations (partner_id, reference);

-- What happened to a user: one row for each version of the user. Rows are never edited or deleted, and hold no personal
-- data.
create table history (
  partner_id uuid not null,
  service_id uuid not null,
  -- The user's version after the change. Versions follow one another without a branch, so they give the order of
  -- changes.
  version integer not null,
  at timestamptz not null,
  recorded_at timestamptz not null,
  who text not null,
  -- [{what, from, to, why, ...}, ...], as `StoredLine` has them; empty where only personal data changed
  lines jsonb not null,
  -- The events that the change raised; an erasure finds a user's events by these ids.
  event_ids uuid[] not null default '{}',
  -- The credential, page session or operator behind `who`, the request of the change, and the reference given for it.
  actor text,
  request_id uuid,
  reference text,
  primary key (partner_id, service_id, version)
);
-- A block index, 0.2 µs a row. autosummarize summarizes each block range as it fills. Without it, a search for a request would read all ranges
-- written since the last vacuum.
create index history_recorded on history using brin (recorded_at) with (autosummarize = on);

-- The length of each partner's event log. A transaction that adds to the log locks this row until its commit, so that a
-- partner's events are numbered in the order of their commits, without a gap.
create table event_log_heads (
  partner_id uuid primary key,
  last bigint not null default 0
) with (fillfactor = 50);

create table events (
  partner_id uuid not null,
  -- A UUID v7: `eventid` of the API, and the Idempotency-Key and webhook-id of every delivery.
  event_id uuid not null,
  -- The event's place in its partner's log: 1, 2, 3, ...
  position bigint not null,
  service_id uuid not null,
  userid text not null,
  eventname text not null,
  -- The bytes that every attempt sends.
  body bytea not null,
  data jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (partner_id, event_id)
);
-- The order of the log, by which cursors read; 0.8 µs a row.
create unique index events_position on events (partner_id, position);

create table idempotency_keys (
  partner_id uuid not null,
  operation text not null,
  key_hash bytea not null,
  request_hash bytea not null,
  -- Names the attempt that reserved the key. After a commit whose answer was lost, it shows whether that commit took
  -- place.
  attempt_id uuid not null,
  service_id uuid,
  -- prefill: the number of the user's prefill that this key stored.
  prefill_number integer,
  -- Other writes: the first answer, sealed with the user's data key
  sealed_answer bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (partner_id, operation, key_hash)
);
-- This index costs 0.7 µs a row, and 2 to 3 µs per prefill in batches of 64. A BRIN index would cost nothing to write, but keys that live a day and keys
-- that live 90 days lie side by side, so that it finds nothing: with 120,000 keys of 100 partners, finding no lapsed
-- key took 8 ms per partner instead of 0.3 ms.
create index idempotency_keys_expiry on idempotency_keys (partner_id, expires_at);
-- The answers that an erasure deletes. Prefills keep no answer, so this index costs them nothing.
create index idempotency_keys_answers on idempotency_keys (partner_id, service_id) where sealed_answer is not null;

create table webhook_endpoints (
  partner_id uuid not null references partners,
  endpoint_id uuid not null,
  -- Each change raises it, so that the process that sends to the endpoint notices the change.
  version integer not null default 1,
  url text not null,
  -- Credentials, signing secrets, the partner's own headers and its client certificate: one JSON document sealed with the
  -- partner's key
  sealed_secrets bytea not null,
  events text[] not null,
  all_events boolean not null default false,
  ordering text not null default 'none' check (ordering in ('none', 'user')),
  -- Deliveries a second that it can bear
  rate_limit double precision,
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (partner_id, endpoint_id),
  check ((disabled_at is null) = (disabled_reason is null))
);

-- Only deliveries that are still to be made.
create table deliveries (
  partner_id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  service_id uuid not null,
  -- The event's position: it gives the order of one user's deliveries.
  position bigint not null,
  -- Why an attempt is due: it is the first one, a later one, or one that was requested again.
  work text not null default 'fresh' check (work = any ('{fresh,retry,replay}')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  queued_at timestamptz not null,
  -- One user's events must arrive in order; a delivery behind another one is parked when its time comes.
  ordered boolean not null default false,
  parked boolean not null default false,
  primary key (partner_id, event_id, endpoint_id),
  check (ordered or not parked)
);
create index deliveries_due on deliveries (partner_id, endpoint_id, work, due_at, event_id) where not parked;
create index deliveries_of_user on deliveries (partner_id, endpoint_id, service_id, position) where ordered;
create index deliveries_parked on deliveries (partner_id, endpoint_id, service_id, position) where parked;
