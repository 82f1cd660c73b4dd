-- In each cell of a cluster.

-- The request of the console in which an operator used what a second person had allowed for one time.
alter table operator_requests add column used_in uuid;

-- On every node of a cluster.

-- Where the service was last opened, for links that the console makes.
alter table installation add column service_url text;
