-- In each cell of a cluster.

-- Family cover (contract §19). The dependants themselves stand in the sealed data of the account, and each version of their list in
-- sealed_records; here are no personal data.

-- The newest version of the list; null: there never was one, and no row of covered_dependants.
alter table users add column dependants_version integer;

-- Who will be covered from a boundary on: [{"dependantId": id, "relationship": one}, ...].
alter table enrolments add column pending_cover jsonb;
alter table enrolments add column pending_cover_at timestamptz;
-- The catalogue version whose tiers hold since a change of cover, where that of the enrolment has none.
alter table enrolments add column tiers_version integer;
alter table enrolments add column tiers_at timestamptz;

-- Who else an enrolment covers, by day: written with the enrolment, whose days it shares but for an own start and an own end.
create table covered_dependants (
  partner_id uuid not null,
  service_id uuid not null,
  enrolment_id uuid not null,
  -- In the order in which they came.
  place integer not null,
  benefit text not null,
  dependant_id uuid not null,
  relationship text not null check (relationship in ('spouse', 'domesticpartner', 'child')),
  own_start_at timestamptz,
  own_end_at timestamptz,
  own_end_reason text check (own_end_reason in ('endsatage', 'coverchanged', 'corrected')),
  -- The own end has taken effect.
  is_over boolean not null,
  -- The days that result, within those of the enrolment.
  starts_at timestamptz not null,
  ends_at timestamptz,
  -- Whether the enrolment covers or will cover somebody: it was not withdrawn, declined, rejected or voided.
  counts boolean not null,
  primary key (partner_id, service_id, enrolment_id, place),
  check (ends_at is null or ends_at >= starts_at),
  check ((own_end_at is null) = (own_end_reason is null)),
  -- Nobody is covered twice by one benefit at one time.
  exclude using gist (
    service_id with =, benefit with =, dependant_id with =, partner_id with =, tstzrange(starts_at, ends_at) with &&
  ) where (counts)
);
