import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { parseCatalogue } from '../../service/src/catalogue/parse.ts'
import { publishVersion } from '../../service/src/catalogue/published.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { clientIdOf } from '../../service/src/oauth/client-credentials.ts'
import { createPartner } from '../../service/src/partners/administer.ts'
import { loadKeyring } from '../../service/src/vault/keyring.ts'
import { urlOf } from '../command/database-url.ts'
import { newDirectory, type Place, type ServiceProcess, startKeptProcess } from '../command/process.ts'
import { type Receiver, startReceiver } from '../faults/receiver.ts'
import { everydayOr } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase } from '../rig.ts'
import { type OwnJournal, openOwnJournal } from '../trust/journal.ts'
import { checkLedger } from '../trust/ledger.ts'
import { wholeLog } from '../whole-log.ts'
import { fileOf, lifeCatalogue } from './catalogue.ts'
import { person } from './stage.ts'

// The end of October 2026: in New York and Saint John's summer time ends on November 1, in Madrid it ended a week
// before, in Auckland it began a month before.
const zones = [
  { zone: 'Pacific/Auckland', boundary: '2026-10-31T11:00:00.000Z', next: '2026-11-30T11:00:00.000Z' },
  { zone: 'Europe/Madrid', boundary: '2026-10-31T23:00:00.000Z', next: '2026-11-30T23:00:00.000Z' },
  { zone: 'America/St_Johns', boundary: '2026-11-01T02:30:00.000Z', next: '2026-12-01T03:30:00.000Z' },
  { zone: 'America/New_York', boundary: '2026-11-01T04:00:00.000Z', next: '2026-12-01T05:00:00.000Z' },
] as const
const rounds: readonly (readonly string[])[] = everydayOr(
  [['Pacific/Auckland'], ['America/St_Johns', 'America/New_York']],
  [['Pacific/Auckland'], ['Europe/Madrid'], ['America/St_Johns', 'America/New_York']],
)
type Partner = (typeof zones)[number] & {
  partnerId: string
  connect: () => Client
  receiver: Receiver
  journal: OwnJournal
}

const userids = Array.from({ length: 14 }, (_, index) => `u${index}`)
/** The test locks their rows while the others change, so that the kill finds half-finished work. */
const held = ['u11', 'u12', 'u13']

// `enrolment serve` as a process of its own, in production, on a clock that the test sets.
let database: Database
let service: ServiceProcess
const services: ServiceProcess[] = []
let place: Place
let clockFile: string
const partners: Partner[] = []
const endings: (() => Promise<unknown>)[] = []

async function start() {
  service = await startKeptProcess(['serve', '--port', '0'], place)
  services.push(service)
}
async function setClock(timestamp: string) {
  await writeFile(clockFile, timestamp)
  service.child.kill('SIGUSR2')
}

beforeAll(async () => {
  const { address, drop } = await freshDatabase()
  const { path, remove } = await newDirectory()
  database = openDatabase(address, { max: 3, ...patientDatabase })
  endings.push(
    () => service.stop('SIGKILL'),
    () => database.close(),
    drop,
    remove,
  )
  clockFile = join(path, 'clock')
  await writeFile(clockFile, '2026-10-20T12:00:00.000Z')
  const rootKey = randomBytes(32).toString('base64')
  place = {
    cwd: path,
    env: {
      DATABASE_URL: urlOf(address),
      ENROLMENT_ROOT_KEY: rootKey,
      // The receivers are on this machine, which production refuses unless its operator says otherwise.
      ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
      NODE_OPTIONS: `--import=${new URL('set-clock.mjs', import.meta.url)}`,
      TEST_CLOCK_FILE: clockFile,
    },
  }
  await start()
  const parsed = parseCatalogue(fileOf(lifeCatalogue))
  if (!parsed.ok) throw new Error('the catalogue is not right')
  const at = Date.parse('2026-10-20T11:00:00.000Z')
  await publishVersion(database, { document: parsed.document, files: [], at, by: 'test' })
  const keyring = loadKeyring({ rootKey })
  const manage = { database, keyring, mode: 'live', real: () => at, by: 'test', knownOffers: [] } as const
  for (const one of zones.filter(({ zone }) => rounds.flat().includes(zone))) {
    const { row, clientSecret, apiKey } = await createPartner({ name: one.zone, timezone: one.zone }, manage)
    const credentials = { clientId: clientIdOf(row.partner_id), clientSecret, apiKey, tries: 1 }
    // Each start listens on another port.
    const connect = () => createClient({ baseUrl: service.address, ...credentials })
    const receiver = await startReceiver()
    endings.push(receiver.close)
    const { url, username, password } = receiver
    await connect().createWebhook({ url, username, password, events: ['all'] })
    partners.push({ ...one, partnerId: row.partner_id, connect, receiver, journal: openOwnJournal() })
  }
})
afterAll(async () => {
  for (const end of endings) await end()
})

test('comes in each zone at its own instant, once, though the service is killed in the middle', async () => {
  for (const partner of partners) await planEverybody(partner)
  // Both American ends are due when the service comes back from its last kill.
  for (const due of rounds) {
    const ending = partners.filter(({ zone }) => due.includes(zone))
    const [first, last] = [ending.at(0), ending.at(-1)]
    if (!first || !last) throw new Error('no such zone')
    const before = await changed()
    await setClock(new Date(Date.parse(first.boundary) - 1).toISOString())
    expect(await first.connect().getUser({ userid: 'u7' })).toMatchObject({
      conditions: ['offerchangepending', 'swappending'],
      currentofferdetails: { offer: 'mid' },
    })
    expect(await changed()).toEqual(before)
    await killInTheMiddle(ending, last.boundary)
    await start()
    const complete = Object.fromEntries(due.map(zone => [zone, [userids.length, userids.length]]))
    await expect.poll(changed, { interval: 50 }).toEqual({ ...before, ...complete })
  }
  for (const partner of partners) {
    await checkEverybody(partner)
    const logs = services.map(one => one.stdout() + one.stderr()).join('')
    await checkLedger({ ...partner, database, logs, mayWait: true })
  }
})

async function planEverybody({ connect, boundary, journal }: Partner) {
  const client = connect()
  await Promise.all(
    userids.map(async userid => {
      await journal.write(userid, 'create', () =>
        client.createUser({ userid, ...person, offername: 'mid', benefits: ['art', 'books'] }),
      )
      const change = await journal.write(userid, 'change offer', () =>
        client.changeOffer({ userid, offername: 'low' }),
      )
      expect(change.pendingoffer?.effectiveattimestamp).toBe(boundary)
      const swap = await journal.write(userid, 'swap', () =>
        client.swapBenefits({ userid, add: ['care'], remove: ['art'] }),
      )
      journal.note(userid, 'due downgrade and swap')
      expect(swap.boundarytimestamp).toBe(boundary)
    }),
  )
}

/** Lets the changes begin, and kills the service when some have been applied and others cannot be yet. */
async function killInTheMiddle(ending: readonly Partner[], at: string) {
  const names = ending.map(({ partnerId }) => partnerId)
  let letGo = () => {}
  const isOver = new Promise<void>(resolve => {
    letGo = resolve
  })
  await new Promise<void>((isHeld, reject) => {
    const holding = database.transaction(async tx => {
      await tx.query(sql`set local idle_in_transaction_session_timeout = 0`)
      // A cluster locks the rows of one partner at a time.
      for (const name of names)
        await tx.query(
          sql`select 1 from users where partner_id = ${name} and userid = any(${held}::text[]) for update`,
        )
      isHeld()
      await isOver
    })
    holding.catch(reject)
  })
  try {
    const before = total(await changed())
    await setClock(at)
    await expect.poll(async () => total(await changed()), { interval: 5 }).toBeGreaterThan(before)
    expect(await service.stop('SIGKILL')).toBeNull()
    const after = total(await changed()) - before
    expect(after).toBeLessThanOrEqual(2 * ending.length * (userids.length - held.length))
  } finally {
    letGo()
  }
}

function total(counts: Record<string, number[]>): number {
  return Object.values(counts)
    .flat()
    .reduce((sum, count) => sum + count, 0)
}

/** How many events of the month's end were written for each zone. */
async function changed(): Promise<Record<string, number[]>> {
  const rows = await database.query<{ partner_id: string; eventname: string; count: number }>(sql`
    select partner_id, eventname, count(*)::integer as count from events
    where eventname in ('offer_downgrade_successful', 'user_benefits_swap_successful') group by 1, 2 order by 1, 2`)
  return Object.fromEntries(
    partners.map(({ zone, partnerId }) => [
      zone,
      rows.filter(row => row.partner_id === partnerId).map(row => row.count),
    ]),
  )
}

/** Checks that every user of the zone changed at its instant, and that the log has the events once and in order. */
async function checkEverybody({ connect, boundary, next }: Partner) {
  const client = connect()
  const log = new Map<string, string[]>()
  const { events } = await wholeLog(client)
  for (const { userid, eventname, body } of events) {
    const { offer, updatedat } = body.currentofferdetails
    log.set(userid, [...(log.get(userid) ?? []), `${eventname} ${offer} ${updatedat}`])
  }
  const begun = '2026-10-20T12:00:00.000Z'
  for (const userid of userids) {
    expect(log.get(userid)).toEqual([
      `enrollment_successful mid ${begun}`,
      `offer_activiation_successful mid ${begun}`,
      `offer_change_scheduled mid ${begun}`,
      `user_benefits_pendingswap mid ${begun}`,
      `offer_downgrade_successful low ${boundary}`,
      `offer_activiation_successful low ${boundary}`,
      `user_benefits_swap_successful low ${boundary}`,
    ])
    const user = await client.getUser({ userid })
    if (user.status === 'erased') throw new Error('erased')
    expect(user).toMatchObject({ conditions: [], currentofferdetails: { offer: 'low', updatedat: boundary } })
    expect(
      user.benefits.map(one => [one.name, one.state, one.startsattimestamp, one.endsattimestamp]),
    ).toEqual([
      ['base', 'enrolled', begun, null],
      ['extra', 'ended', begun, boundary],
      ['art', 'ended', begun, boundary],
      ['books', 'enrolled', begun, null],
      ['care', 'enrolled', boundary, null],
    ])
  }
  const request = { userid: 'u7', add: ['art'], remove: ['care'], previewonly: true }
  expect(await client.swapBenefits(request)).toMatchObject({ boundarytimestamp: next })
}
