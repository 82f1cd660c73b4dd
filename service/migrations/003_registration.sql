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
