// @databases citus

import { expect, test } from 'vitest'
import { openPublished } from '../../service/src/catalogue/published.ts'
import type { Database } from '../../service/src/db/database.ts'
import type { Command, ExecutorContext } from '../../service/src/membership/command.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { openTerms } from '../../service/src/membership/reading/open-terms.ts'
import { raise } from '../../service/src/membership/rules/state.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { clockOn, type Partner } from '../../service/src/partners/partner.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { openOwnJournal } from './journal.ts'
import { checkUsers } from './ledger.ts'

const service = forAllTests(startTestService)

test('a command that breaks after it began to write leaves nothing, and its neighbours are written', async () => {
  const { database } = service
  const told: string[] = []
  const { partner, executor } = await openExecutor({ onEvents: ids => void told.push(...ids) })
  const { partnerId } = partner
  const outcomes = await Promise.allSettled(
    ['first', 'broken', 'last'].map(userid => executor.submit(storing(partner, userid))),
  )
  expect(outcomes.map(outcome => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[1]).toMatchObject({ reason: { message: 'broken on purpose' } })
  const journal = openOwnJournal()
  for (const userid of ['first', 'last']) journal.note(userid, 'prefill')
  // There is no receiver: commands are given to the executor as the service gives them.
  await checkUsers({ journal, database, partnerId })
  expect(told).toContain(partnerId)
})

test.each([
  ['a command that breaks', 'broken', { message: 'broken on purpose' }],
  [
    'a command of which the database refuses a row',
    'refused',
    { message: expect.stringContaining('users_check3') },
  ],
])('%s costs its neighbours a few transactions, not one each', async (_, name, reason) => {
  let commits = 0
  const commit: Database['commit'] = (...statements) => {
    commits += 1
    return service.database.commit(...statements)
  }
  const { partner, executor } = await openExecutor({ database: { ...service.database, commit } })
  const userids = Array.from({ length: 64 }, (_, index) => (index === 40 ? name : `u${index}`))
  const outcomes = await Promise.allSettled(userids.map(userid => executor.submit(storing(partner, userid))))
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(outcomes[40]).toMatchObject({ reason })
  const journal = openOwnJournal()
  for (const userid of userids) if (userid !== name) journal.note(userid, 'prefill')
  await checkUsers({ journal, database: service.database, partnerId: partner.partnerId })
  expect(commits).toBeLessThan(10)
})

async function openExecutor(own: Partial<Pick<ExecutorContext, 'database' | 'onEvents'>>) {
  const { partnerId } = await service.newPartner()
  const [row] = await findPartners(service.database, [partnerId])
  if (!row) throw new Error('the partner is missing')
  const { database } = service
  const { terms, prepareTerms, consentHash } = openTerms({
    published: openPublished({ database, real: Date.now }),
    real: Date.now,
  })
  const executor = openCommandExecutor({
    database,
    clock: clockOn(Date.now),
    sandbox: true,
    terms,
    prepareTerms,
    consentHash,
    onWritten: () => {},
    onEvents: () => {},
    ...own,
  })
  return { partner: partnerOf(row, service.keyring), executor }
}

/** Stores an entry; that of the broken user fails while its answer is made, and that of the refused one is no row that a table takes. */
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
        status: userid === 'refused' ? ('active' as const) : ('prefilled' as const),
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
