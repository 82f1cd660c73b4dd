import { readFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { beforeAll, expect, test } from 'vitest'
import type { Prefill } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner } from '../../service/src/partners/administer.ts'
import { mountRegistration } from '../../service/src/registration/mount.ts'
import { stepPaths } from '../../service/src/registration/screens.ts'
import type { PageContext } from '../../service/src/registration/session/page-context.ts'
import { encodeUuid, makeSecret } from '../../service/src/vault/secret.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService, type TestPartner } from '../rig.ts'
import { newVisitor, recordsAgreed } from './visitor.ts'

// The isolation matrix of the page: every route × whose session the browser has.

/**
 * A second, independent list of what the page answers, and the status for visitors without a living session: a route that
 * is missing here fails, and so does one with another status.
 */
const withoutSession: Readonly<Record<string, number>> = {
  'GET /register': 401,
  ...ofSteps([
    ...['comeback', 'plan', 'benefits', 'check', 'enrol', 'none', 'done', 'overview'],
    ...['details', 'details/name', 'details/dob', 'details/gender', 'details/contact', 'details/address'],
    ...['swap', 'swap/confirm', 'swap/undo', 'offer', 'offer/confirm', 'offer/undo'],
    ...['beneficiaries', 'beneficiaries/:name', 'cancel', 'cancel/undo', 'family/:name'],
    ...['cover/:name', 'cover/:name/confirm', 'cover/:name/undo'],
    ...['challenge', 'nowhere'],
  ]),
  'GET /register/copy/:reference': 401,
  'POST /register/language': 401,
  'POST /register/stay': 401,
  // Signing out says the same to everybody.
  'POST /register/leave': 200,
  // The link token in these requests is spent, and no session opens it again.
  'GET /register/link/:linktoken': 410,
  'POST /register/link/:linktoken': 410,
  'GET /register/link/:linktoken/': 410,
  'POST /register/link/:linktoken/': 410,
  'POST /embed/session': 401,
  // What is the same for everybody.
  'GET /embed/frame': 200,
  'GET /embed/': 200,
  'GET /embed/:version/:file': 404,
  'GET /page/look.css': 400,
  'GET /page/:file': 404,
}

function ofSteps(paths: readonly string[]) {
  return Object.fromEntries(
    paths.flatMap(path => ['GET', 'POST'].map(method => [`${method} /register/${path}`, 401])),
  )
}
const routes = Object.keys(withoutSession)

const service = forAllTests(startTestService)
const origin = 'http://localhost:9'
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides', origins: [origin] }))

/** A person, their open session, and the link that opened it. */
type Person = { userid: string; serviceid: string; handle: string; linktoken: string; sessionid: string }
let victim: Person
/** The form tag and the reference of the victim's pages. */
let seen: { draft: string; reference: string }
/** Handles that open nothing, by what became of them. */
let closed: Readonly<Record<string, string>>

beforeAll(async () => {
  const idle = await person('idle')
  // A session ends after an hour without a sign of life.
  service.advance(61 * 60_000)
  victim = await enrolled('victim')
  const again = async (userid: string) => (await openSession(partner, userid)).handle
  const signedOut = await again('victim')
  await ask('POST /register/leave', { authorization: `Session ${signedOut}` })
  const revoked = await person('revoked')
  await partner.client.revokeLinkToken({ sessionid: revoked.sessionid })
  const erased = await person('erased')
  await partner.client.eraseUser({ userid: 'erased' })
  // The successor has the same data, which the old session must not show.
  await partner.client.prefillUser({ userid: 'erased', ...ada })
  const cancelled = await enrolled('cancelled')
  await partner.client.cancelUser({ userid: 'cancelled', effective: 'immediate' })
  const leaving = await service.newPartner({ name: 'Harbor Rides', origins: [origin] })
  const disabled = await person('disabled', leaving)
  await changePartner(leaving.partnerId, { isDisabled: true }, service.manage)
  service.advance(1000)
  const id = encodeUuid(partner.partnerId) + encodeUuid(victim.sessionid)
  closed = {
    idle: idle.handle,
    'signed out': signedOut,
    revoked: revoked.handle,
    erased: erased.handle,
    cancelled: cancelled.handle,
    'of a disabled partner': disabled.handle,
    guessed: makeSecret('sh', 'sandbox', id).text,
    'a link token': victim.linktoken,
    'an API key': partner.apiKey,
    'an access token': await partner.token(),
    nonsense: 'nonsense',
  }
})

/** The handles that the service never made: nothing may tell them apart. */
const neverMade = ['guessed', 'a link token', 'an API key', 'an access token', 'nonsense']
/** What partners send of a person. */
type PersonData = Omit<Prefill, 'userid'>
const mallory: PersonData = {
  ...ada,
  firstname: 'Mallory',
  lastname: 'Stone',
  email: 'mallory@example.com',
  phone: '3055550101',
  address: { ...ada.address, addline1: '1 Other Way' },
}

/** A prefilled person with an open session. */
async function person(userid: string, of: TestPartner = partner, data: PersonData = ada): Promise<Person> {
  await of.client.prefillUser({ userid, ...data })
  return openSession(of, userid)
}

async function openSession({ client }: TestPartner, userid: string): Promise<Person> {
  const wish = { userid, offername: 'plus', delivery: 'embed' } as const
  const { linktoken, sessionid } = await client.createLinkToken(wish)
  const { body } = await send('POST', '/embed/session', { body: { linktoken, origin } })
  const { handle } = JSON.parse(body) as { handle: string }
  const { serviceid } = await client.getUser({ userid })
  return { userid, serviceid, handle, linktoken, sessionid }
}

/** A person who has enrolled on the page, so that there is a confirmation; `seen` is what their pages show. */
async function enrolled(userid: string, of: TestPartner = partner, data: PersonData = ada): Promise<Person> {
  const made = await person(userid, of, data)
  const visitor = newVisitor(service.baseUrl, made.handle)
  const { html } = await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit: ['critical', 'identity'] })
  const done = await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
  expect([userid, done.view]).toEqual([userid, 'DONE'])
  const reference = /copy\/(BE-\w{4}-\w{4})/.exec(done.html)?.[1] ?? ''
  const draft = /name="draft" value="([^"]+)"/.exec(html)?.[1] ?? ''
  if (userid === 'victim') seen = { draft, reference }
  return made
}

async function send(
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: object | URLSearchParams } = {},
) {
  const isForm = body instanceof URLSearchParams
  const type = body && !isForm ? { 'content-type': 'application/json' } : {}
  const answer = await fetch(service.baseUrl + path, {
    method,
    redirect: 'manual',
    headers: { ...headers, ...type },
    ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
  })
  return { status: answer.status, body: await answer.text() }
}

/** Asks a route about the victim: their link, their reference, a form of their pages. */
function ask(route: string, headers: Record<string, string>, fields: Record<string, string> = {}) {
  const [method = '', path = ''] = route.split(' ')
  const values: Readonly<Record<string, string>> = {
    name: 'critical',
    reference: seen?.reference ?? '',
    linktoken: victim?.linktoken ?? '',
    version: '0.0.0',
    file: 'none.js',
  }
  const at = path.replace(/:(\w+)/g, (_, word: string) => values[word] ?? 'none')
  if (method === 'GET') return send(method, at, { headers })
  if (path === '/embed/session')
    return send(method, at, { headers, body: { linktoken: victim.linktoken, origin } })
  const typed = { ...fields, userid: 'victim', firstname: 'Mallory', benefit: 'telehealth', offer: 'starter' }
  return send(method, at, { headers, body: new URLSearchParams(typed) })
}

/** Personal data of the victim, and of all who are prefilled like them. */
function canariesIn(text: string) {
  const { firstname, lastname, email, phone, address } = ada
  return [firstname, lastname, email, phone, address.addline1, seen.reference].filter(one =>
    text.includes(one),
  )
}

/**
 * Every row that names a person, but for the audit log, which is written later, and the time at which somebody last
 * pressed a spent link.
 */
async function stateOf({ serviceid }: Person, { without = [] }: { without?: readonly string[] } = {}) {
  const tables = await service.database.query<{ name: string }>(sql`
    select c.table_name as name from information_schema.columns c
    where c.table_schema = 'public' and c.column_name = 'service_id' and c.table_name <> 'audit_log' order by 1`)
  const state: Record<string, readonly unknown[]> = {}
  for (const { name } of tables)
    if (!without.includes(name))
      state[name] = await service.database.query({
        name: '',
        text: `select to_jsonb(t) as t from "${name}" t where service_id = $1 order by 1`,
        values: [serviceid],
      })
  return state
}

/** Does something for each route, some of them at once. */
async function inParallel(act: (route: string) => Promise<void>) {
  const left = [...routes]
  const worker = async () => {
    for (let route = left.shift(); route !== undefined; route = left.shift()) await act(route)
  }
  await Promise.all([worker(), worker(), worker(), worker()])
}

test('every route has a row, and each path that the page tells apart below its root', async () => {
  const found: string[] = []
  const app = Fastify({ exposeHeadRoutes: false })
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) found.push(`${one} ${url}`)
  })
  mountRegistration(app, { basePath: '', mode: 'sandbox', baseUrl: () => origin } as PageContext)
  await app.ready()
  await app.close()
  const below = ['GET /register/*', 'POST /register/*']
  expect(found).toEqual(expect.arrayContaining(below))
  expect(found.filter(route => !below.includes(route) && !routes.includes(route))).toEqual([])
  const isMounted = (route: string) =>
    found.includes(route) || below.includes(route.replace(/\/register\/.*/, '/register/*'))
  expect(routes.filter(route => !isMounted(route))).toEqual([])
  // Below the root are the steps, and the words that the routes themselves answer.
  const source = await readFile(new URL('../../service/src/registration/pages.ts', import.meta.url), 'utf8')
  const words = [...source.matchAll(/path === '(\w+)'/g)].map(([, word = '']) => word)
  expect(words).toEqual(expect.arrayContaining(['challenge', 'language', 'leave', 'stay']))
  const paths = new Set(routes.flatMap(route => /^\w+ \/register\/(?!link\/)(.+)/.exec(route)?.[1] ?? []))
  expect([...paths].sort()).toEqual(
    [...new Set([...stepPaths, ...words, 'copy/:reference', 'nowhere'])].sort(),
  )
  expect(source.match(/path\.startsWith\('\w+\/'\)/g)).toEqual(["path.startsWith('copy/')"])
})

test('without a living session nobody sees or does anything, and each unknown handle gets the same answer', async () => {
  const before = await stateOf(victim)
  const unknown = new Map<string, string>()
  const ways = [
    (handle: string) => ({ authorization: `Session ${handle}` }),
    (handle: string) => ({ cookie: `enrolment-sandbox=${handle}` }),
  ]
  for (const [index, way] of ways.entries())
    for (const [what, handle] of Object.entries(closed))
      await inParallel(async route => {
        const { status, body } = await ask(route, way(handle), { draft: seen.draft })
        expect([what, route, status, canariesIn(body)]).toEqual([what, route, withoutSession[route], []])
        if (status !== 401 || !neverMade.includes(what)) return
        const first = unknown.get(`${index} ${route}`) ?? body
        unknown.set(`${index} ${route}`, first)
        expect([what, route, body === first]).toEqual([what, route, true])
      })
  await inParallel(async route => {
    const { status, body } = await ask(route, {}, { draft: seen.draft })
    expect([route, status, canariesIn(body)]).toEqual([route, withoutSession[route], []])
  })
  expect(await stateOf(victim)).toEqual(before)
})

test('with the session of another person, of this partner or another, nobody sees or does anything of this one', async () => {
  const elsewhere = await service.newPartner({ name: 'Corner Bank', origins: [origin] })
  const strangers: readonly (readonly [who: string, stranger: Person])[] = [
    ['a newcomer', await person('newcomer', partner, mallory)],
    ['a member', await enrolled('member', partner, mallory)],
    // With the same userid, which names another person there.
    ['a newcomer elsewhere', await person('victim', elsewhere, mallory)],
    ['a member elsewhere', await enrolled('member', elsewhere, mallory)],
  ]
  // These come last, because they end the session or what it can show.
  const last = ['POST /register/cancel', 'POST /register/leave']
  const inOrder = [...routes.filter(route => !last.includes(route)), ...last]
  const before = await stateOf(victim)
  for (const [who, stranger] of strangers) {
    const headers = { authorization: `Session ${stranger.handle}` }
    const look = async (route: string, fields: Record<string, string> = {}) => {
      const { status, body } = await ask(route, headers, fields)
      expect([who, route, status, canariesIn(body)]).toEqual([who, route, expect.any(Number), []])
      const isOpen = withoutSession[route] !== 401 || route === 'POST /embed/session'
      const isRight = isOpen ? status === withoutSession[route] : status !== 401 && status < 500
      expect([who, route, status, isRight]).toEqual([who, route, status, true])
      if (route.includes('/copy/')) expect([who, status]).toEqual([who, 404])
    }
    const own = await stateOf(stranger, { without: ['page_sessions'] })
    // A form of the victim's pages, sent with this session as from a shared computer, changes neither of them.
    for (const route of inOrder.slice(0, -1)) await look(route, { draft: seen.draft })
    expect([who, await stateOf(stranger, { without: ['page_sessions'] })]).toEqual([who, own])
    for (const route of inOrder) await look(route)
  }
  expect(await stateOf(victim)).toEqual(before)
})

test('with their own session a person gets through everywhere, and sees what the others were searched for', async () => {
  const { handle } = await openSession(partner, 'victim')
  const found = new Set<string>()
  for (const route of routes.filter(one => withoutSession[one] === 401 && one.startsWith('GET'))) {
    const { status, body } = await ask(route, { authorization: `Session ${handle}` })
    expect([route, status, [200, 303, 404].includes(status)]).toEqual([route, status, true])
    for (const canary of canariesIn(body)) found.add(canary)
  }
  const { firstname, lastname, email, address } = ada
  const said = [firstname, lastname, email, address.addline1, seen.reference]
  expect([...found]).toEqual(expect.arrayContaining(said))
  const copy = await ask('GET /register/copy/:reference', { authorization: `Session ${handle}` })
  expect(copy.status).toBe(200)
})
