import { beforeAll, describe, expect, test } from 'vitest'
import { type Operation, operations } from '../../contract/src/index.ts'
import { screens } from '../../service/src/console/screens.ts'
import { sql } from '../../service/src/db/sql.ts'
import { consoleOf, type OperatorBrowser, signIn } from '../console/operator-browser.ts'
import { demoRound } from '../feeds/demo-round.ts'
import { forAllTests } from '../for-all-tests.ts'
import { everydayOr, isLong } from '../long.ts'
import { newVisitor, type Visitor } from '../page/visitor.ts'
import { ada, adaAsks, child, startTestService } from '../rig.ts'
import { leastCpuMsOf, MOST_CPU_MS } from './processor-time.ts'

// No request costs more processor time than a stated bound: the largest and the strangest that each address takes.
// `fuzz.test.ts` looks at damaged ones at random.

const service = forAllTests(() =>
  startTestService({ console: true, startAt: Date.parse('2026-10-14T15:00:00Z') }),
)
const partner = forAllTests(() => service.newPartner())
let credentials: Readonly<Record<string, string>>
beforeAll(async () => {
  await partner.client.createUser({ userid: 'living', ...ada, offername: 'plus', benefits: ['telehealth'] })
  credentials = { authorization: `Bearer ${await partner.token()}`, 'x-api-key': partner.apiKey }
})

/** Sends a request, and reads the whole answer. */
async function ask(address: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(address, { redirect: 'manual', ...init })
  await answer.arrayBuffer()
  return answer.status
}

async function expectBounded(what: string, send: () => Promise<number>): Promise<void> {
  const statuses = new Set<number>()
  const cpuMs = await leastCpuMsOf(async () => {
    statuses.add(await send())
  })
  expect(cpuMs, what).toBeLessThan(MOST_CPU_MS)
  expect([what, [...statuses].filter(status => status >= 500)]).toEqual([what, []])
}

/** But for a long run, each third; in the everyday run, each sixth. */
function some<T>(items: readonly T[]): readonly T[] {
  const step = isLong ? 1 : everydayOr(6, 3)
  return items.filter((_, index) => index % step === 0)
}

/** A little less than a body may hold. */
const room = 60_000
function times(text: string, length = room) {
  return text.repeat(Math.floor(length / text.length))
}
function listOf(item: string) {
  return `[${times(`${item},`)}${item}]`
}

/** The largest and the strangest values of a member, as JSON. */
const values: readonly string[] = [
  listOf('{}'),
  listOf('""'),
  listOf('"a"'),
  listOf('null'),
  listOf('{"name":"a","version":"1"}'),
  `[${Array.from({ length: 200 }, (_, index) => `"b${index}"`).join()}]`,
  `[${Array.from({ length: 8000 }, (_, index) => `"${index}"`).join()}]`,
  `"${times('a')}"`,
  `"${times('a ')}"`,
  `"${times('0')}"`,
  `"${times('é', room / 2)}"`,
  `"${times('\\u0000')}"`,
  `"${times('\\ud83d\\ude00')}"`,
  `"https://${times('a.', 2000)}example/${times('%41', 50_000)}"`,
  `{${Array.from({ length: 499 }, (_, index) => `"m${index}":{}`).join()}}`,
  `{"a":${listOf('{"a":{},"b":[]}')}}`,
  '1e400',
]
const wholes: readonly string[] = [
  listOf('{}'),
  listOf('[[[[]]]]'),
  times('['),
  times('{"a":'),
  times(' '),
  `{${Array.from({ length: 5000 }, (_, index) => `"m${index}":1`).join()}}`,
  `{${times('"a":1,')}"a":1}`,
  times('"\\'),
]

const withBody = (Object.values(operations) as Operation[]).filter(
  ({ caller, body }) => caller === 'partner' && body !== undefined,
)

describe('no body costs more than the bound', () => {
  test.each(withBody)('of $id', async operation => {
    const userid = operation.id === 'eraseUser' ? 'nobody' : 'living'
    const example = { ...(operation.example.body as object), userid }
    const members = Object.keys((operation.body as { properties?: object }).properties ?? example)
    expect(members.length).toBeGreaterThan(0)
    const bodies = members.flatMap(member =>
      some(values).map(value => {
        const rest = JSON.stringify({ ...example, [member]: undefined }).slice(1, -1)
        return `{${rest === '' ? '' : `${rest},`}"${member}":${value}}`
      }),
    )
    const path = operation.path.replace(/\{\w+\}/, '019a0000-0000-7000-8000-000000000000')
    for (const body of [...bodies, ...some(wholes)])
      await expectBounded(`${operation.id} ${body.slice(0, 300)}`, () =>
        ask(service.baseUrl + path, {
          method: operation.method,
          headers: {
            ...credentials,
            'content-type': operation.lines ? 'application/x-ndjson' : 'application/json',
          },
          body,
        }),
      )
  })
})

/** As much of a query as the headers have room for. */
const queries: readonly string[] = [
  times('a=1&', 7000),
  `q=${times('a+', 7000)}`,
  `q=${times('%20e', 7000)}`,
  `q=${times('%E2%84%A2', 7000)}`,
  `q=${times('.*', 7000)}`,
  times('[]=&', 7000),
  times('%00', 7000),
  Array.from({ length: 500 }, (_, index) => `light.${index}=%23fff`)
    .join('&')
    .slice(0, 7000),
  `look={"light":{${Array.from({ length: 400 }, (_, index) => `"c${index}":"%23fff"`).join()}}}`,
  `look=${times('[', 7000)}`,
]

test('no address without a body costs more than the bound, with credentials or without', async () => {
  const paths = [
    ...(Object.values(operations) as Operation[])
      .filter(({ method }) => method === 'GET' || method === 'DELETE')
      .map(
        ({ method, path }) =>
          [method, path.replace(/\{\w+\}/, method === 'GET' ? 'living' : 'nobody')] as const,
      ),
    ...[...(await (await fetch(`${service.baseUrl}/llms.txt`)).text()).matchAll(/\/docs\/[\w./-]+/g)].map(
      ([path]) => ['GET', path] as const,
    ),
    ...[
      '/',
      '/docs',
      '/docs/',
      '/docs/search',
      '/docs/search.json',
      '/docs/assets/x',
      '/changelog',
      '/changelog.atom',
      '/postman.json',
      '/llms.txt',
      '/robots.txt',
      '/favicon.ico',
      '/.well-known/security.txt',
      '/.well-known/api-catalog',
      '/page/look.css',
      '/page/x',
      '/embed/',
      '/embed/1/x',
      '/icons/x.svg',
      '/files/x/y.pdf',
      '/register',
      '/register/benefits',
      '/nowhere',
      `/${times('%2e%2e/', 7000)}`,
    ].map(path => ['GET', path] as const),
  ]
  expect(paths.length).toBeGreaterThan(60)
  for (const [method, path] of some(paths))
    for (const query of ['', ...some(queries)])
      for (const headers of [{}, credentials])
        await expectBounded(`${method} ${path}?${query.slice(0, 60)}`, () =>
          ask(`${service.baseUrl}${path}${query === '' ? '' : `?${query}`}`.slice(0, 7900), {
            method,
            headers: { ...headers, 'accept-encoding': 'br, gzip' },
          }),
        )
})

/** The largest and the strangest forms. */
const forms: readonly string[] = [
  times('benefit=a&'),
  Array.from({ length: 4500 }, (_, index) => `benefit=b${index}`).join('&'),
  Array.from({ length: 4000 }, (_, index) => `consent.${index}=1`).join('&'),
  Array.from({ length: 4000 }, (_, index) => `name.${index}=a`).join('&'),
  times('&'),
  times('%'),
  times('%00'),
  ...[
    'firstname',
    'email',
    'phone',
    'dobyear',
    'zipcode',
    'city',
    'out',
    'in',
    'offername',
    'replace.telehealth',
  ].map(name => `${name}=${times('%EF%B7%BA')}`),
  ...['firstname', 'email', 'phone', 'zipcode'].map(name => `${name}=${times('1 ')}`),
  times('cover.hospital=a&'),
  ...['firstname', 'dobyear'].map(name => `person1.${name}=${times('1 ')}`),
  `email=a@${times('a.')}`,
]

const newcomerPaths = [
  'start',
  'details',
  'details/name',
  'details/dob',
  'details/contact',
  'details/address',
]
  .concat([
    'details/gender',
    'plan',
    'benefits',
    'check',
    'enrol',
    'none',
    'challenge',
    'language',
    'comeback',
  ])
  .concat(['signout', 'copy/x', 'nowhere', 'family/hospital'])
const memberPaths = ['overview', 'benefits', 'check', 'enrol', 'swap', 'swap/confirm', 'swap/undo']
  .concat(['offer', 'offer/confirm', 'offer/undo', 'beneficiaries', 'beneficiaries/life'])
  .concat(['cancel', 'cancel/undo', 'done', 'details', 'details/name', 'details/address'])
  .concat(['family/hospital', 'cover/hospital', 'cover/hospital/confirm', 'cover/hospital/undo'])

test.each([
  ['newcomer', newcomerPaths],
  ['member', memberPaths],
] as const)('no form of the page costs more than the bound, sent by a %s', async (who, paths) => {
  if (who === 'newcomer') await partner.client.prefillUser({ userid: who, ...ada })
  const userid = who === 'newcomer' ? who : 'living'
  const open = async (): Promise<Visitor> => {
    const { linkurl } = await partner.client.createLinkToken({ userid, offername: 'plus' })
    const visitor = newVisitor(service.baseUrl)
    await visitor.post(linkurl ?? '')
    return visitor
  }
  let visitor = await open()
  let seen = 0
  for (const path of paths)
    for (const body of some(forms)) {
      await expectBounded(`${path} ${body.slice(0, 60)}`, async () => {
        const answer = await visitor.send(`/register/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', origin: service.baseUrl },
          body,
        })
        await answer.arrayBuffer()
        if (answer.status === 422) seen += 1
        if (answer.status === 401) visitor = await open()
        return answer.status
      })
    }
  // The forms are read, and not only turned away at the door.
  expect(seen).toBeGreaterThan(everydayOr(0, paths.length))
})

test('no address of the console costs more than the bound', async () => {
  const admin = await signIn(service, 'admin')
  const developer = await signIn(service, 'developer', [partner.partnerId])
  const [{ service_id } = { service_id: '' }] = await service.database.query<{ service_id: string }>(sql`
    select service_id from users where partner_id = ${partner.partnerId} and userid = 'living'`)
  const { webhookid } = await partner.client.createWebhook({
    url: 'http://127.0.0.1:9/x',
    username: 'u',
    password: 'p',
  })
  const { events } = await partner.client.listEvents({ userid: 'living' })
  await demoRound(service)
  const asked = await admin.post(`/users/${service_id}/date-and-link`, { reason: 'ticket 7' })
  const names: Readonly<Record<string, string | undefined>> = {
    serviceid: service_id,
    partnerid: partner.partnerId,
    endpointid: webhookid,
    eventid: events[0]?.eventid,
    requestid: asked.path.split('/').at(-1),
    feed: 'seaview',
    act: 'cancel',
    version: '1',
  }
  const addressOf = (path: string) =>
    path.replace(/:(\w+)/g, (_, name: string) => {
      const value = names[name]
      if (value === undefined) throw new Error(`${path} needs a value of ${name} here`)
      return value
    })
  const base = consoleOf(service)
  const tokenOf = async (operator: OperatorBrowser) =>
    /name="token" value="([^"]+)"/.exec((await operator.get('/')).text)?.[1] ?? ''
  const tokens = new Map([
    [admin, await tokenOf(admin)],
    [developer, await tokenOf(developer)],
  ])
  const fields = ['what', 'reason', 'partner', 'name', 'origins', 'redirects', 'run', 'one']
  const bodies = [...some(forms), ...some(fields).map(name => `${name}=${times('a%0A')}`)]
  const all = [
    ...screens,
    { method: 'GET', path: '/nowhere', right: 'look' },
    { method: 'POST', path: '/sign-in/x', right: 'look' },
  ]
  for (const { method, path, right } of some(all)) {
    const operator = right === 'rotate' ? developer : admin
    const address = base + addressOf(path)
    const headers = { cookie: operator.cookie, origin: base }
    if (method === 'GET')
      for (const query of ['', ...some(queries)])
        await expectBounded(`${path}?${query.slice(0, 60)}`, () => ask(`${address}?${query}`, { headers }))
    else
      for (const body of bodies)
        await expectBounded(`${path} ${body.slice(0, 60)}`, () =>
          ask(address, {
            method,
            headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
            body: `token=${tokens.get(operator)}&${body}`,
          }),
        )
  }
})

const ofBoth = [{ name: 'dental' }, { name: 'hospital' }]

test('a user with the largest family who was changed without end costs no more than the bound, and is still cancelled and erased', async () => {
  const { client, partnerId } = await service.newPartner()
  const userid = 'filled'
  const kin = Array.from({ length: 20 }, (_, index) => ({ ...child, benefits: index < 10 ? ofBoth : [] }))
  const family = { benefits: ['telehealth', 'dental'], dependants: kin }
  await client.createUser({ userid, ...ada, offername: 'plus', ...family })
  const { dependants } = await client.getDependants({ userid })
  const ids = dependants.map(({ dependantid }) => dependantid)
  // As by hundreds of swaps that were undone, and tens of thousands of updates.
  await service.database.query(sql`
    insert into enrolments (partner_id, service_id, enrolment_id, benefit, offer, is_fixed, state, catalogue_version,
      picked_at, starts_at, close_reason)
    select partner_id, service_id, gen_random_uuid(), 'vision', offer, false, 'withdrawn', catalogue_version,
      picked_at + number * interval '1 millisecond', starts_at, 'swapcancelled'
    from enrolments, generate_series(1, 990) number where partner_id = ${partnerId} and benefit = 'telehealth'`)
  await service.database.query(sql`
    insert into history (partner_id, service_id, version, at, recorded_at, who, lines)
    select partner_id, service_id, version + number, at, recorded_at, 'partner', '[{"what": "prefill", "to": "stored", "why": "update"}]'
    from history, generate_series(1, 20000) number where partner_id = ${partnerId}`)
  await service.database.query(sql`
    update users set version = version + 20000 where partner_id = ${partnerId}`)
  const within = async (what: string, act: () => Promise<unknown>) => {
    let refused: unknown
    const cpuMs = await leastCpuMsOf(async () => {
      await act().catch(error => {
        refused = error
      })
    })
    expect(cpuMs, what).toBeLessThan(MOST_CPU_MS)
    return refused as { status: number; errors: readonly object[] } | undefined
  }
  let refused: Awaited<ReturnType<typeof within>>
  for (let round = 0; round < 20 && !refused; round += 1) {
    refused = await within('a swap', () =>
      client.swapBenefits({ userid, add: ['vision'], remove: ['telehealth'] }),
    )
    await within('its undoing', () => client.undoSwap({ userid }))
  }
  expect(refused).toMatchObject({ status: 400, errors: [{ field: 'userid', code: 'too_many' }] })
  const { timeline = [] } = (await client.getUser({ userid, include: ['timeline'] })) as {
    timeline?: object[]
  }
  expect(timeline.length).toBeGreaterThan(400)
  expect(timeline.length).toBeLessThan(700)
  await within('a get', () => client.getUser({ userid, include: ['timeline'] }))
  await within('a listing', () => client.getBenefits({ userid, ...adaAsks }))
  await within('an update', () => client.updateUser({ userid, phone: '3055550199' }))
  await within('the list of people', () => client.getDependants({ userid }))
  await within('a change of cover', () =>
    client.changeCover({ userid, name: 'dental', dependants: ids.slice(10) }),
  )
  await within('a preview', () => client.previewOfferChange({ userid, offername: 'premier' }))
  expect(await client.cancelUser({ userid })).toMatchObject({ status: 'active' })
  expect(await client.eraseUser({ userid })).toMatchObject({ status: 'erased' })
})
