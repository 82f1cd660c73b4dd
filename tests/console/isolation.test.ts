import { randomUUID } from 'node:crypto'
import { request as send } from 'node:http'
import Fastify from 'fastify'
import { beforeAll, expect, test } from 'vitest'
import { noPartner } from '../../service/src/audit/entries.ts'
import type { ConsoleContext } from '../../service/src/console/console-context.ts'
import { mountConsole } from '../../service/src/console/listener/listener.ts'
import { insertRequest } from '../../service/src/console/requests/store.ts'
import { readConsoleFiles } from '../../service/src/console/screen/console-files.ts'
import { sql } from '../../service/src/db/sql.ts'
import { ROLES, type Role } from '../../service/src/operators/operator.ts'
import { openProvider } from '../../service/src/operators/provider.ts'
import { disableOperator } from '../../service/src/operators/store.ts'
import { demoRound } from '../feeds/demo-round.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService, type TestPartner } from '../rig.ts'
import { startIdentityProvider } from './identity-provider.ts'
import { consoleOf, type OperatorBrowser, signIn } from './operator-browser.ts'
import { identifiersIn } from './walks.ts'

// A second, independent list of who may do what: a route that is missing here fails, and so does one with other roles
// than here.
const V = ['viewer', 'support', 'admin'] as const
const S = ['support', 'admin'] as const
const A = ['admin'] as const
const D = ['developer'] as const
const rolesOf: Readonly<Record<string, readonly Role[]>> = {
  'GET /': V,
  'POST /find': V,
  'GET /users/:serviceid': V,
  'POST /users/:serviceid/person': S,
  'GET /users/:serviceid/act/:act': S,
  'POST /users/:serviceid/act/:act': S,
  'GET /users/:serviceid/link': S,
  'POST /users/:serviceid/link': S,
  'GET /users/:serviceid/export': S,
  'POST /users/:serviceid/export': S,
  'POST /users/:serviceid/date-and-link': S,
  'GET /users/:serviceid/certificate': S,
  'GET /users/:serviceid/retained': A,
  'POST /users/:serviceid/retained': A,
  'GET /users/:serviceid/resend/:eventid': S,
  'POST /users/:serviceid/resend/:eventid': S,
  'GET /due': V,
  'GET /due.csv': S,
  'GET /statements': V,
  'GET /statements.csv': S,
  'GET /statements/lines.csv': S,
  'GET /users/:serviceid/statements': V,
  'GET /users/:serviceid/statements.csv': S,
  'GET /webhooks': V,
  'GET /webhooks.csv': S,
  'GET /webhooks/:endpointid': [...V, ...D],
  'POST /webhooks/:endpointid/credentials': D,
  'POST /webhooks/:endpointid/secret': D,
  'GET /webhooks/:endpointid/deliveries': V,
  'GET /webhooks/:endpointid/deliveries.csv': S,
  'POST /webhooks/:endpointid/replay': [...S, ...D],
  'POST /webhooks/:endpointid/pause': A,
  'POST /webhooks/:endpointid/enable': A,
  'GET /feeds': V,
  'GET /feeds.csv': S,
  'GET /feeds/:feed': V,
  'POST /feeds/:feed/release': S,
  'POST /feeds/:feed/drop': S,
  'POST /feeds/:feed/differ': S,
  'GET /partners': V,
  'GET /partners.csv': S,
  'GET /partners/:partnerid': [...V, ...D],
  'GET /partners/:partnerid/settings': A,
  'POST /partners/:partnerid/settings': A,
  'POST /partners/:partnerid/make': D,
  'POST /partners/:partnerid/ask': D,
  'POST /partners/:partnerid/revoke': [...A, ...D],
  'POST /partners/:partnerid/disable': A,
  'POST /partners/:partnerid/enable': A,
  'GET /catalogue': V,
  'GET /catalogue.csv': S,
  'GET /catalogue/versions/:version': V,
  'GET /catalogue/diff': V,
  'GET /requests': S,
  'GET /requests.csv': S,
  'GET /requests/:requestid': S,
  'POST /requests/:requestid/confirm': S,
  'POST /requests/:requestid/refuse': S,
  'POST /requests/:requestid/withdraw': S,
  'GET /audit': V,
  'GET /audit.csv': S,
  'POST /audit/verify': V,
  'GET /integration': D,
}

// The parts of pages that several roles open, by what only these parts say, and who sees each.
const partsOf: Readonly<Record<string, Readonly<Record<string, readonly Role[]>>>> = {
  'GET /partners/:partnerid': {
    'This is the sandbox': D,
    '<h2>Credentials</h2>': [...V, ...D],
    '<h2>Endpoints</h2>': [...V, ...D],
    '<h2>Refused requests</h2>': [...V, ...D],
    '<h2>Rotate</h2>': D,
    '<summary>Revoke</summary>': [...A, ...D],
    'Revoke the last one': A,
    '<h2>Stop this partner</h2>': A,
    'Change settings, help and look': A,
  },
  'GET /webhooks/:endpointid': {
    '<h2>Attempts</h2>': [...V, ...D],
    '127.0.0.1:9/canary': [...S, ...D],
    '<h2>What waits</h2>': V,
    '<h2>Send again</h2>': [...S, ...D],
    '<h2>Pause</h2>': A,
    '<h2>Credentials</h2>': D,
    '<h2>Signing secret</h2>': D,
  },
  'GET /users/:serviceid': {
    '<h2>Timeline</h2>': V,
    'userid-canary': S,
    'Show name, birth date and address': S,
    'act/cancel"': S,
    'because of nonpayment': S,
    '>send again</a>': S,
  },
  'GET /feeds/:feed': { 'Adacanary is not known': S },
  'GET /statements': { 'All lines of the month as CSV': S },
  'GET /partners': { '>CSV</a>': S },
}

// Routes that need no session, and the answers that a stranger gets there.
const withoutSession: Readonly<Record<string, readonly number[]>> = {
  'GET /sign-in/:token': [410],
  'POST /sign-in/:token': [410],
  'GET /sign-in/provider': [303],
  'GET /sign-in/provider/return': [400],
  'POST /sign-out': [200],
  'GET /signed-out': [200],
  'GET /*': [401],
}

type Route = {
  readonly name: string
  readonly method: string
  readonly path: string
}

let own: TestPartner
let base = ''
let routes: readonly Route[] = []
let values: Readonly<Record<string, string>> = {}
const operators = new Map<Role, OperatorBrowser>()
const identity = forAllTests(startIdentityProvider)
const service = forAllTests(() => startTestService({ console: true, signIn: identity.settings }))
let stranger: OperatorBrowser
let strangeDeveloper: OperatorBrowser
beforeAll(async () => {
  base = consoleOf(service)
  identity.serve([base])
  routes = await mountedRoutes()
  own = await service.newPartner({ name: 'Canary Harbor' })
  const other = await service.newPartner({ name: 'Corner Bank' })
  const { serviceid } = await own.client.createUser({
    ...ada,
    userid: 'userid-canary',
    offername: 'plus',
    benefits: ['telehealth'],
  })
  const { events } = await own.client.listEvents({ userid: 'userid-canary' })
  await own.client.cancelUser({ userid: 'userid-canary', reason: 'nonpayment' })
  await own.client.reinstateUser({ userid: 'userid-canary' })
  await demoRound(service, () => 'Adacanary is not known')
  const endpoint = { url: 'http://127.0.0.1:9/canary', username: 'canary', password: 'correct horse' }
  const { webhookid } = await own.client.createWebhook(endpoint)
  for (const role of ROLES)
    operators.set(role, await signIn(service, role, role === 'developer' ? [own.partnerId] : undefined))
  stranger = await signIn(service, 'admin', [other.partnerId])
  strangeDeveloper = await signIn(service, 'developer', [other.partnerId])
  const requestId = randomUUID()
  await service.database.query(
    insertRequest({
      partner_id: own.partnerId,
      request_id: requestId,
      action: 'void',
      service_id: serviceid,
      sealed: Buffer.alloc(0),
      asked_by: operatorOf('support').operatorId,
      asked_at: service.now(),
      expires_at: service.now() + 3_600_000,
    }),
  )
  values = {
    serviceid,
    eventid: events[0]?.eventid ?? '',
    endpointid: webhookid,
    partnerid: own.partnerId,
    requestid: requestId,
    act: 'cancel',
    version: '1',
    feed: 'seaview',
    token: 'enr_ol_sandbox_x',
    '*': 'nowhere',
  }
})

/** Every route as the console mounts it. */
async function mountedRoutes(): Promise<readonly Route[]> {
  const found: Route[] = []
  const app = Fastify({ exposeHeadRoutes: false })
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) found.push({ name: `${one} ${url}`, method: one, path: url })
  })
  const provider = openProvider(identity.settings, service.now)
  const address = { consoleUrl: undefined, port: 0 }
  const context = {} as ConsoleContext
  mountConsole(app, { context, address, files: await readConsoleFiles(), provider, sending: new Set() })
  await app.ready()
  await app.close()
  return found
}

function operatorOf(role: Role): OperatorBrowser {
  const operator = operators.get(role)
  if (!operator) throw new Error(`nobody has signed in as ${role}`)
  return operator
}

function isFile({ path }: Route) {
  return path.startsWith('/files/')
}
function ofSessions() {
  return routes.filter(route => route.name in rolesOf)
}

/** The address of a route for the partner's data; fails when the matrix has no value for a part of it. */
function addressOf({ path, name }: Route) {
  const query = /audit|due/.test(path) ? `?partner=${own.partnerId}` : ''
  return (
    path.replace(/:(\w+)|\*/g, (part, word: string) => {
      const value = values[word ?? part]
      if (value === undefined) throw new Error(`${name} has a part without a value here: ${part}`)
      return value
    }) + query
  )
}

type Sent = { readonly cookie?: string; readonly token?: string; readonly headers?: Record<string, string> }

/** Sends what a page of the console would send for this partner: all fields that a form may have. */
async function ask(route: Route, { cookie, token = 'x', headers = { origin: base } }: Sent = {}) {
  const fields = {
    reason: 'ticket 4711',
    what: values['serviceid'] ?? '',
    partner: own.partnerId,
    sure: 'yes',
  }
  const body = new URLSearchParams({ token, ...fields })
  const answer = await fetch(base + addressOf(route), {
    method: route.method,
    redirect: 'manual',
    headers: { ...headers, ...(cookie === undefined ? {} : { cookie }) },
    ...(route.method === 'POST' ? { body } : {}),
  })
  return { status: answer.status, text: await answer.text() }
}

/** Data that must not be shown to an operator who may not see the person or the partner. */
function canariesIn(text: string) {
  return [
    'userid-canary',
    'Canary Harbor',
    'canary.example',
    'Adacanary',
    'ada.canary',
    '127.0.0.1:9/canary',
  ].filter(canary => text.includes(canary))
}

/** The token that the forms of a operator's pages carry. */
async function tokenOf(operator: OperatorBrowser) {
  return /name="token" value="([^"]+)"/.exec((await operator.get('/')).text)?.[1] ?? ''
}

/** The state that a refused request must not change. */
async function stateOfPartner() {
  return service.database.query(sql`
    select (select count(*)::int from history) as changes,
      (select count(*)::int from events) as events,
      (select count(*)::int from deliveries) as deliveries,
      (select count(*)::int from credentials
        where revoked_at is null and partner_id = ${own.partnerId}) as credentials,
      (select count(*)::int from partners where disabled_at is null) as partners,
      (select count(*)::int from page_sessions) as links,
      (select count(*)::int from catalogue_versions) as catalogues,
      (select count(*)::int from insurer_lines where status = 'refused') as refused,
      (select count(*)::int from operator_requests
        where outcome is null and partner_id = ${own.partnerId}) as requests,
      (select count(*)::int from webhook_endpoints where disabled_at is null) as endpoints`)
}

test('every route has a row', () => {
  const known = new Set([...Object.keys(rolesOf), ...Object.keys(withoutSession)])
  expect(routes.filter(route => !isFile(route) && !known.has(route.name)).map(({ name }) => name)).toEqual([])
  expect(ofSessions().length).toBeGreaterThan(30)
  const missing = Object.keys(withoutSession).filter(name => !routes.some(route => route.name === name))
  expect(missing).toEqual([])
})

test('without a session, and with one that has ended, nobody sees or does anything', async () => {
  const ended = async (end: (operator: OperatorBrowser) => Promise<unknown>) => {
    const operator = await signIn(service, 'admin')
    const token = await tokenOf(operator)
    await end(operator)
    return { cookie: operator.cookie, token }
  }
  const expired = (operator: OperatorBrowser) =>
    service.database.query(sql`
      update operator_sessions set expires_at = created_at where operator_id = ${operator.operatorId}`)
  const disabled = async (operator: OperatorBrowser) => {
    const [row] = await service.database.query<{ name: string }>(sql`
      select name from operators where operator_id = ${operator.operatorId}`)
    return disableOperator(service.database, row?.name ?? '', service.now())
  }
  const callers: readonly (readonly [who: string, sent: Sent])[] = [
    ['nobody', {}],
    ['a made-up session', { cookie: operatorOf('admin').cookie.replace(/.{8}$/, 'AAAAAAAA') }],
    ['an expired session', await ended(expired)],
    ['a signed-out session', await ended(operator => operator.post('/sign-out'))],
    ['a disabled operator', await ended(disabled)],
  ]
  const before = await stateOfPartner()
  for (const [who, sent] of callers) {
    for (const route of ofSessions()) {
      const { status, text } = await ask(route, sent)
      expect([who, route.name, status, canariesIn(text)]).toEqual([who, route.name, 401, []])
    }
    for (const route of routes.filter(({ name }) => name in withoutSession)) {
      const { status, text } = await ask(route, sent)
      expect([who, route.name, withoutSession[route.name]?.includes(status), canariesIn(text)]).toEqual([
        who,
        route.name,
        true,
        [],
      ])
    }
  }
  expect(await stateOfPartner()).toEqual(before)
})

test('a lower role is refused, on record, and sees nothing of it', async () => {
  const before = await stateOfPartner()
  for (const role of ROLES) {
    const operator = operatorOf(role)
    const token = await tokenOf(operator)
    const wanted: string[] = []
    for (const route of ofSessions()) {
      if (rolesOf[route.name]?.includes(role) || (role === 'developer' && route.name === 'GET /')) continue
      wanted.push(route.name)
      const { status, text } = await ask(route, { cookie: operator.cookie, token })
      expect([role, route.name, status, canariesIn(text)]).toEqual([role, route.name, 403, []])
    }
    const rows = await service.database.query<{ action: string }>(sql`
      select action from audit_log
      where partner_id = ${noPartner} and actor = ${operator.operatorId} and result = 'refused' order by entry_id`)
    expect(rows.map(({ action }) => action)).toEqual(wanted)
  }
  expect(await stateOfPartner()).toEqual(before)
})

test('who works for another partner finds nothing of this one', async () => {
  const before = await stateOfPartner()
  for (const by of [stranger, strangeDeveloper]) {
    const token = await tokenOf(by)
    for (const route of ofSessions()) {
      const { status, text } = await ask(route, { cookie: by.cookie, token })
      const isNamed = /:(serviceid|eventid|endpointid|partnerid|requestid)/.test(route.path)
      const isThis = isNamed || /audit|due/.test(route.path)
      const mayOpen = rolesOf[route.name]?.includes(by === stranger ? 'admin' : 'developer')
      const expected = mayOpen ? (isThis ? 404 : 'any') : route.path === '/' ? 303 : 403
      expect([route.name, expected === 'any' ? 'any' : status, canariesIn(text)]).toEqual([
        route.name,
        expected,
        [],
      ])
      expect([route.name, status < 500]).toEqual([route.name, true])
    }
  }
  expect(await stateOfPartner()).toEqual(before)
})

test('a form without the session’s token, or from elsewhere, does nothing for anybody', async () => {
  const before = await stateOfPartner()
  const operator = operatorOf('admin')
  const { cookie } = operator
  const token = await tokenOf(operator)
  const foreign = await tokenOf(await signIn(service, 'admin'))
  const wrong: readonly (readonly [what: string, sent: Sent])[] = [
    ['no token', { cookie, token: '' }],
    ['the token of another session', { cookie, token: foreign }],
    ['no origin', { cookie, token, headers: {} }],
    ['a foreign origin', { cookie, token, headers: { origin: 'https://evil.example' } }],
    ['the origin of the API', { cookie, token, headers: { origin: service.baseUrl } }],
    ['an opaque origin', { cookie, token, headers: { origin: 'null' } }],
    ['another site', { cookie, token, headers: { origin: base, 'sec-fetch-site': 'cross-site' } }],
  ]
  for (const [what, sent] of wrong)
    for (const route of routes.filter(({ method }) => method === 'POST')) {
      // These have no session that a token could come from: only the origin protects them.
      if (/token/.test(what) && route.path.startsWith('/sign-in')) continue
      const { status } = await ask(route, sent)
      expect([what, route.name, status]).toEqual([what, route.name, 403])
    }
  expect((await operator.get('/')).status).toBe(200)
  expect(await stateOfPartner()).toEqual(before)
})

test('what nobody would type is refused in words or left out, and is no failure of the service', async () => {
  const admin = await signIn(service, 'admin')
  const { serviceid, endpointid } = values
  const late = `253402300800000_${randomUUID()}`
  for (const path of [
    `/due?partner=${own.partnerId}&after=${late}`,
    `/webhooks/${endpointid}/deliveries?after=${late}`,
    '/requests?page=99999999999999999999',
    `/audit?partner=${own.partnerId}&until=9999-12-31`,
    `/audit?partner=${own.partnerId}&from=0000-01-01`,
  ])
    expect([path, (await admin.get(path)).status]).toEqual([path, 200])
  const days = { what: 'range', from: '2026-01-01', until: '9999-12-31' }
  expect((await admin.post(`/webhooks/${endpointid}/replay`, days)).status).toBe(422)
  const move = `/users/${serviceid}/act/move`
  const [, enrolment = ''] = /<option value="([^"]+)"/.exec((await admin.get(move)).text) ?? []
  const moved = await admin.post(move, { enrolment, firstday: '', lastday: '9999-12-31' })
  expect([moved.status, moved.text.includes('That is no date.')]).toEqual([409, true])
})

test('by another name the console answers nothing, not even a file', async () => {
  const { port } = new URL(base)
  const { cookie } = operatorOf('admin')
  const askAs = (route: Route, host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        host,
        cookie,
        origin: `http://${host}`,
        'content-type': 'application/x-www-form-urlencoded',
      }
      send({ host: '127.0.0.1', port, path: addressOf(route), method: route.method, headers }, answer => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode))
      })
        .on('error', reject)
        .end()
    })
  for (const route of routes)
    for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`])
      expect([route.name, host, await askAs(route, host)]).toEqual([route.name, host, 421])
})

test('the role of a row, and each above it, gets through; a viewer sees no person anywhere, and nobody names of the code', async () => {
  const people: Role[] = []
  const names = new Set<string>()
  for (const role of ROLES) {
    const operator = operatorOf(role)
    for (const route of ofSessions()) {
      if (!rolesOf[route.name]?.includes(role)) continue
      const { status, text } = await ask(route, { cookie: operator.cookie, token: await tokenOf(operator) })
      expect([role, route.name, status]).not.toEqual([role, route.name, 401])
      // A request may not be decided by the same person, which is a refusal of another kind.
      if (!route.path.startsWith('/requests/'))
        expect([role, route.name, status !== 403]).toEqual([role, route.name, true])
      expect([role, route.name, status < 500]).toEqual([role, route.name, true])
      for (const name of identifiersIn([text])) names.add(`${route.name}: ${name}`)
      const seen = canariesIn(text).filter(one => !['Canary Harbor', '127.0.0.1:9/canary'].includes(one))
      if (seen.length > 0) people.push(role)
      if (role === 'viewer' || role === 'developer')
        expect([role, route.name, seen]).toEqual([role, route.name, []])
    }
  }
  expect([...names]).toEqual([])
  // The data that a viewer's pages are searched for really appears there for others.
  expect([...new Set(people)]).toEqual(['support', 'admin'])
})

test('a page that several roles open shows each of them its own parts', async () => {
  const found = new Set<string>()
  for (const role of ROLES) {
    const operator = operatorOf(role)
    for (const [name, parts] of Object.entries(partsOf)) {
      const route = routes.find(one => one.name === name)
      if (!route) throw new Error(`no route ${name}`)
      if (!rolesOf[name]?.includes(role)) continue
      const { text } = await ask(route, { cookie: operator.cookie })
      for (const [part, roles] of Object.entries(parts)) {
        expect([role, name, part, text.includes(part)]).toEqual([role, name, part, roles.includes(role)])
        if (roles.includes(role)) found.add(`${name} ${part}`)
      }
    }
  }
  expect(found.size).toBe(Object.values(partsOf).flatMap(parts => Object.keys(parts)).length)
})
