// @databases citus stock

import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { eraseAccount } from '../../service/src/accounts/lifecycle.ts'
import { openPublished } from '../../service/src/catalogue/published.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import type { Command } from '../../service/src/membership/command.ts'
import { type CommandExecutor, openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { openTerms } from '../../service/src/membership/reading/open-terms.ts'
import { refuse } from '../../service/src/membership/rules/refusal.ts'
import { raise } from '../../service/src/membership/rules/state.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { clockOn, type Partner } from '../../service/src/partners/partner.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { holdUsers } from '../hold-users.ts'
import { patientDatabase } from '../patient-database.ts'
import { startTestService } from '../rig.ts'
import { openOwnJournal } from './journal.ts'
import { checkUsers } from './ledger.ts'

// Executors that do not know of each other, each with its own connections, like those of two processes.
const databases: Database[] = []
const service = forAllTests(startTestService)
afterAll(async () => {
  for (const database of databases) await database.close()
})

async function newPartner(): Promise<Partner> {
  const { partnerId } = await service.newPartner()
  const [row] = await findPartners(service.database, [partnerId])
  if (!row) throw new Error('the partner is missing')
  return partnerOf(row, service.keyring)
}

async function openExecutor(
  own: (database: Database) => Database = database => database,
  sandbox = true,
): Promise<CommandExecutor> {
  const pool = openDatabase(service.address, { max: 4, ...patientDatabase })
  databases.push(pool)
  await pool.learnCells()
  // On a cluster it has one cell.
  const [cell = pool] = pool.cells()
  const database = own(cell)
  const { terms, prepareTerms, consentHash } = openTerms({
    published: openPublished({ database, real: Date.now }),
    real: Date.now,
  })
  const clock = clockOn(Date.now)
  const told = { onEvents: () => {}, onWritten: () => {} }
  return openCommandExecutor({ database, clock, sandbox, terms, prepareTerms, consentHash, ...told })
}

/** Stores an entry: one more prefill, one event. */
function storing(partner: Partner, userid: string, more: Partial<Command<string>> = {}): Command<string> {
  return {
    partner,
    userid,
    who: 'partner',
    why: 'prefill',
    decide: context => {
      const user = context.orNew()
      const stored = {
        ...user,
        status: 'prefilled' as const,
        updatedAt: context.now,
        prefillCount: user.prefillCount + 1,
        prefillWrittenAt: context.now,
        entryExpiresAt: context.now + 1000 * 86_400,
      }
      return {
        answer: () => `stored ${stored.prefillCount}`,
        change: {
          user: stored,
          events: [raise(stored, 'enrollment_request_received', context.now)],
          documents: { prefill: { firstname: `${stored.prefillCount}` } },
        },
      }
    },
    ...more,
  }
}

async function countDeadlocks(): Promise<number> {
  const [row] = await service.database.query<{ deadlocks: number }>(
    sql`select deadlocks from pg_stat_database where datname = current_database()`,
  )
  return row?.deadlocks ?? 0
}

type Change = { userid: string; version: number; position: number; prefills: number; written: number }

/** The rows of each change, in the order of the log. */
function changesOf(partner: Partner): Promise<Change[]> {
  return service.database.query<Change>(sql`
    select u.userid, h.version, e.position, u.prefill_count as prefills, u.version as written
    from events e
    join users u on u.partner_id = e.partner_id and u.service_id = e.service_id
    join history h on h.partner_id = e.partner_id and h.service_id = e.service_id and e.event_id = any(h.event_ids)
    where e.partner_id = ${partner.partnerId} order by e.position`)
}

test('processes that write the same users at once lose no change and never deadlock, and log and history follow the versions', async () => {
  const partner = await newPartner()
  const executors = [await openExecutor(), await openExecutor(), await openExecutor()]
  const userids = Array.from({ length: 12 }, (_, index) => `u${index}`)
  const rounds = 8
  const before = await countDeadlocks()
  // Each process takes the users in a different order.
  const outcomes = await Promise.all(
    executors.flatMap((executor, process) =>
      Array.from({ length: rounds }, (_, round) =>
        userids.map((_, index) => {
          const userid = userids[(index * ([1, 5, 7][process] ?? 1) + round) % userids.length] ?? ''
          // One of the processes takes every user for a new one at first.
          return executor.submit(storing(partner, userid, { startsAnew: process === 0 }))
        }),
      ).flat(),
    ),
  )
  const each = executors.length * rounds
  expect(new Set(outcomes.map(outcome => ('reply' in outcome ? outcome.reply : outcome)))).toEqual(
    new Set(Array.from({ length: each }, (_, index) => `stored ${index + 1}`)),
  )
  const changes = await changesOf(partner)
  expect(changes.map(change => change.position)).toEqual(
    Array.from({ length: each * userids.length }, (_, index) => index + 1),
  )
  for (const userid of userids) {
    const own = changes.filter(change => change.userid === userid)
    expect(own.map(change => change.version)).toEqual(Array.from({ length: each }, (_, index) => index + 1))
    expect(own.every(change => change.prefills === each && change.written === each)).toBe(true)
  }
  await checkPrefills(
    partner,
    userids.flatMap(userid => Array.from({ length: each }, () => userid)),
  )
  expect((await countDeadlocks()) - before).toBe(0)
})

/** Compares what is stored with these prefills, each of which was answered as done. */
async function checkPrefills({ partnerId }: Partner, userids: readonly string[]): Promise<void> {
  const journal = openOwnJournal()
  for (const userid of userids) journal.note(userid, 'prefill')
  await checkUsers({ journal, database: service.database, partnerId })
}

/** An endpoint that is switched off, so that what is to be delivered stays listed. */
async function addSilentEndpoint({ partnerId }: Partner): Promise<void> {
  const now = new Date().toISOString()
  await service.database.query(sql`
    insert into webhook_endpoints (partner_id, endpoint_id, url, sealed_secrets, events, all_events, created_at,
      updated_at, disabled_at, disabled_reason)
    values (${partnerId}, ${randomUUID()}, 'https://example.com/', '', '{}', true, ${now}, ${now}, ${now}, 'test')`)
}

test('processes that write users of many partners at once never deadlock; each log has its own events without a gap, and lists their deliveries', async () => {
  const partners: Partner[] = []
  for (let count = 0; count < 5; count += 1) partners.push(await newPartner())
  const [first, second] = partners as [Partner, Partner]
  await addSilentEndpoint(first)
  await addSilentEndpoint(second)
  const executors = [await openExecutor(), await openExecutor(), await openExecutor()]
  const rounds = 8
  const before = await countDeadlocks()
  await Promise.all(
    executors.flatMap((executor, process) =>
      Array.from({ length: rounds * partners.length }, (_, index) => {
        // Each process takes the partners in another order.
        const partner = partners[(index * ([1, 2, 3][process] ?? 1)) % partners.length] ?? first
        return executor.submit(storing(partner, `p${process}-${index}`))
      }),
    ),
  )
  for (const partner of partners) {
    const changes = await changesOf(partner)
    expect(changes.map(change => change.position)).toEqual(
      Array.from({ length: executors.length * rounds }, (_, index) => index + 1),
    )
    const listed = await service.database.query<{ position: number; same: boolean }>(sql`
      select d.position, d.position = e.position and d.service_id = e.service_id as same
      from deliveries d join events e on e.partner_id = d.partner_id and e.event_id = d.event_id
      where d.partner_id = ${partner.partnerId} order by d.position`)
    const isHeard = partner === first || partner === second
    expect(listed).toEqual(isHeard ? changes.map(({ position }) => ({ position, same: true })) : [])
  }
  expect((await countDeadlocks()) - before).toBe(0)
})

test('one key at two processes at once has one effect, and everybody else is told so', async () => {
  const partner = await newPartner()
  const executors = [await openExecutor(), await openExecutor()]
  const key = { operation: 'prefillUser', keyHash: randomBytes(32), requestHash: randomBytes(32) }
  const outcomes = await Promise.all(
    Array.from({ length: 400 }, (_, index) =>
      executors[index % 2]?.submit(
        storing(partner, 'u1', {
          reservation: { ...key, attemptId: randomUUID(), mode: 'prefill' },
          startsAnew: index % 3 === 0,
        }),
      ),
    ),
  )
  const told = outcomes.map(outcome => outcome && ('reply' in outcome ? outcome.reply : outcome.refused))
  expect(told.filter(one => one === 'stored 1')).toHaveLength(1)
  expect(told.filter(one => one === 'user_exists')).toHaveLength(399)
  await checkPrefills(partner, ['u1'])
})

test('the commands of a batch that loses its race twice go on alone, so that one contested user holds up nobody else', async () => {
  const partner = await newPartner()
  let commits = 0
  const executor = await openExecutor(database => ({
    ...database,
    async commit(statements, lockMs) {
      commits += 1
      // Another session wins the first two races.
      if (commits <= 2)
        await service.database.query(sql`
          update users set version = version + 1 where partner_id = ${partner.partnerId} and userid = 'contested'`)
      await database.commit(statements, lockMs)
    },
  }))
  await (await openExecutor()).submit(storing(partner, 'contested'))
  const userids = ['contested', 'd0', 'f0', 'h0', 'j0', 'l0', 'n0', 'p0']
  const outcomes = await Promise.all(userids.map(userid => executor.submit(storing(partner, userid))))
  expect(outcomes.map(outcome => 'reply' in outcome && outcome.reply)).toEqual([
    'stored 2',
    ...Array.from({ length: 7 }, () => 'stored 1'),
  ])
  expect(commits).toBe(2 + userids.length)
})

test('commands that go on alone, of which some then meet a locked row, are each written once', async () => {
  const partner = await newPartner()
  for (const userid of ['a', 'd']) await (await openExecutor()).submit(storing(partner, userid))
  let held: Awaited<ReturnType<typeof holdUsers>> | undefined
  let lost = 0
  let written = 0
  const executor = await openExecutor(database => ({
    ...database,
    async commit(statements, lockMs) {
      // Another session wins two races, so that each command goes on alone. It then locks the users who are there, until the
      // others are written.
      if (lost < 2) {
        lost += 1
        await service.database.query(sql`
          update users set version = version + 1 where partner_id = ${partner.partnerId} and userid = 'a'`)
        if (lost === 2) held = await holdUsers(service, partner)
      }
      await database.commit(statements, lockMs)
      written += 1
      if (written === 2) await held?.release()
    },
  }))
  const outcomes = await Promise.all(
    ['a', 'b', 'c', 'd'].map(userid => executor.submit(storing(partner, userid))),
  )
  expect(outcomes).toEqual([2, 1, 1, 2].map(count => ({ reply: `stored ${count}`, replayed: false })))
  const changes = await changesOf(partner)
  expect(changes.map(({ userid }) => userid).sort()).toEqual(['a', 'a', 'b', 'c', 'd', 'd'])
})

test('commands of one user take effect in their order when one goes on alone and the next comes with a later batch', async () => {
  const partner = await newPartner()
  let letGo = () => {}
  const isOpen = new Promise<void>(resolve => {
    letGo = resolve
  })
  let lost = 0
  let second: ReturnType<CommandExecutor['submit']> | undefined
  const executor: CommandExecutor = await openExecutor(database => ({
    ...database,
    async commit(statements, lockMs = 0) {
      // After two lost races each command goes on alone; by then another of the last user waits for the next batch.
      if (lost < 2) {
        lost += 1
        if (lost === 2) {
          second = executor.submit(storing(partner, 'd'))
          executor.submit(storing(partner, 'e')).then(letGo, letGo)
        }
        throw Object.assign(new Error('lost race'), { code: '40001' })
      }
      // A command that goes on alone waits longer for locks than a batch: so the first ones keep all places until then.
      if (lockMs > 100) await isOpen
      await database.commit(statements, lockMs)
    },
  }))
  const first = await Promise.all(
    ['a', 'b', 'c', 'd'].map(userid => executor.submit(storing(partner, userid))),
  )
  expect(told(first)).toEqual(['stored 1', 'stored 1', 'stored 1', 'stored 1'])
  expect(await second).toEqual({ reply: 'stored 2', replayed: false })
})

/** Erases a user who is there. */
function erasing(partner: Partner, userid: string): Command<string> {
  return {
    ...storing(partner, userid),
    decide: ({ member, now, terms }) =>
      member
        ? { change: eraseAccount(member.user, now, terms()), answer: () => 'erased' }
        : refuse('user_not_found'),
  }
}

function told(outcomes: readonly Awaited<ReturnType<CommandExecutor['submit']>>[]): unknown[] {
  return outcomes.map(outcome => ('reply' in outcome ? outcome.reply : outcome.refused))
}

test.each(['prefill', 'keyed'] as const)(
  'a %s key whose user is erased in the same batch tells of the erasure, though the name has a new user by then',
  async mode => {
    const partner = await newPartner()
    const key = { operation: 'prefillUser', keyHash: randomBytes(32), requestHash: randomBytes(32), mode }
    const keyed = () => storing(partner, 'u1', { reservation: { ...key, attemptId: randomUUID() } })
    const executor = await openExecutor()
    await executor.submit(storing(partner, 'u1'))
    const commands = [keyed(), erasing(partner, 'u1'), storing(partner, 'u1'), keyed()]
    expect(told(await Promise.all(commands.map(executor.submit)))).toEqual([
      'stored 2',
      'erased',
      'stored 1',
      'user_erased',
    ])
  },
)

test('a user who is stored, erased and stored again in one batch holds up nobody', async () => {
  const partner = await newPartner()
  let commits = 0
  const executor = await openExecutor(database => ({
    ...database,
    commit(statements, lockMs) {
      commits += 1
      return database.commit(statements, lockMs)
    },
  }))
  const commands = [
    storing(partner, 'u1'),
    erasing(partner, 'u1'),
    storing(partner, 'u1'),
    storing(partner, 'u1'),
    storing(partner, 'u2'),
  ]
  expect(told(await Promise.all(commands.map(executor.submit)))).toEqual([
    'stored 1',
    'erased',
    'stored 1',
    'stored 2',
    'stored 1',
  ])
  // What comes after the erasure is written by itself, one after the other; the rest in one.
  expect(commits).toBe(3)
})

test('a repeat that reads its user just before the first try commits, and its key just after, has the first answer', async () => {
  const partner = await newPartner()
  const key = { operation: 'createUser', keyHash: randomBytes(32), requestHash: randomBytes(32) }
  const keyed = () =>
    storing(partner, 'u1', { reservation: { ...key, attemptId: randomUUID(), mode: 'keyed' } })
  let reads = 0
  const executor = await openExecutor(database => ({
    ...database,
    together: work =>
      database.together(db => {
        reads += 1
        if (reads > 1) return work(db)
        // The first statement reads users; it returns what it would have found a moment earlier.
        let statements = 0
        return work({
          ...db,
          query: async query => {
            statements += 1
            return statements === 1 ? [] : db.query(query)
          },
        })
      }),
  }))
  expect(await (await openExecutor()).submit(keyed())).toEqual({ reply: 'stored 1', replayed: false })
  expect(await executor.submit(keyed())).toEqual({ reply: 'stored 1', replayed: true })
  expect(reads).toBe(2)
  expect(await changesOf(partner)).toHaveLength(1)
})

/** An executor of a live service, and what it sent: `read` or `commit`. */
async function openWatched(): Promise<{ executor: CommandExecutor; sent: string[] }> {
  const sent: string[] = []
  const executor = await openExecutor(
    database => ({
      ...database,
      together(work) {
        sent.push('read')
        return database.together(work)
      },
      commit(statements, lockMs) {
        sent.push('commit')
        return database.commit(statements, lockMs)
      },
    }),
    false,
  )
  return { executor, sent }
}

test('new users with new keys are written without a read; for one who is there already everything is read and decided again', async () => {
  const partner = await newPartner()
  const { executor, sent } = await openWatched()
  const newKey = () => ({
    operation: 'prefillUser',
    keyHash: randomBytes(32),
    requestHash: randomBytes(32),
    attemptId: randomUUID(),
    mode: 'prefill' as const,
  })
  const prefill = (userid: string, reservation = newKey()) =>
    executor.submit(storing(partner, userid, { startsAnew: true, reservation }))
  const first = newKey()
  expect(await prefill('a', first)).toEqual({ reply: 'stored 1', replayed: false })
  expect(sent.splice(0)).toEqual(['commit'])

  const both = await Promise.all([prefill('a'), prefill('b')])
  expect(both.map(outcome => 'reply' in outcome && outcome.reply)).toEqual(['stored 2', 'stored 1'])
  expect(sent.splice(0)).toEqual(['commit', 'read', 'commit'])
  // Once wrong, the next ones are read.
  await prefill('c')
  expect(sent.splice(0)).toEqual(['read', 'commit'])
  expect((await changesOf(partner)).map(({ userid, version }) => [userid, version])).toEqual([
    ['a', 1],
    ['a', 2],
    ['b', 1],
    ['c', 1],
  ])
})

test('a database that refuses a user who is there already does not name the user in its error', async () => {
  const partner = await newPartner()
  const failures: object[] = []
  const watched = (database: Database): Database => ({
    ...database,
    commit: (statements, lockMs) =>
      database.commit(statements, lockMs).catch(error => {
        failures.push(error)
        throw error
      }),
  })
  await (await openExecutor()).submit(storing(partner, 'one@example.org'))
  await (await openExecutor(watched, false)).submit(storing(partner, 'one@example.org', { startsAnew: true }))
  expect(failures).toHaveLength(1)
  const told = failures.map(error => JSON.stringify(error, Object.getOwnPropertyNames(error)))
  expect(told.join()).toContain('division by zero')
  expect(told.join()).not.toContain('one@example.org')
})

test('a key that was spent is found although nothing was read, also when its request now names a new user', async () => {
  const partner = await newPartner()
  const key = { operation: 'prefillUser', keyHash: randomBytes(32), requestHash: randomBytes(32) }
  const repeat = { attemptId: randomUUID(), mode: 'prefill' } as const
  await (await openExecutor()).submit(storing(partner, 'a', { reservation: { ...key, ...repeat } }))
  const told = async (userid: string, requestHash: Buffer) => {
    const reservation = { ...key, ...repeat, requestHash, attemptId: randomUUID() }
    const outcome = await (await openWatched()).executor.submit(
      storing(partner, userid, { startsAnew: true, reservation }),
    )
    return 'refused' in outcome && outcome.refused
  }
  expect(await told('a', key.requestHash)).toBe('user_exists')
  expect(await told('z', randomBytes(32))).toBe('idempotency_key_reused')
  expect(await changesOf(partner)).toHaveLength(1)
})

test('a refusal or a failure that was decided without a read is decided again, on the user who is there', async () => {
  const partner = await newPartner()
  await (await openExecutor()).submit(storing(partner, 'a'))
  const decideOr = async (nobody: () => ReturnType<Command<string>['decide']>) => {
    const command = storing(partner, 'a', { startsAnew: true })
    const { executor, sent } = await openWatched()
    const decide: Command<string>['decide'] = context => (context.member ? command.decide(context) : nobody())
    return executor.submit({ ...command, decide }).then(outcome => ({ outcome, sent }))
  }
  const refused = await decideOr(() => refuse('user_not_found'))
  const failed = await decideOr(() => {
    throw new Error('nobody is there')
  })
  expect(refused).toEqual({ outcome: { reply: 'stored 2', replayed: false }, sent: ['read', 'commit'] })
  expect(failed).toEqual({ outcome: { reply: 'stored 3', replayed: false }, sent: ['read', 'commit'] })
})
