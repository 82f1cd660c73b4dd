import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DUE_KINDS, nextDue } from '../../service/src/console/due/store.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { consoleOf, signIn } from './operator-browser.ts'

const PEOPLE = 620
/** Every hundredth person changes the offer, too. */
const CHANGING = 6

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ timezone: 'America/New_York' }))
beforeAll(async () => {
  await partner.client.createUser({ ...ada, userid: 'first', offername: 'starter', benefits: ['telehealth'] })
  const now = new Date(service.now())
  const leaves = new Date(service.now() + 3 * 86_400_000)
  await service.database.query(sql`
    insert into users (partner_id, service_id, userid, status, created_at, updated_at, offer, offer_since, offer_version,
      offer_in_force, cancel_at, cancel_requested_at, cancel_reason, pending_offer, pending_offer_at, due_at)
    select ${partner.partnerId}, gen_random_uuid(), 'leaving-' || n, 'active', ${now}, ${now}, 'starter', ${now}, 1, true,
      ${leaves}::timestamptz, ${now},
      'voluntary', case when n % 100 = 0 then 'plus' end, case when n % 100 = 0 then ${leaves}::timestamptz end, ${leaves}
    from generate_series(1, ${PEOPLE}::integer) n`)
})
const admin = forAllTests(() => signIn(service, 'admin'))

function fileOf(query = '') {
  return fetch(`${consoleOf(service)}/due.csv?partner=${partner.partnerId}&days=7${query}`, {
    headers: { cookie: admin.cookie },
  })
}

/** Keeps the users' table closed to everybody else while `work` runs, or until it opens the table. */
async function whileNobodyReadsUsers(work: (open: () => void) => Promise<void>): Promise<void> {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  await new Promise<void>((resolve, reject) => {
    let worked: Promise<void> = Promise.resolve()
    service.database
      .transaction(async tx => {
        await tx.query(sql`lock table users in access exclusive mode`)
        worked = work(open).finally(open)
        await opened
      })
      .then(() => worked)
      .then(resolve, reject)
  })
}

describe('what is due to many people at one instant', () => {
  test('is shown page by page, each person once, at addresses that can be sent to a colleague', async () => {
    const seen: string[] = []
    let path: string | undefined = `/due?partner=${partner.partnerId}&days=7`
    let pages = 0
    while (path !== undefined) {
      const { text }: { text: string } = await admin.get(path)
      seen.push(...[...text.matchAll(/>(leaving-\d+)<\/a>/g)].map(([, userid]) => userid ?? ''))
      const next: string | undefined = /href="(\/due\?[^"]*after=[^"]+)"/.exec(text)?.[1]
      path = next?.replaceAll('&amp;', '&')
      pages += 1
    }
    expect(pages).toBe(Math.ceil(PEOPLE / 100))
    expect([seen.length, new Set(seen).size]).toEqual([PEOPLE, PEOPLE])
  })

  test('is counted by day and kind, all of it', async () => {
    const path = `/due?partner=${partner.partnerId}&days=7`
    const { text } = await admin.get(path)
    expect(text).toContain(`Of ${PEOPLE} people`)
    expect(text).toContain(`<li>${PEOPLE} × membership ends</li>`)
    expect(text).toContain(`<li>${CHANGING} × offer change</li>`)
    const { text: one } = await admin.get(`${path}&kind=offer+change`)
    expect(one).toContain(`<li>${CHANGING} × offer change</li>`)
    expect(one).not.toContain('× membership ends')
    expect(one.match(/>leaving-\d+</g)).toHaveLength(CHANGING)
  })

  test('is shown latest first the other way round, with the file in the same order', async () => {
    const now = new Date(service.now())
    const late = new Date(service.now() + 5 * 86_400_000)
    await service.database.query(sql`
      insert into users (partner_id, service_id, userid, status, created_at, updated_at, offer, offer_since, offer_version,
        offer_in_force, cancel_at, cancel_requested_at, cancel_reason, due_at)
      values (${partner.partnerId}, gen_random_uuid(), 'last-of-all', 'active', ${now}, ${now}, 'starter', ${now}, 1, true,
        ${late}, ${now}, 'voluntary', ${late})`)
    const { text: soonest } = await admin.get(`/due?partner=${partner.partnerId}&days=7`)
    const link = /<a href="([^"]+)">The other way round</.exec(soonest)?.[1]?.replaceAll('&amp;', '&')
    const { text } = await admin.get(link ?? '')
    expect(/>(leaving-\d+|last-of-all)<\/a>/.exec(text)?.[1]).toBe('last-of-all')
    const seen: string[] = []
    let path = link
    while (path !== undefined) {
      const page: { text: string } = await admin.get(path)
      seen.push(
        ...[...page.text.matchAll(/>(leaving-\d+|last-of-all)<\/a>/g)].map(([, userid]) => userid ?? ''),
      )
      path = /href="(\/due\?[^"]*after=[^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&')
    }
    expect([seen.length, new Set(seen).size]).toEqual([PEOPLE + 1, PEOPLE + 1])
    const lines = (await (await fileOf('&sort=-at')).text()).trim().split('\r\n').slice(1)
    expect([...new Set(lines.map(line => line.split(',').at(-2)))]).toEqual(seen)
    await service.database.query(sql`delete from users where userid = 'last-of-all'`)
  })

  test('is a file of all of them, whose first line is there before any user is read, and on record by then', async () => {
    await whileNobodyReadsUsers(async open => {
      const file = await fileOf()
      const reader = file.body?.pipeThrough(new TextDecoderStream()).getReader()
      expect((await reader?.read())?.value).toBe('at,kind,what,userid,serviceid\r\n')
      expect(await deedsOf(service, admin)).toContainEqual(
        expect.objectContaining({ action: 'export what is due', result: 'done' }),
      )
      open()
      let rest = ''
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
        rest += part.value
      const lines = rest.split('\r\n').filter(line => line !== '')
      expect(lines).toHaveLength(PEOPLE + CHANGING)
      expect(new Set(lines.map(line => line.split(',').at(-2)))).toHaveProperty('size', PEOPLE)
    })
  })

  test('has one kind in the file when one is chosen', async () => {
    const lines = (await (await fileOf('&kind=offer+change')).text()).trim().split('\r\n')
    expect(lines).toHaveLength(CHANGING + 1)
    expect(lines.slice(1).every(line => line.includes(',offer change,starter to plus,leaving-'))).toBe(true)
  })

  test('is a transfer that breaks off, not a shorter file, when the database fails on the way', async () => {
    await whileNobodyReadsUsers(async () => {
      const file = await fileOf()
      expect(file.status).toBe(200)
      await expect(file.text()).rejects.toThrow()
    })
  })

  test('is listed from the start at an address that was damaged on its way', async () => {
    for (const after of ['7', '1_x', `1_${'-'.repeat(36)}`, '99999999999999999_0'])
      expect((await admin.get(`/due?partner=${partner.partnerId}&after=${after}`)).status).toBe(200)
  })
})

describe('what is due of one kind', () => {
  const other = forAllTests(() => service.newPartner({ timezone: 'America/New_York' }))
  // Two users of each kind, and two with a change of every kind, whose states are not those of one real person.
  afterAll(() => service.database.query(sql`delete from users where partner_id = ${other.partnerId}`))
  beforeAll(async () => {
    const now = new Date(service.now())
    const soon = new Date(service.now() + 3 * 86_400_000)
    await service.database.query(sql`
      insert into users (partner_id, service_id, userid, status, created_at, updated_at, entry_expires_at, offer, offer_since,
        offer_version, offer_in_force, pending_offer, pending_offer_at, swap_at, cancel_at, cancel_reason, due_at)
      select ${other.partnerId}, gen_random_uuid(), kind || ' ' || n, 'active', ${now}, ${now},
        case when kind in ('prefill lapses', 'all') then ${soon}::timestamptz end, 'starter',
        case when kind in ('membership starts', 'all') then ${soon} else ${now}::timestamptz end, 1,
        kind not in ('membership starts', 'all'),
        case when kind in ('offer change', 'all') then 'plus' end,
        case when kind in ('offer change', 'all') then ${soon}::timestamptz end,
        case when kind in ('swap', 'all') then ${soon}::timestamptz end,
        case when kind in ('membership ends', 'all') then ${soon}::timestamptz end,
        'voluntary', ${soon}::timestamptz
      from generate_series(1, 2) n, unnest(${[...DUE_KINDS, 'all']}::text[]) kind`)
    await service.database.query(sql`
      insert into enrolments (partner_id, service_id, enrolment_id, benefit, offer, is_fixed, state, catalogue_version,
        picked_at, starts_at, ends_at, action_due_at)
      select partner_id, service_id, gen_random_uuid(), benefit, 'starter', true, state, 1, ${now},
        case when state = 'scheduled' then ${soon} else ${now}::timestamptz end,
        case when state = 'endscheduled' then ${soon}::timestamptz end,
        case when state = 'actionrequired' then ${soon}::timestamptz end
      from users
      join (values ('benefit starts', 'scheduled', 'telehealth'), ('benefit ends', 'endscheduled', 'dental'),
        ('benefit lapses', 'actionrequired', 'identity')) as coming (kind, state, benefit)
        on userid like coming.kind || '%' or userid like 'all%'
      where partner_id = ${other.partnerId}`)
  })

  /** Who is found, page by page, with the kinds that are shown of each. */
  async function allDue(query: Pick<Parameters<typeof nextDue>[1], 'kind' | 'isLatestFirst' | 'limit'>) {
    const found: string[] = []
    let after: Awaited<ReturnType<typeof nextDue>>['last']
    do {
      const { users, last } = await nextDue(service.database, {
        ...query,
        partnerId: other.partnerId,
        until: service.now() + 7 * 86_400_000,
        after,
        most: 3,
      })
      found.push(...users.map(user => `${user.userid}: ${user.changes.map(({ kind }) => kind)}`))
      after = last
    } while (after !== undefined)
    return found
  }

  test.for(DUE_KINDS)('%s: is found of everybody who has it, and of nobody else', async kind => {
    const whole = [1, 2].flatMap(n => [`${kind} ${n}: ${kind}`, `all ${n}: ${kind}`]).sort()
    for (const isLatestFirst of [false, true])
      for (const limit of [1, 3]) expect((await allDue({ kind, isLatestFirst, limit })).sort()).toEqual(whole)
  })

  test('is all that is found without a kind', async () => {
    const found = await allDue({ kind: undefined, limit: 3 })
    expect(found).toHaveLength(2 * (DUE_KINDS.length + 1))
    for (const kind of DUE_KINDS) expect(found).toContain(`${kind} 1: ${kind}`)
    expect(found.find(one => one.startsWith('all 1'))?.split(',')).toHaveLength(DUE_KINDS.length)
  })
})

test('what is due is named as the catalogue shows it on the screen, and as the API does in the file', async () => {
  const all = await admin.get(`/due?partner=${partner.partnerId}&days=7`)
  expect(all.text).toMatch(/membership ends<\/span> Starter</)
  const changes = await admin.get(`/due?partner=${partner.partnerId}&days=7&kind=offer+change`)
  expect(changes.text).toMatch(/offer change<\/span> Starter to Plus</)
  expect(await (await fileOf('&kind=offer+change')).text()).toMatch(/,offer change,starter to plus,/)
  const other = await service.newPartner()
  const user = { ...ada, userid: 'leaver', offername: 'starter', benefits: ['telehealth'] }
  await other.client.createUser(user)
  await other.client.cancelUser({ userid: user.userid })
  const { text } = await admin.get(`/due?partner=${other.partnerId}&days=30`)
  expect(text).toMatch(
    /last day <time[^>]*>\w+ (28|29|30|31), \d{4}<\/time> <span[^>]*>benefit ends<\/span> Accident coverage</,
  )
})
