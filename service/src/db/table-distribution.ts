/** How the rows of a table are stored on a cluster. It makes no difference on plain PostgreSQL. */
export type Distribution = 'by partner' | 'on every node' | 'on the coordinator'

/**
 * How each table is stored on a Citus cluster. All rows of a partner are on one node, so that its transactions stay
 * on that node; small tables that many statements join are copied to every node; tables that must be written while a
 * node is away stay on the coordinator. `users` comes first, because the others are stored beside it.
 */
export const tableDistribution: ReadonlyMap<string, Distribution> = new Map([
  ...namesOf(
    'by partner',
    'users data_keys documents enrolments consents beneficiary_designations confirmations history',
    'event_log_heads events idempotency_keys',
    'webhook_endpoints endpoint_health endpoint_leases deliveries dead_deliveries delivery_attempts',
    'page_sessions access_tokens',
    // Written with each use, and never read together with the credential in a frequent statement.
    'credential_uses',
    'held_periods corrected_pasts statements statement_lines',
    'audit_log audit_blocks erasures retained_records refused_creates operator_requests',
    'insurer_lines insurer_farewells feed_seen feed_differences',
  ),
  ...namesOf(
    'on every node',
    'installation catalogue_versions files',
    // Read at a process’s first request for a partner, whichever node has its rows.
    'partners credentials',
    // These few rows belong to no partner.
    'operators operator_links operator_sessions',
  ),
  ...namesOf(
    'on the coordinator',
    'migrations',
    // Every process updates its row every two seconds, which would fail on a copied table while any node is away.
    'dispatchers',
    // Whoever makes a run locks its feed in one transaction and writes in others, which Citus would hold up for a copied table.
    'feed_versions feeds feed_runs',
  ),
])

function namesOf(distribution: Distribution, ...lines: readonly string[]): [string, Distribution][] {
  return lines.flatMap(line => line.split(' ')).map(name => [name, distribution])
}
