// @databases stock

import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type AuditEntry, addEntries } from '../../service/src/audit/entries.ts'
import { type EntryQuery, findEntries } from '../../service/src/console/audit/store.ts'
import { insertRequest } from '../../service/src/console/requests/store.ts'
import type { Executor } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { onOneServer } from '../kept-plans.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

// Lists that are too long for one page: read page by page, one way and the other, and saved as files in the same order.

const DAY_MS = 86_400_000

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides', timezone: 'UTC' }))
const admin = forAllTests(() => signIn(service, 'admin'))
const viewer = forAllTests(() => signIn(service, 'viewer'))

/** What a pattern finds on a page and on all that its link to the next page leads to, and how many pages there are. */
async function allPages(first: string, { pattern, next }: { pattern: RegExp; next: string }) {
  const found: string[] = []
  let path: string | undefined = first
  let pages = 0
  while (path !== undefined) {
    const { text }: { text: string } = await admin.get(path)
    found.push(...[...text.matchAll(pattern)].map(([, one]) => one ?? ''))
    pages += 1
    const link: string | undefined = new RegExp(`<a href="([^"]+)">${next}</a>`).exec(text)?.[1]
    path = link?.replaceAll('&amp;', '&')
  }
  return { found, pages }
}

/** The address of the same list in the other order. */
function otherWay(text: string) {
  return (/<a href="([^"]+)">The other way round</.exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
}

function columnOf(file: string, name: string) {
  const [head = '', ...lines] = file.trim().split('\r\n')
  const at = head.split(',').indexOf(name)
  return lines.map(line => line.split(',')[at])
}

/** An id as one was made at a time in the past. */
function idAt(ms: number, number: number) {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`
}

describe('the audit log', () => {
  const ENTRIES = 230
  let day = ''
  let about = ''

  beforeAll(async () => {
    const { serviceid } = await partner.client.createUser({
      ...ada,
      userid: 'looked-at',
      offername: 'starter',
      benefits: [],
    })
    about = serviceid
    const begun = Math.floor(service.now() / DAY_MS) * DAY_MS - 20 * DAY_MS
    day = new Date(begun).toISOString().slice(0, 10)
    const entries = Array.from({ length: ENTRIES }, (_, index): AuditEntry => {
      const at = begun + index * 60_000
      return {
        partnerId: partner.partnerId,
        entryId: idAt(at, index),
        at,
        actorKind: 'command',
        actor: 'grace',
        action: `deed ${String(index).padStart(3, '0')}`,
        result: 'done',
        times: 1,
        ...(index % 100 === 0 ? { serviceId: serviceid } : {}),
      }
    })
    await addEntries(service.database, entries)
  })

  const query = () => `partner=${partner.partnerId}&from=${day}&until=${day}`
  const pattern = /(deed \d+)/g
  const upwards = Array.from({ length: ENTRIES }, (_, index) => `deed ${String(index).padStart(3, '0')}`)

  test('is read newest first, and the other way round oldest first, each entry once', async () => {
    const first = await admin.get(`/audit?${query()}`)
    const down = await allPages(`/audit?${query()}`, { pattern, next: 'Older entries' })
    expect(down).toEqual({ found: upwards.toReversed(), pages: 3 })
    const up = await allPages(otherWay(first.text), { pattern, next: 'Newer entries' })
    expect(up).toEqual({ found: upwards, pages: 3 })
  })

  test('is a file in the order of the screen', async () => {
    const { text } = await admin.get(`/audit?${query()}&sort=at`)
    const link = /href="(\/audit\.csv[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(columnOf((await admin.get(link)).text, 'action')).toEqual(upwards)
    expect(columnOf((await admin.get(`/audit.csv?${query()}`)).text, 'action')).toEqual(upwards.toReversed())
  })

  test('is filtered by the user whom it concerns, and the page of the user leads there', async () => {
    const { text } = await admin.get(`/audit?${query()}&user=${about}`)
    expect([...text.matchAll(pattern)].map(([, one]) => one)).toEqual(['deed 200', 'deed 100', 'deed 000'])
    const page = await admin.get(`/users/${about}`)
    const link =
      /<a href="(\/audit\?[^"]+)">All entries</.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const all = await admin.get(link)
    expect(all.text).toContain('look at user')
    expect(all.text).toContain(`value="${about}"`)
    expect(all.text).not.toContain('look at audit')
  })

  test('shows nothing of anybody where the user is named by something else than a service ID', async () => {
    const wanted = `${query()}&user=somebody`
    const list = await admin.get(`/audit?${wanted}`)
    expect([list.status, list.text.includes('Which user?')]).toEqual([422, true])
    expect(list.text).not.toContain('deed ')
    expect(list.text).not.toContain('/audit.csv')
    expect((await admin.get(`/audit.csv?${wanted}`)).status).toBe(422)
    const { text } = await admin.get(`/audit?${query()}&user=+${about.toUpperCase()}+`)
    expect(text).toContain(`value="${about}"`)
  })

  test('keeps the order when a filter is set, and begins anew at an address that was damaged on its way', async () => {
    const { text } = await admin.get(`/audit?${query()}&sort=at`)
    expect(text).toContain('<input type="hidden" name="sort" value="at">')
    for (const damaged of ['after=7', 'user=', 'sort=actor', 'from=today'])
      expect((await admin.get(`/audit?partner=${partner.partnerId}&${damaged}`)).status).toBe(200)
  })

  test.each([true, false])(
    'reads no other days than those that are asked for, newest first: %s',
    async isNewestFirst => {
      const bulk = async (from: number) =>
        service.database.query(sql`
        insert into audit_log (partner_id, entry_id, at, actor_kind, actor, action, result)
        select ${partner.partnerId}, (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
          to_timestamp(ms / 1000.0), 'credential', 'bulk', 'getUser', 'shown'
        from (select n, ${from}::bigint + n as ms from generate_series(1, 5000) n) made
        on conflict do nothing`)
      const first = Date.parse(`${day}T00:00:00Z`)
      await bulk(first - 5 * DAY_MS)
      await bulk(first + 5 * DAY_MS)
      await service.database.query(sql`analyze audit_log`)
      const { text, values } = await statementOf({
        partnerId: partner.partnerId,
        from: first,
        until: first + DAY_MS,
        isNewestFirst,
        limit: 1000,
      })
      const rows = await service.database.query<{ 'QUERY PLAN': unknown }>({
        name: `explained-${isNewestFirst}`,
        text: `explain (analyze, format json) ${text}`,
        values,
      })
      const plan = JSON.stringify(rows)
      expect(plan).toContain(`"Actual Rows":${ENTRIES}`)
      const removed = [...plan.matchAll(/"Rows Removed by (?:Filter|Index Recheck)":(\d+)/g)]
      expect(removed.map(([, count]) => Number(count)).filter(count => count > ENTRIES)).toEqual([])
    },
  )

  onOneServer.each([true, false])(
    'is not gathered by its block index, by whatever plan PostgreSQL keeps, newest first: %s',
    async isNewestFirst => {
      const { text, values } = await statementOf({
        partnerId: partner.partnerId,
        from: 0,
        until: service.now() + DAY_MS,
        isNewestFirst,
        limit: 10,
      })
      const plan = await service.database.alone(async session => {
        const run = (statement: string) => session.query({ text: statement, values: [] } as unknown as Query)
        await run('set plan_cache_mode = force_generic_plan')
        // With no other index left the planner would take this one if it could. The connection ends without a commit.
        await run('begin')
        await run('drop index audit_log_operators, audit_log_subject')
        await run('alter table audit_log drop constraint audit_log_pkey')
        await run(`prepare kept as ${text}`)
        const given = values.map(value => `'${String(value)}'`).join(', ')
        return JSON.stringify(await run(`explain (analyze, format json) execute kept(${given})`))
      })
      expect(plan).toContain('"Relation Name":"audit_log"')
      expect(plan).not.toContain('audit_log_at')
    },
  )
})

/** The statement that finds entries of everybody. */
async function statementOf(
  wish: Pick<EntryQuery, 'partnerId' | 'from' | 'until' | 'isNewestFirst' | 'limit'>,
): Promise<Query> {
  let asked: Query | undefined
  const query = async (one: Query) => {
    asked = one
    return []
  }
  const db = { ...service.database, query } as unknown as Executor
  await findEntries(db, { ...wish, operatorsOnly: false, serviceId: undefined, after: undefined })
  if (!asked) throw new Error('nothing was asked')
  return asked
}

describe('requests to a second person', () => {
  const REQUESTS = 60

  beforeAll(async () => {
    const other = await service.newPartner({ name: 'Aviso Rides' })
    const outcomes = [null, 'done', 'refused', 'withdrawn', null] as const
    for (let index = 0; index < REQUESTS; index += 1) {
      const at = service.now() - index * 3_600_000
      const owner = index % 2 === 0 ? partner : other
      const requestId = idAt(at, index)
      await service.database.query(
        insertRequest({
          partner_id: owner.partnerId,
          request_id: requestId,
          action: index % 3 === 0 ? 'void' : 'move',
          service_id: randomUUID(),
          sealed: Buffer.from('sealed'),
          asked_by: admin.operatorId,
          asked_at: at,
          // The last fifth has lapsed, although nothing has written that down yet.
          expires_at: at + (index % 5 === 4 ? 1000 : 7 * DAY_MS),
        }),
      )
      const outcome = outcomes[index % 5] ?? null
      if (outcome !== null)
        await service.database.query(sql`
          update operator_requests set outcome = ${outcome}, decided_at = now(),
            decided_by = case when ${outcome} <> 'withdrawn' then ${viewer.operatorId}::uuid end
          where request_id = ${requestId}`)
    }
  })

  const states = (text: string) =>
    [...text.matchAll(/<span class="tag \w+">(waiting|done|refused|withdrawn|lapsed)<\/span>/g)].map(
      ([, one]) => one,
    )

  test('are listed waiting ones first, each once', async () => {
    const { text } = await admin.get('/requests')
    const found = [...text.matchAll(/<a href="\/requests\/([\da-f-]{36})">/g)].map(([, id]) => id)
    expect([found.length, new Set(found).size]).toEqual([REQUESTS, REQUESTS])
    expect(states(text).slice(0, 12)).toEqual(Array.from({ length: 12 }, () => 'waiting'))
    expect(states(text).slice(12)).not.toContain('waiting')
  })

  test('are filtered by state and partner', async () => {
    const { text } = await admin.get('/requests?state=refused')
    expect(new Set(states(text))).toEqual(new Set(['refused']))
    const aviso = (await admin.get('/requests')).text.match(/value="([\da-f-]{36})">Aviso Rides/)?.[1] ?? ''
    const own = await admin.get(`/requests?partner=${aviso}&state=lapsed`)
    expect(own.text).toContain('>Aviso Rides</span></td>')
    expect(own.text).not.toContain('>Harbor Rides</span></td>')
    expect((await admin.get('/requests?state=done&partner=nobody')).status).toBe(200)
  })

  test('are a file in the order of the screen, on record', async () => {
    const { text, headers } = await admin.get('/requests.csv?state=waiting')
    expect(headers.get('content-disposition')).toContain('requests.csv')
    const asked = columnOf(text, 'asked')
    expect(asked).toHaveLength(12)
    expect(asked).toEqual(asked.toSorted())
    expect(columnOf(text, 'state')).toEqual(asked.map(() => 'waiting'))
    const [row] = await service.database.query(sql`
      select from audit_log where actor = ${admin.operatorId} and action = 'export requests'`)
    expect(row).toBeDefined()
  })
})

describe('the deliveries of an endpoint', () => {
  const DELIVERIES = 130
  let path = ''

  beforeAll(async () => {
    const endpoint = { url: 'http://quiet.localhost:9/hook', username: 'u', password: 'p' }
    const { webhookid } = await partner.client.createWebhook(endpoint)
    path = `/webhooks/${webhookid}/deliveries`
    // Paused, so that nothing is tried meanwhile.
    await admin.post(`/webhooks/${webhookid}/pause`, { reason: 'a test' })
    const now = service.now()
    const { partnerId } = partner
    await service.database.query(sql`
      with made as (
        insert into events (partner_id, event_id, position, service_id, userid, eventname, body, created_at)
        select ${partnerId}, (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, 1000000 + n,
          gen_random_uuid(), 'bulk', 'webhook_test', '{}', to_timestamp(ms / 1000.0)
        from (select n, ${now - 86_400_000}::bigint + n * 1000 as ms from generate_series(1, ${DELIVERIES * 2}::integer) n) numbered
        returning partner_id, event_id, service_id, position, created_at)
      , waiting as (
        insert into deliveries (partner_id, event_id, endpoint_id, service_id, position, due_at, queued_at, work, attempts)
        select partner_id, event_id, ${webhookid}, service_id, position, created_at + interval '2 days', created_at,
          (array['fresh', 'retry', 'replay'])[1 + position % 3], position % 3
        from made where position <= ${1_000_000 + DELIVERIES})
      insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
      select partner_id, event_id, ${webhookid}, 12, 'attempts', created_at + interval '3 days'
      from made where position > ${1_000_000 + DELIVERIES}`)
  })

  test.each(['waiting', 'given up'])(
    'that are %s are read page by page, both ways, each once, and are a file',
    async state => {
      const first = `${path}?state=${state.replace(' ', '+')}`
      const pattern = /#event-([\da-f-]{36})"/g
      const up = await allPages(first, { pattern, next: 'Next page' })
      expect([up.pages, up.found.length]).toEqual([2, DELIVERIES])
      expect(up.found).toEqual([...new Set(up.found)].toSorted())
      const turned = otherWay((await admin.get(first)).text)
      const down = await allPages(turned, { pattern, next: 'Next page' })
      expect(down.found).toEqual(up.found.toReversed())
      const { text } = await admin.get(turned.replace('/deliveries?', '/deliveries.csv?'))
      expect(columnOf(text, 'eventid')).toEqual(down.found)
      expect((await viewer.get(turned)).text).not.toContain('.csv')
    },
  )

  test('are reached from the page of the endpoint, which shows the first of them', async () => {
    const { text } = await viewer.get(path.replace('/deliveries', ''))
    expect([...text.matchAll(/#event-/g)]).toHaveLength(30)
    for (const state of ['waiting', 'given+up']) expect(text).toContain(`href="${path}?state=${state}"`)
  })
})
