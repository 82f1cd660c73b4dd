-- All sealed records of a user in one table: documents, confirmations, evidence of consents, beneficiaries. A seal names its purpose and
-- its user, not its table, so that rows move unopened.

-- In each cell of a cluster.

create table sealed_records (
  partner_id uuid not null,
  service_id uuid not null,
  kind text not null,
  -- These tell records of one kind apart: a reference and an id, a consent or a benefit and its version; empty for documents.
  name text not null,
  version text not null,
  at timestamptz not null,
  -- One JSON document, or the text of an evidence, sealed with the user's data key.
  sealed bytea not null,
  -- What is known about it without opening it; no personal data.
  facts jsonb,
  -- Hashes by which the console finds a person, keyed with the partner's key; only prefilled data and an account have them.
  email_hash bytea,
  phone_hash bytea,
  primary key (partner_id, service_id, kind, name, version)
);

insert into sealed_records (partner_id, service_id, kind, name, version, at, sealed, email_hash, phone_hash)
select partner_id, service_id, kind, '', '', written_at, sealed, email_hash, phone_hash from documents;

insert into sealed_records (partner_id, service_id, kind, name, version, at, sealed, facts)
select partner_id, service_id, 'confirmation', reference, confirmation_id::text, created_at, sealed,
  ('{"session":"' || session_id::text || '","outcome":"' || outcome || '","copy":' || has_copy::text || '}')::jsonb
from confirmations;

insert into sealed_records (partner_id, service_id, kind, name, version, at, sealed)
select partner_id, service_id, 'evidence', name, version, agreed_at, sealed_evidence
from consents where sealed_evidence is not null;

insert into sealed_records (partner_id, service_id, kind, name, version, at, sealed, facts)
select partner_id, service_id, 'beneficiaries', benefit, version::text, written_at, sealed, ('{"who":"' || who || '"}')::jsonb
from beneficiary_designations;

create index sealed_records_email on sealed_records (partner_id, email_hash) where email_hash is not null;
create index sealed_records_phone on sealed_records (partner_id, phone_hash) where phone_hash is not null;
-- The clean-up's; nothing for any other record.
create index sealed_records_drafts on sealed_records (partner_id, at) where kind = 'draft';
create index sealed_records_reference on sealed_records (partner_id, name) where kind = 'confirmation';

drop table documents;
drop table confirmations;
drop table beneficiary_designations;
alter table consents drop column sealed_evidence;
