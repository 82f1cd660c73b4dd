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
