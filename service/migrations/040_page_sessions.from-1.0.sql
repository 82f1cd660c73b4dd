-- The birth date is asked once in a session; nobody asks when a dead link was used last; an embedding page no longer changes the look.
alter table page_sessions drop column birthdate_again_tries;
alter table page_sessions drop column birthdate_again_at;
alter table page_sessions drop column dead_link_at;
alter table page_sessions drop column appearance;

-- Null: the link names no language, and nobody has opened it. The service alone says which languages there are.
alter table page_sessions drop constraint page_sessions_locale_check;
alter table page_sessions alter column locale drop not null;

-- The language that a person chose last on the page, for their next link.
-- In each cell of a cluster.
create table page_languages (
  partner_id uuid not null,
  userid text not null,
  locale text not null,
  primary key (partner_id, userid)
);
