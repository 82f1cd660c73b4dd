import { sql } from '../../service/src/db/sql.ts'
import type { TestService } from '../rig.ts'
import type { OperatorBrowser } from './operator-browser.ts'

/** What the audit log keeps of one thing that an operator did. */
export type Deed = {
  readonly action: string
  readonly result: string
  /** The user whom it concerned; `null`: none. */
  readonly serviceId: string | null
  /** Whether a reason is on record, which is sealed. */
  readonly because: boolean
}

/** What the audit log has of an operator, the oldest first. */
export async function deedsOf(
  { database }: Pick<TestService, 'database'>,
  { operatorId }: Pick<OperatorBrowser, 'operatorId'>,
): Promise<Deed[]> {
  return database.query<Deed>(sql`
    select action, result, service_id as "serviceId", sealed_reason is not null as because from audit_log
    where actor = ${operatorId} order by entry_id`)
}

/** The actions of an operator that are on record as done for a reason. */
export async function reasonedDeedsOf(
  service: Pick<TestService, 'database'>,
  operator: Pick<OperatorBrowser, 'operatorId'>,
): Promise<string[]> {
  const deeds = await deedsOf(service, operator)
  return deeds.filter(({ because, result }) => because && result === 'done').map(({ action }) => action)
}
