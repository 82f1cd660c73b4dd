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
