-- In each cell of a cluster.

-- A line is about one person of an enrolment (contract §19); null: the member.
alter table insurer_lines add column dependant_id uuid;
-- The tier that the line told, and its first day, which is null where it holds from the start of the cover.
alter table insurer_lines add column tier text;
alter table insurer_lines add column tier_starts_on date;
