-- In each cell of a cluster.

-- The request of the console in which an operator used what a second person had allowed for one time.
alter table operator_requests add column used_in uuid;

-- A held run of a feed is let go by a request, too.
alter table operator_requests drop constraint operator_requests_action_check;
alter table operator_requests add constraint operator_requests_action_check
  check (action in ('void', 'move', 'erase', 'dateandlink', 'credentials', 'release'));

-- On every node of a cluster.

-- Where the service was last opened, for links that the console makes.
alter table installation add column service_url text;

-- At the coordinator of a cluster.

-- Who asked to let a held run go: a request says so now.
alter table feed_runs drop column asked_by;
