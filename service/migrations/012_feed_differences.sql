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
