import { afterEach, beforeAll, expect, test } from 'vitest'
import { noPartner } from '../../service/src/audit/entries.ts'
import { sql } from '../../service/src/db/sql.ts'
import { disableOperator, findOperator } from '../../service/src/operators/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { type IdentityProvider, startIdentityProvider } from './identity-provider.ts'
import { newTraveller, type Traveller } from './journey.ts'
import { consoleOf } from './operator-browser.ts'

const identity = forAllTests(startIdentityProvider)
const service = forAllTests(() =>
  startTestService({ console: true, signIn: identity.settings, startAt: Date.now() }),
)
let base = ''
beforeAll(async () => {
  base = consoleOf(service)
  identity.serve([base])
})
afterEach(() => {
  identity.changes = undefined
  identity.forges = false
  identity.broken = undefined
  // Nothing that came back from the provider is in any log line, whatever the result.
  expect(JSON.stringify(service.logged)).not.toMatch(/eyJ|code=|enr_o[ls]_|Hopper/)
})

let people = 0
/** A person whom the provider knows and the console does not know yet. */
function newPerson(...groups: readonly string[]) {
  people += 1
  return { sub: `person-${people}`, name: `Person ${people}`, groups }
}
function isReturn(next: string) {
  return next.startsWith(`${base}/sign-in/provider/return`)
}

/** Signs in as a person, with a new browser. */
async function signIn(
  who: IdentityProvider['who'] = newPerson('call-center'),
  browser: Traveller = newTraveller(),
) {
  identity.who = who
  const shown = await browser.follow(`${base}/sign-in/provider`)
  return { browser, shown, who }
}

/** Goes to the address that leads back from the provider, without opening it. */
async function upToReturn(browser: Traveller, who = newPerson('call-center')) {
  identity.who = who
  const { next } = await browser.follow(`${base}/sign-in/provider`, isReturn)
  if (next === undefined) throw new Error('the provider did not send the browser back')
  return next
}

/** The audit entries about signing in since the last call. */
async function recorded(name: string) {
  const operator = await findOperator(service.database, name)
  const rows = await service.database.query<{ action: string; result: string }>(sql`
    select action, result from audit_log where partner_id = ${noPartner} and actor = ${operator?.operatorId ?? 'x'}
    order by entry_id`)
  return rows.map(({ action, result }) => `${action}: ${result}`)
}

test('who is in a mapped group signs in, lands where it wanted to be, and is on record', async () => {
  const browser = newTraveller()
  const wanted = await browser.get(`${base}/webhooks?from=mail`)
  expect(wanted.status).toBe(401)
  const path = /href="(\/sign-in\/provider[^"]*)"/.exec(wanted.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  identity.who = newPerson('call-center', 'choir')
  const shown = await browser.follow(base + path)
  expect([shown.status, shown.url]).toEqual([200, `${base}/webhooks?from=mail`])
  expect(shown.text).toContain(`${identity.who.name}</span> <span class="hint">support</span>`)
  expect(await findOperator(service.database, identity.who.name)).toMatchObject({
    role: 'support',
    partners: undefined,
    issuer: identity.issuer,
  })
  expect([...browser.cookies(base).keys()]).toEqual(['enrolment-console'])
  expect((await recorded(identity.who.name))[0]).toBe('sign in by provider: done')
})

test('groups that the provider tells at its userinfo endpoint alone count as well', async () => {
  identity.serve([base], { groupsIn: 'userinfo' })
  const { shown } = await signIn(newPerson('run'))
  identity.serve([base])
  expect([shown.status, shown.url]).toEqual([200, `${base}/`])
  expect(shown.text).toContain('<span class="hint">admin</span>')
})

test('the way there has PKCE, state and nonce, each another time another, and no secret', async () => {
  const ways = await Promise.all(
    [1, 2].map(async () => {
      const answer = await newTraveller().get(`${base}/sign-in/provider`)
      expect(answer.status).toBe(303)
      return new URL(answer.headers.get('location') ?? '').searchParams
    }),
  )
  for (const name of ['state', 'nonce', 'code_challenge']) {
    const values = ways.map(way => way.get(name) ?? '')
    expect(new Set(values).size).toBe(2)
    for (const value of values) expect(value).toMatch(/^[\w-]{43}$/)
  }
  expect(ways[0]?.get('code_challenge_method')).toBe('S256')
  expect(ways[0]?.get('response_type')).toBe('code')
  expect([...(ways[0]?.keys() ?? [])]).not.toContain('client_secret')
})

test('an address of others is never where signing in leads', async () => {
  for (const to of [
    '//evil.example/',
    'https://evil.example/',
    '/\\evil.example',
    '/sign-out',
    '/\t/evil.example',
  ]) {
    const browser = newTraveller()
    identity.who = newPerson('look')
    const shown = await browser.follow(`${base}/sign-in/provider?${new URLSearchParams({ to }).toString()}`)
    expect([to, shown.url, shown.status]).toEqual([to, `${base}/`, 200])
  }
})

test('who is in no mapped group is refused in plain words, and no operator is made', async () => {
  const { shown, who } = await signIn(newPerson('choir'))
  expect(shown.status).toBe(403)
  expect(shown.text).toContain('none of your groups there has a role here')
  expect(await findOperator(service.database, who.name)).toBeUndefined()
  const none = await signIn({ ...newPerson(), groups: undefined as unknown as string[] })
  expect(none.shown.status).toBe(403)
  await expect
    .poll(async () => {
      const [row] = await service.database.query<{ times: number }>(sql`
        select count(*)::int as times from audit_log
        where actor_kind = 'nobody' and action = 'sign in by provider' and result = 'refused'`)
      return row?.times ?? 0
    })
    .toBeGreaterThanOrEqual(2)
})

test('a group that was changed or removed counts from the next sign-in, for what is open, too', async () => {
  const { browser, who } = await signIn(newPerson('run'))
  expect((await browser.get(`${base}/audit.csv`)).status).toBe(200)
  const lesser = await signIn({ ...who, groups: ['look'] })
  expect(lesser.shown.text).toContain('<span class="hint">viewer</span>')
  expect((await browser.get(`${base}/audit.csv`)).status).toBe(403)
  const { shown } = await signIn({ ...who, groups: [] })
  expect(shown.status).toBe(403)
  expect((await browser.get(`${base}/`)).status).toBe(401)
  expect((await lesser.browser.get(`${base}/`)).status).toBe(401)
  expect((await recorded(who.name)).at(-1)).toBe('sign in by provider: refused')
})

test('disabling ends sessions at once, and the provider does not bring them back', async () => {
  const { browser, who } = await signIn()
  await disableOperator(service.database, who.name, service.now())
  expect((await browser.get(`${base}/`)).status).toBe(401)
  const { shown } = await signIn(who)
  expect(shown.status).toBe(403)
  expect(shown.text).toContain('Your access to the console was ended')
})

test('an email that the provider tells is kept for telling two accounts of one person, while it is not called unverified', async () => {
  const emailOf = async (name: string) => (await findOperator(service.database, name))?.email
  const { who } = await signIn({ ...newPerson('call-center'), email: 'Grace@Example.com' })
  expect(await emailOf(who.name)).toBe('grace@example.com')
  // Nobody becomes a second person by taking it away.
  await signIn(who)
  await signIn({ sub: who.sub, name: who.name, groups: ['call-center'] })
  expect(await emailOf(who.name)).toBe('grace@example.com')
  const doubted = { ...newPerson('call-center'), email: 'ada@example.com', email_verified: false }
  await signIn(doubted)
  expect(await emailOf(doubted.name)).toBeUndefined()
})

test('two people of one name stay two', async () => {
  const first = await signIn({ sub: 'namesake-1', name: 'Same Name', groups: ['look'] })
  const second = await signIn({ sub: 'namesake-2', name: 'Same Name', groups: ['look'] })
  expect(first.shown.text).toContain('>Same Name</span')
  expect(second.shown.text).toMatch(/>Same Name \([0-9a-f]{8}\)<\/span/)
})

test('an ID token for somebody else’s console, of another sign-in, of another issuer or without a right signature is not believed', async () => {
  const lies: readonly ((claims: Record<string, unknown>) => Record<string, unknown>)[] = [
    claims => ({ ...claims, aud: 'another-console' }),
    claims => ({ ...claims, aud: ['another-console'] }),
    claims => ({ ...claims, nonce: 'x'.repeat(43) }),
    ({ nonce: _, ...claims }) => claims,
    claims => ({ ...claims, iss: 'https://evil.example' }),
    ({ sub: _, ...claims }) => claims,
  ]
  for (const changes of lies) {
    identity.changes = changes
    const { shown, browser } = await signIn()
    expect(shown.status).toBe(502)
    expect(shown.text).toContain('was not what it should be, so it was not believed')
    expect([...browser.cookies(base).keys()]).toEqual([])
  }
  identity.changes = claims => ({ ...claims, groups: ['run'] })
  identity.forges = true
  expect((await signIn()).shown.status).toBe(502)
  identity.forges = false
  expect((await signIn()).shown.text).toContain('<span class="hint">admin</span>')
})

test('a code that was used is not taken again', async () => {
  const browser = newTraveller()
  const next = await upToReturn(browser)
  const flow = browser.cookies(base).get('enrolment-console-flow') ?? ''
  expect((await browser.get(next)).status).toBe(303)
  const thief = newTraveller()
  thief.cookies(base).set('enrolment-console-flow', flow)
  const again = await thief.get(next)
  expect([again.status, again.text.includes('was used before')]).toEqual([400, true])
  expect([...thief.cookies(base).keys()]).toEqual([])
})

test('what was begun in another browser, is forged, or took ten minutes signs nobody in', async () => {
  const browser = newTraveller()
  const next = await upToReturn(browser)
  const flow = browser.cookies(base).get('enrolment-console-flow') ?? ''
  const withCookie = async (cookie: string | undefined, url = next) => {
    const other = newTraveller()
    if (cookie !== undefined) other.cookies(base).set('enrolment-console-flow', cookie)
    const { status, text } = await other.get(url)
    return [status, text.includes('was begun in another browser'), other.cookies(base).size]
  }
  const ended = [400, true, 0]
  const foreign = newTraveller()
  await upToReturn(foreign)
  expect(await withCookie(undefined)).toEqual(ended)
  expect(await withCookie('x')).toEqual(ended)
  expect(await withCookie(foreign.cookies(base).get('enrolment-console-flow'))).toEqual(ended)
  const [id, at, random, to] = flow.split('.')
  expect(await withCookie([id, Number(at) + 60_000, random, to].join('.'))).toEqual(ended)
  const elsewhere = Buffer.from('/partners').toString('base64url')
  expect(await withCookie([id, at, random, elsewhere].join('.'))).toEqual(ended)
  const stateless = new URL(next)
  stateless.searchParams.delete('state')
  expect(await withCookie(flow, stateless.href)).toEqual(ended)
  service.advance(10 * 60_000)
  expect(await withCookie(flow)).toEqual(ended)
})

test('who breaks it off at the provider reads so', async () => {
  const browser = newTraveller()
  const url = new URL(await upToReturn(browser))
  url.searchParams.delete('code')
  url.searchParams.set('error', 'access_denied')
  const { status, text } = await browser.get(url.href)
  expect([status, text.includes('did not sign you in, or you broke it off')]).toEqual([403, true])
})

test('half a minute between the clocks does not matter, more is told', async () => {
  const after = (seconds: number) => (claims: Record<string, unknown>) => ({
    ...claims,
    exp: Math.floor(service.now() / 1000) + seconds,
  })
  identity.changes = after(-15)
  expect((await signIn()).shown.status).toBe(200)
  identity.changes = after(-90)
  const { shown } = await signIn()
  expect([shown.status, shown.text.includes('The clock of Harbor ID')]).toEqual([502, true])
})

test('a provider that is away or broken is told, and a sign-in link still works', async () => {
  identity.broken = 500
  const { shown } = await signIn()
  expect([shown.status, shown.text.includes('Harbor ID does not answer')]).toEqual([503, true])
  expect(service.logged).toContainEqual({
    event: 'console_sign_in_failed',
    fields: expect.objectContaining({ reason: 'away', causecode: 'OAUTH_RESPONSE_IS_NOT_CONFORM' }),
  })

  const gone = await startIdentityProvider()
  await gone.close()
  await using other = await startTestService({ console: true, signIn: gone.settings })
  const answer = await newTraveller().get(`${consoleOf(other)}/sign-in/provider`)
  expect([answer.status, answer.text.includes('does not answer')]).toEqual([503, true])
  const { signIn: byLink } = await import('./operator-browser.ts')
  expect((await (await byLink(other, 'viewer')).get('/')).status).toBe(200)
})

test('signing out ends the session here, and leads to where the provider’s ends', async () => {
  const { browser, shown } = await signIn()
  const token = /name="token" value="([^"]+)"/.exec(shown.text)?.[1] ?? ''
  const left = await browser.post(`${base}/sign-out`, { token })
  const there = new URL(/^0; url=(.+)$/.exec(left.headers.get('refresh') ?? '')?.[1] ?? '')
  expect(there.origin + there.pathname).toBe(`${identity.issuer}/session/end`)
  expect(Object.fromEntries(there.searchParams)).toEqual({
    client_id: 'benefits-console',
    post_logout_redirect_uri: `${base}/signed-out`,
  })
  expect((await browser.get(`${base}/`)).status).toBe(401)
  expect((await browser.get(`${base}/signed-out`)).text).toContain('You are signed out')
})

test('a session of the provider’s people ends after 8 hours', async () => {
  const { browser } = await signIn()
  service.advance(8 * 3_600_000 - 60_000)
  expect((await browser.get(`${base}/`)).status).toBe(200)
  service.advance(60_000)
  expect((await browser.get(`${base}/`)).status).toBe(401)
})
