import { expect, test } from 'vitest'
import { openPublished } from '../../service/src/catalogue/published.ts'
import { sql } from '../../service/src/db/sql.ts'
import type { Command } from '../../service/src/membership/commands/command.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { openTerms } from '../../service/src/membership/commands/open-terms.ts'
import { raise } from '../../service/src/membership/rules/events.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { clockOn, type Partner } from '../../service/src/partners/partner.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'

const service = forAllTests(startTestService)

test('a command that breaks after it began to write leaves nothing, and its neighbours are written', async () => {
  const { database } = service
  const { partnerId } = await service.newPartner()
  const [row] = await findPartners(database, [partnerId])
  if (!row) throw new Error('the partner is missing')
  const partner = partnerOf(row, service.keyring)
  const { terms, prepareTerms, consentHash } = openTerms({
    published: openPublished({ database, real: Date.now }),
    real: Date.now,
  })
  const clock = clockOn(Date.now)
  const told: string[] = []
  const onEvents = (ids: ReadonlySet<string>) => void told.push(...ids)
  const executor = openCommandExecutor({
    database,
    clock,
    sandbox: true,
    terms,
    prepareTerms,
    consentHash,
    onWritten: () => {},
    onEvents,
  })
  const outcomes = await Promise.allSettled(
    ['first', 'broken', 'last'].map(userid => executor.submit(storing(partner, userid))),
  )
  expect(outcomes.map(outcome => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[1]).toMatchObject({ reason: { message: 'broken on purpose' } })
  const kept = await database.query<{ userid: string; lines: number; events: number }>(sql`
    select u.userid, (select count(*)::integer from history h
        where h.partner_id = u.partner_id and h.service_id = u.service_id) as lines,
      (select count(*)::integer from events e
        where e.partner_id = u.partner_id and e.service_id = u.service_id) as events
    from users u where u.partner_id = ${partnerId} order by u.created_at, u.userid`)
  expect(kept.map(user => user.userid).sort()).toEqual(['first', 'last'])
  expect(kept.every(user => user.events === 1 && user.lines > 0)).toBe(true)
  const [all] = await database.query<{ events: number; lines: number }>(sql`
    select (select count(*)::integer from events where partner_id = ${partnerId}) as events,
      (select count(*)::integer from history where partner_id = ${partnerId}
        and service_id not in (select service_id from users where partner_id = ${partnerId})) as lines`)
  expect(all).toEqual({ events: 2, lines: 0 })
  expect(told).toContain(partnerId)
})

/** Stores an entry, and fails while its answer is made if the user is the broken one. */
function storing(partner: Partner, userid: string): Command<string> {
  return {
    partner,
    userid,
    who: 'partner',
    why: 'prefill',
    decide: commandContext => {
      const user = commandContext.orNew()
      const stored = {
        ...user,
        status: 'prefilled' as const,
        prefillCount: user.prefillCount + 1,
        prefillWrittenAt: commandContext.now,
        entryExpiresAt: commandContext.now + 1000 * 86_400,
      }
      return {
        answer: () => {
          if (userid === 'broken') throw new Error('broken on purpose')
          return 'stored'
        },
        change: {
          user: stored,
          events: [raise(stored, 'enrollment_request_received', commandContext.now)],
          documents: { prefill: { firstname: userid } },
        },
      }
    },
  }
}
