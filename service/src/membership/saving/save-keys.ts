import { type Columns, column, listOf, namesOf, rowsOf } from '../../db/columns.ts'
import { type Query, sql } from '../../db/sql.ts'
import { keyNames } from '../reading/load.ts'
import type { BatchWrites, ReservedKey } from './batch-writes.ts'

const keys: Columns<ReservedKey> = {
  ...keyNames,
  request_hash: column.bytes(key => key.requestHash),
  attempt_id: column.uuid(key => key.attemptId),
  service_id: column.uuid(key => key.serviceId),
  prefill_number: column.integer(key => key.prefillNumber),
  sealed_answer: column.bytes(key => key.sealedAnswer),
  created_at: column.instant(key => key.createdAt),
  expires_at: column.instant(key => key.expiresAt),
}

/** Deletes keys that have lapsed, so that they are free. */
export function deleteKeys(stale: readonly BatchWrites['staleKeys'][number][]): Query {
  return sql`
    delete from idempotency_keys k using ${listOf(keyNames, stale)}
    where k.partner_id = row.partner_id and k.operation = row.operation and k.key_hash = row.key_hash`
}

/** Adds the keys that commands have used up; one that exists already fails the transaction. */
export function insertKeys(used: readonly ReservedKey[]): Query {
  return sql`
    insert into idempotency_keys (${namesOf(keys)})
    select * from ${rowsOf(keys, used)}`
}
