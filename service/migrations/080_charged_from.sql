-- In each cell of a cluster.

-- Members who were imported, and the month from which each is charged (YYYY-MM): what was before was charged elsewhere. Members
-- imported before this was kept have no row, and keep their charges.

create table charged_from (
  partner_id uuid not null,
  service_id uuid not null,
  month text not null check (month ~ '^\d{4}-\d{2}$'),
  primary key (partner_id, service_id)
);

-- How many days of a line were in force; null in lines that were made final before this was kept.
alter table statement_lines add column days integer;
