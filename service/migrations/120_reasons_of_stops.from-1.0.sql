-- On every node of a cluster.

-- Why a partner was stopped: the audit log has it, sealed.
alter table partners drop column disabled_reason;
