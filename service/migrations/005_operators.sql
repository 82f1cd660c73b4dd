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
