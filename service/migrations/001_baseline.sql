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

-- In each cell of a cluster.

-- One row from link token to result: a used token becomes a session, and the session gets an outcome.
create table page_sessions (
  partner_id uuid not null,
  session_id uuid not null,
  userid text not null,
  -- The user of the session, set when the token is used.
  service_id uuid,
  purpose text not null check (purpose in ('registration', 'benefits', 'swap', 'offerchange')),
  offername text,
  deeplinkdata text,
  redirecturl text,
  origins text[] not null,
  locale text not null check (locale in ('en', 'es')),
  delivery text not null check (delivery in ('embed', 'hosted', 'sms', 'email')),
  token_pepper_id text not null,
  token_hash bytea not null,
  created_at timestamptz not null,
  token_expires_at timestamptz not null,
  -- The operator who made the link at the console; null: the partner made it.
  made_by uuid,
  spent_at timestamptz,
  revoked_at timestamptz,
  handle_pepper_id text,
  handle_hash bytea,
  last_seen_at timestamptz,
  -- Links sent by sms and email ask for the birth date first; this counts the attempts.
  birthdate_tries integer not null default 0 check (birthdate_tries between 0 and 5),
  birthdate_passed_at timestamptz,
  birthdate_tried_at timestamptz,
  -- The attempts when the birth date is asked again: a link by sms or email may be read by others, so it asks once more
  -- before it shows the person's beneficiaries.
  birthdate_again_tries integer not null default 0 check (birthdate_again_tries between 0 and 5),
  birthdate_again_at timestamptz,
  -- The appearance that the embed asked for, already checked; it holds no personal data.
  appearance jsonb,
  -- How far the person came: the last view shown, and when somebody last pressed a link that had ended.
  last_view text,
  dead_link_at timestamptz,
  signed_out_at timestamptz,
  outcome text check (outcome in ('enrolled', 'swapped', 'changed', 'cancelled', 'undone', 'exited', 'challengefailed')),
  reference text,
  completed_at timestamptz,
  result_pepper_id text,
  result_hash bytea,
  primary key (partner_id, session_id),
  check ((spent_at is null) = (handle_hash is null)),
  check ((outcome is null) = (completed_at is null))
);
-- Partial, with a condition that each intended use implies. Otherwise the planner, before the first ANALYZE, would use
-- these indexes to look up sessions by id, and read all sessions of a partner each time.
create index page_sessions_user on page_sessions (partner_id, userid) where userid is not null;
create index page_sessions_age on page_sessions (partner_id, created_at) where created_at is not null;

-- On every node of a cluster.

-- Documents and icons of the catalogue and logos of partners, stored by the hash of their bytes.
create table files (
  hash bytea primary key check (octet_length(hash) = 32),
  media_type text not null check (media_type in ('application/pdf', 'image/png', 'image/webp')),
  content bytea not null,
  stored_at timestamptz not null,
  stored_by text not null
);

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

-- On every node of a cluster.

-- The people who work at the operators' console.
create table operators (
  operator_id uuid primary key,
  name text not null unique check (name <> ''),
  role text not null check (role in ('viewer', 'support', 'admin', 'developer')),
  -- The partners the operator may see; null: all partners.
  partners uuid[],
  -- Issuer and subject at the identity provider, if the operator signs in there.
  issuer text,
  subject text,
  -- In lower case, where it is known: two operators who have it in common are one person, who confirms nothing of its own.
  email text,
  created_at timestamptz not null,
  disabled_at timestamptz,
  check ((issuer is null) = (subject is null)),
  unique (issuer, subject)
);

create table operator_links (
  operator_id uuid not null references operators,
  link_id uuid primary key,
  pepper_id text not null,
  hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  spent_at timestamptz
);

create table operator_sessions (
  session_id uuid primary key,
  operator_id uuid not null references operators,
  pepper_id text not null,
  hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);

-- In each cell of a cluster.

-- Actions that need a second person: requested by one operator, decided by another.
create table operator_requests (
  partner_id uuid not null,
  request_id uuid not null,
  action text not null check (action in ('void', 'move', 'erase', 'dateandlink', 'credentials')),
  -- Null: it is about the partner.
  service_id uuid,
  -- The request and its reason, sealed with the partner's key. Empty once the user is erased.
  sealed bytea not null,
  asked_by uuid not null,
  asked_at timestamptz not null,
  expires_at timestamptz not null,
  decided_by uuid,
  decided_at timestamptz,
  outcome text check (outcome in ('done', 'refused', 'withdrawn', 'lapsed')),
  primary key (partner_id, request_id),
  check ((decided_at is null) = (outcome is null)),
  check (decided_by is null or decided_by <> asked_by)
);
-- The list shows those that wait, and the newest of the others.
create index operator_requests_waiting on operator_requests (request_id) where outcome is null;
create index operator_requests_newest on operator_requests (request_id);

-- In each cell of a cluster.

-- Monthly statements (contract §16): what a month is counted from, beside `users` and `enrolments`, and what became final.

-- Times for which a user has or had an offer; and, since an erasure deletes the enrolments, those for which an erased user
-- had a benefit. No personal data.
create table held_periods (
  partner_id uuid not null,
  service_id uuid not null,
  -- Of the offer or the benefit; the catalogue gives no name to both.
  name text not null,
  starts_at timestamptz not null,
  ends_at timestamptz,
  -- The catalogue version under which it began: its prices apply.
  catalogue_version integer not null,
  is_offer boolean not null,
  primary key (partner_id, service_id, name, starts_at),
  check (ends_at is null or ends_at >= starts_at)
);
-- A partner's first month: without it each page of lines would read all periods until a month is final.
create index held_periods_start on held_periods (partner_id, starts_at);

-- Users of whom a change concerned the past, and when it was written. Their final months are compared with today's records
-- until the month of that change is final itself.
create table corrected_pasts (
  partner_id uuid not null,
  service_id uuid not null,
  recorded_at timestamptz not null,
  primary key (partner_id, service_id)
);

-- A row from the moment at which a month begins to become final.
create table statements (
  partner_id uuid not null,
  -- YYYY-MM
  month text not null,
  -- The zone in which the month was counted.
  timezone text not null,
  begun_at timestamptz not null,
  -- The last user whose lines are stored; while `finalized_at` is null nobody reads them.
  last_service_id uuid not null,
  users integer not null default 0,
  person_cents bigint not null default 0,
  partner_cents bigint not null default 0,
  finalized_at timestamptz,
  primary key (partner_id, month)
);

-- No personal data: lines outlive the erasure of their user.
create table statement_lines (
  partner_id uuid not null,
  month text not null,
  service_id uuid not null,
  -- The place among the user's lines of the month: 0, 1, 2, ...
  place integer not null,
  kind text not null check (kind in ('benefit', 'offer', 'adjustment')),
  name text not null,
  offer text not null,
  from_date date not null,
  to_date date not null,
  person_cents bigint not null,
  taken_by text not null,
  partner_cents bigint not null,
  insurer_cents bigint not null,
  insurer text not null,
  about text not null,
  primary key (partner_id, month, service_id, place)
);

-- At the coordinator of a cluster.

-- What insurers are told of the people whom they cover (docs/feeds.md).

-- The files that operators published, each version kept forever, as those of the catalogue are.
create table feed_versions (
  version integer primary key check (version > 0),
  document jsonb not null,
  published_at timestamptz not null,
  published_by text not null
);

-- One row for each name of a feed. Whoever makes a run locks it, so that two processes make one run.
create table feeds (
  feed text primary key,
  -- A feed that was never run is due at the first time of its schedule after this.
  published_at timestamptz not null
);

create table feed_runs (
  feed text not null references feeds,
  -- Counts from 1 in each feed: the control number of the file.
  run integer not null check (run > 0),
  -- The version of the feeds from which the file is written, and that of the catalogue with which people were compared.
  version integer not null,
  catalogue_version integer not null,
  status text not null check (status in ('made', 'held', 'taken', 'dropped')),
  is_full boolean not null,
  lines integer not null,
  -- How many lines of each action: {"add": 2, ...}
  counts jsonb not null,
  made_at timestamptz not null,
  made_by text not null,
  -- The operator who asked to let a held run of the schedule go.
  asked_by text,
  -- The operator who let a held run go, or dropped it.
  decided_by text,
  taken_at timestamptz,
  primary key (feed, run)
);

-- In each cell of a cluster.

-- Every line as an insurer was sent it. The newest line about a period of cover that was not refused is what the insurer
-- knows of it.
create table insurer_lines (
  partner_id uuid not null,
  service_id uuid not null,
  insurer text not null,
  benefit text not null,
  -- Empty, with run 0, for what a former system had told.
  feed text not null,
  run integer not null,
  line integer not null,
  told_at timestamptz not null,
  -- Numbers the periods of cover of one person and benefit.
  cover integer not null,
  action text not null check (action in ('add', 'change', 'correct', 'end', 'reinstate', 'void')),
  starts_on date not null,
  ends_on date,
  -- A keyed hash of all else that the line says; null: not known.
  details bytea,
  -- The values of the line: one JSON document sealed with the user's data key; null for what a former system had told.
  sealed bytea,
  -- 'doubted': the insurer's own list says otherwise, so the next run says it again.
  status text not null default 'sent' check (status in ('sent', 'accepted', 'refused', 'settled', 'doubted')),
  -- What the insurer answered, such as its code and the member number, sealed with the user's data key.
  sealed_answer bytea,
  answered_at timestamptz,
  primary key (partner_id, service_id, benefit, feed, run, line)
);
create index insurer_lines_of_run on insurer_lines (partner_id, feed, run, line);

-- What an insurer must still be told of an erased person: the end of a cover, with member number, benefit and dates only.
create table insurer_farewells (
  partner_id uuid not null,
  service_id uuid not null,
  insurer text not null,
  benefit text not null,
  cover integer not null,
  action text not null check (action in ('end', 'correct', 'void')),
  -- The run that sent it; null while none has.
  feed text,
  run integer,
  line integer,
  -- One JSON document sealed with the partner's key.
  sealed bytea not null,
  keep_until timestamptz not null,
  primary key (partner_id, service_id, benefit, cover)
);

-- The version of a user that a feed's last run compared, and when time alone may change what the insurer must know.
create table feed_seen (
  partner_id uuid not null,
  feed text not null,
  service_id uuid not null,
  version integer not null,
  look_at timestamptz,
  primary key (partner_id, feed, service_id)
);

-- In each cell of a cluster.

-- What differs between what insurers were told and their own lists (docs/feeds.md).

create table feed_differences (
  -- All zeros for somebody whom only the insurer knows.
  partner_id uuid not null,
  feed text not null,
  kind text not null check (kind in ('missingthere', 'unknownhere', 'dates', 'details', 'twice')),
  -- A keyed hash of whom and what it is about, by which the next comparison finds it again.
  subject bytea not null,
  -- Null for somebody whom only the insurer knows.
  service_id uuid,
  benefit text not null,
  -- The first of the comparisons that found it without one between them that did not.
  found_at timestamptz not null,
  -- An operator set it aside; it is not listed while it stays as it is.
  aside_at timestamptz,
  aside_reason text check (aside_reason in ('insurermends', 'listwrong', 'formersystem', 'agreed')),
  primary key (partner_id, feed, kind, subject)
);
