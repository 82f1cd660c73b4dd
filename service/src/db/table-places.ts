/** Where the rows of a table lie on a cluster. Plain PostgreSQL knows no difference. */
export type Place = 'by partner' | 'on every node' | 'on the coordinator'

/**
 * Where each table lies on a Citus cluster. All that belongs to a partner lies on the partner's node, so that a
 * transaction of one partner stays on one node; small tables that many statements join are copied to every node; what
 * must be written while a node is away stays on the coordinator. `users` comes first: the others lie beside it.
 */
export const tablePlaces: ReadonlyMap<string, Place> = new Map([
  ...namesOf(
    'by partner',
    'users data_keys documents enrolments consents beneficiary_designations confirmations search_hashes history',
    'event_log_heads events idempotency_keys',
    'webhook_endpoints endpoint_health endpoint_leases deliveries dead_deliveries delivery_attempts',
    'page_sessions access_tokens',
    // Written with each use, and never read together with the credential on a hot path.
    'credential_uses',
    'audit_log audit_blocks erasures retained_records refused_creates operator_requests',
  ),
  ...namesOf(
    'on every node',
    'installation catalogue_versions files',
    // Read with the first request of a process for a partner, whichever node its data lies on.
    'partners credentials',
    // They belong to no partner, and are few.
    'operators operator_links operator_passkeys operator_sessions',
  ),
  ...namesOf(
    'on the coordinator',
    'migrations',
    // Each process says every two seconds that it lives: on every node that would fail while one of them is away.
    'dispatchers',
  ),
])

function namesOf(place: Place, ...lines: readonly string[]): [string, Place][] {
  return lines.flatMap(line => line.split(' ')).map(name => [name, place])
}
