import { expect, test } from 'vitest'
import { userListHandler } from '../../service/src/accounts/list-handlers.ts'
import { openPublished } from '../../service/src/catalogue/published.ts'
import { sql } from '../../service/src/db/sql.ts'
import type { ReadyStream } from '../../service/src/http/mount.ts'
import { openTerms } from '../../service/src/membership/reading/open-terms.ts'
import { openUserWalk } from '../../service/src/membership/reading/walk.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { clockOn } from '../../service/src/partners/partner.ts'
import { findPartners, type PartnerRow } from '../../service/src/partners/store.ts'
import { statementHandlers } from '../../service/src/statements/handlers.ts'
import { testInTime } from '../hold-users.ts'
import { newVisitor } from '../page/visitor.ts'
import { startTestService } from '../rig.ts'

testInTime(
  'what has waited too long is refused in the form of its route with Retry-After, counted, and told to the log in sums; health answers',
  async () => {
    // Nothing ever begins, so that everything is refused at the next tick.
    await using service = await startTestService({ limits: { atOnce: 0, patienceMs: 0 } })
    const ask = (path: string, method = 'GET') =>
      service.conformance.fetch(service.baseUrl + path, { method })
    const shown = await newVisitor(service.baseUrl).get('/register')
    expect(shown).toMatchObject({ status: 503, view: 'PROBLEM' })
    expect(shown.headers.get('retry-after')).toMatch(/^[123]$/)
    const token = await ask('/oauth2/token', 'POST')
    expect([token.status, await token.json()]).toMatchObject([503, { error: 'unavailable' }])
    const prefill = await ask('/user/prefill', 'POST')
    expect(await prefill.json()).toMatchObject({ status: 503, code: 'unavailable', errors: [] })
    for (const path of ['/healthz', '/readyz']) expect((await ask(path)).status).toBe(200)
    expect(await service.service().metrics()).toContain('http_requests_shed_total{reason="wait"} 3')
    await service.restart()
    const told = service.logged.filter(({ event }) => event === 'shed')
    expect(told.reduce((sum, { fields }) => sum + Number(fields['wait']), 0)).toBe(3)
    const lines = service.logged.filter(
      ({ event, fields }) => event === 'request' && fields['status'] === 503,
    )
    expect(lines).toEqual([])
  },
)

test('what goes through many users goes step by step, one after the other, each at a turn of the partner', async () => {
  await using service = await startTestService()
  const { database, keyring, now } = service
  const { partnerId } = await service.newPartner()
  const [row] = await findPartners(database, [partnerId])
  await database.query(sql`
    insert into users (partner_id, service_id, userid, status, created_at, updated_at, offer, offer_since, offer_version,
      offer_in_force)
    select partner_id, gen_random_uuid(), 'u' || n, 'active', created_at, created_at, 'plus', created_at, 1, true
    from partners, generate_series(1, 600) n where partner_id = ${partnerId}`)
  await database.query(sql`
    insert into held_periods (partner_id, service_id, name, starts_at, catalogue_version, is_offer)
    select partner_id, service_id, 'plus', offer_since, 1, true from users where partner_id = ${partnerId}`)
  const { terms, prepareTerms } = openTerms({ published: openPublished({ database, real: now }), real: now })
  const context = { database, clock: clockOn(now), sandbox: true, terms, prepareTerms }
  let [taken, open] = [0, 0]
  const turn = async () => {
    taken += 1
    open += 1
    expect(open).toBe(1)
    return () => {
      open -= 1
    }
  }
  const trail = { note: () => {} }
  const { listStatements, listStatementLines } = statementHandlers({ ...context, turn, trail })
  const listUsers = userListHandler({ walk: openUserWalk(context), turn, trail })
  const asked = {
    caller: { partner: partnerOf(row as PartnerRow, keyring), credentialId: 'c' },
    params: { month: new Date(now()).toISOString().slice(0, 7) },
    ...{ query: {}, headers: { accept: 'text/csv' }, locale: 'en', address: () => '' },
  } as never
  const steps = async (read: () => unknown) => {
    taken = 0
    await read()
    expect(open).toBe(0)
    return taken
  }
  // 250 users are counted at a time, and 100 shown.
  expect(await steps(() => listStatements(asked))).toBe(3)
  expect(await steps(() => listUsers(asked))).toBe(1 + 6 + 5)
  const file = async () => {
    const answer = await listStatementLines(asked)
    for await (const _ of (answer as ReadyStream).stream);
  }
  expect(await steps(file)).toBeGreaterThan(3)
})
