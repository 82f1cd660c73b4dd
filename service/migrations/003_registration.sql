-- One row from the link token to the result: a token, once spent, becomes a session, and the session has an outcome.
create table page_sessions (
  partner_id uuid not null references partners,
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
  -- The look that the embed asked for, checked; no personal data.
  appearance jsonb,
  outcome text check (outcome in ('enrolled', 'swapped', 'changed', 'cancelled', 'undone', 'exited')),
  reference text,
  completed_at timestamptz,
  result_pepper_id text,
  result_hash bytea,
  primary key (partner_id, session_id),
  check ((spent_at is null) = (handle_hash is null)),
  check ((outcome is null) = (completed_at is null))
);
-- Partial, with what each use implies, as those of `idempotency_keys` and for their reason.
create index page_sessions_user on page_sessions (partner_id, userid) where userid is not null;
create index page_sessions_age on page_sessions (partner_id, created_at) where created_at is not null;
