import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { AuditedTable, Finding } from './blocks.ts'

/** The signature of a block that `enrolment audit export` printed at some time and that was kept elsewhere. */
export type KeptHead = {
  readonly partnerId: string
  readonly source: AuditedTable
  readonly number: number
  readonly until: Instant
  readonly hash: string
}

/**
 * Compares blocks with signatures that were kept elsewhere, and returns every difference. This finds blocks that somebody
 * who has the keys altered and signed again. A block of `audit_log` that ended before `keptSince` may have been deleted meanwhile.
 */
export async function verifyHeads(
  db: Executor,
  heads: readonly KeptHead[],
  keptSince: Instant,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { partnerId, source, number, until, hash } of heads) {
    const [block] = await db.query<{ hash: Buffer }>(sql`
      select hash from audit_blocks
      where partner_id = ${partnerId} and source = ${source} and number = ${number}`)
    const name = `block ${number}`
    if (block?.hash.toString('hex') === hash) continue
    if (block) findings.push({ partnerId, source, name, fault: 'block altered' })
    else if (source === 'history' || until > keptSince)
      findings.push({ partnerId, source, name, fault: 'block missing' })
  }
  return findings
}
