import { dateAt } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql } from '../../db/sql.ts'
import { sealFarewell } from '../records/farewells.ts'
import { loadTold, openInsurerAnswer, type Told } from '../records/insurer-lines.ts'
import { coveredOf, coversOf, personsOf } from '../rules/covers.ts'
import { linesFor } from '../rules/insurer-lines.ts'
import { insurerFarewells } from './tables.ts'
import { addRow, type BatchWrites, type ErasedUserRow } from './writes.ts'

/**
 * Prepares what insurers must still be told of erased users: mostly that what was in force has ended. It is sealed under the
 * partner's key, because the user's own is about to be deleted. If a run tells an insurer more before the erasure is
 * committed, the commit fails and the erasure is decided again.
 */
export async function bidFarewell(db: Executor, writes: BatchWrites): Promise<void> {
  for (const erased of writes.erased) {
    const { partnerId, serviceId } = erased.user
    const [counted] = await db.query<{ lines: number }>(sql`
      select count(*)::integer as lines from insurer_lines where partner_id = ${partnerId} and service_id = ${serviceId}`)
    erased.toldLines = counted?.lines ?? 0
    if (erased.toldLines === 0) continue
    const told = await loadTold(db, partnerId, [serviceId])
    const memberIds = await memberIdsOf(db, erased)
    for (const group of groupsOf(told)) addFarewells(writes, erased, { group, memberIds })
  }
}

/** Fails unless insurers were told as many lines about a user as when its erasure was decided. */
export function checkToldLines({ user, toldLines }: ErasedUserRow): Query {
  return sql`
    select 1 / (count(*) = ${toldLines})::integer from insurer_lines
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId}`
}

function addFarewells(
  writes: BatchWrites,
  { user, partner }: ErasedUserRow,
  { group, memberIds }: { readonly group: readonly Told[]; readonly memberIds: ReadonlyMap<string, string> },
): void {
  const [{ insurer, benefit } = { insurer: '', benefit: '' }] = group
  const at = user.erasedAt ?? user.updatedAt
  const horizon = { today: dateAt(at, partner.timezone), aheadDays: 0 }
  const detailsOf = () => ''
  // What else was to be told of the person is not: only the dates count from here on.
  const dates = group.map(one => ({ ...one, details: '' }))
  const memberId = memberIds.get(benefit) ?? ''
  let numbered = Math.max(...dates.map(({ number }) => number))
  for (const person of personsOf(user, benefit, dates)) {
    const { dependantId, relationship } = coveredOf(user, person) ?? {}
    const dependant = dependantId && relationship && { dependantId, relationship }
    const told = dates.filter(one => one.person === person)
    const truth = coversOf(user, benefit, partner.timezone, person)
    for (const line of linesFor(told, truth, { horizon, detailsOf, numbered })) {
      const { action, number: cover, startsOn, endsOn } = line
      numbered = Math.max(numbered, cover)
      const farewell = {
        user,
        insurer,
        benefit,
        action,
        cover,
        startsOn,
        endsOn,
        memberId,
        ...(dependant && { dependant }),
      }
      addRow(writes, insurerFarewells, sealFarewell(partner, farewell, at))
    }
  }
}

function groupsOf(told: readonly Told[]): Told[][] {
  const groups = new Map<string, Told[]>()
  for (const one of told) {
    const name = `${one.insurer} ${one.benefit}`
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return [...groups.values()]
}

/** The newest member number of each benefit. */
async function memberIdsOf(db: Executor, { user, key }: ErasedUserRow): Promise<Map<string, string>> {
  const rows = await db.query<{ benefit: string; sealed_answer: Buffer }>(sql`
    select benefit, sealed_answer from insurer_lines
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId} and sealed_answer is not null
      and dependant_id is null
    order by told_at, run, line`)
  const answers = rows.flatMap(row =>
    key ? [{ benefit: row.benefit, memberId: openInsurerAnswer(key, user, row.sealed_answer).memberId }] : [],
  )
  return new Map(answers.filter(({ memberId }) => memberId !== '').map(one => [one.benefit, one.memberId]))
}
