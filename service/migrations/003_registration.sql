-- One row from the link token to the result: a token, once spent, becomes a session, and the session has an outcome.
create table page_sessions (
  partner_id uuid not null,
  session_id uuid not null,
  userid text not null,
  -- The user to whom the session is bound once the token is spent.
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
  spent_at timestamptz,
  revoked_at timestamptz,
  handle_pepper_id text,
  handle_hash bytea,
  last_seen_at timestamptz,
  -- Links of sms and email ask for the birth date first.
  birthdate_tries integer not null default 0 check (birthdate_tries between 0 and 5),
  birthdate_passed_at timestamptz,
  birthdate_tried_at timestamptz,
  -- Asked once more, by a link that others may read, before people are shown whom the person named.
  birthdate_again_tries integer not null default 0 check (birthdate_again_tries between 0 and 5),
  birthdate_again_at timestamptz,
  -- The look that the embed asked for, checked; no personal data.
  appearance jsonb,
  -- How far the person came: the last view that was shown, and when a link that had ended was pressed last.
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
-- Partial, with what each use implies: before its first ANALYZE the planner would look sessions up by these, reading all of
-- a partner for each.
create index page_sessions_user on page_sessions (partner_id, userid) where userid is not null;
create index page_sessions_age on page_sessions (partner_id, created_at) where created_at is not null;

-- Documents, icons and logos of catalogue and partners, by the hash of their bytes.
create table files (
  hash bytea primary key check (octet_length(hash) = 32),
  media_type text not null check (media_type in ('application/pdf', 'image/png', 'image/webp')),
  content bytea not null,
  stored_at timestamptz not null,
  stored_by text not null
);
