import { describe, expect, test } from 'vitest'
import { openPublished } from '../../service/src/catalogue/published.ts'
import { sql } from '../../service/src/db/sql.ts'
import { openTerms } from '../../service/src/membership/reading/open-terms.ts'
import { openReader } from '../../service/src/membership/reading/reader.ts'
import { openUserMemory } from '../../service/src/membership/reading/user-memory.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { clockOn } from '../../service/src/partners/partner.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import { mintLinkToken } from '../../service/src/registration/links/link-tokens.ts'
import { forAllTests } from '../for-all-tests.ts'
import { holdUsers, testInTime, waitForLock } from '../hold-users.ts'
import { ada, startTestService, type TestPartner, type TestService } from '../rig.ts'
import { newVisitor } from './visitor.ts'

const minute = 60_000
const hour = 60 * minute
const origins = ['http://localhost:5001', 'http://localhost:5002']
const service = forAllTests(startTestService)
const partner = forAllTests(() => service.newPartner({ origins, locale: 'es' }))

/** Exchanges a token of an embed for a session, as the frame does. */
async function exchange(linktoken: string, origin: string): Promise<number> {
  const answer = await fetch(`${service.baseUrl}/embed/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ linktoken, origin }),
  })
  await answer.arrayBuffer()
  return answer.status
}

describe('a link token', () => {
  test.each([
    ['embed', 15 * minute],
    ['hosted', 15 * minute],
    ['sms', 24 * hour],
    ['email', 7 * 24 * hour],
  ] as const)(
    'for delivery %s lives as long as promised, and opens nothing afterwards',
    async (delivery, lifetime) => {
      const userid = `lives-${delivery}`
      const open = ({ linktoken, linkurl }: { linktoken: string; linkurl: string | null }) =>
        linkurl === null
          ? exchange(linktoken, origins[0] ?? '')
          : newVisitor(service.baseUrl)
              .post(linkurl)
              .then(({ status }) => status)
      const mint = async () => {
        const before = service.now()
        const made = await partner.client.createLinkToken({ userid, delivery })
        const livesFrom = Date.parse(made.expiresat) - lifetime
        expect(livesFrom).toBeGreaterThanOrEqual(before)
        expect(livesFrom).toBeLessThanOrEqual(service.now())
        expect(made.linkurl === null).toBe(delivery === 'embed')
        return made
      }
      const early = await mint()
      service.advance(Date.parse(early.expiresat) - service.now() - minute)
      expect(await open(early)).toBe(200)
      const late = await mint()
      service.advance(Date.parse(late.expiresat) - service.now())
      expect(await open(late)).not.toBe(200)
    },
  )

  test('is for the registration on the hosted page, in the partner’s language, unless it says otherwise', async () => {
    const { linkurl, expiresat } = await partner.client.createLinkToken({ userid: 'plain' })
    expect(Date.parse(expiresat) - service.now()).toBeLessThanOrEqual(15 * minute)
    const visitor = newVisitor(service.baseUrl)
    expect((await visitor.post(linkurl ?? '')).html).toContain('<html lang="es"')
    const english = await partner.client.createLinkToken({ userid: 'plain', locale: 'en' })
    expect((await newVisitor(service.baseUrl).post(english.linkurl ?? '')).html).toContain('<html lang="en"')
  })

  test('may be embedded by the origins that it names, and by all of the partner’s when it names none', async () => {
    const mint = async (wanted?: string[]) =>
      (
        await partner.client.createLinkToken({
          userid: 'embedded',
          delivery: 'embed',
          ...(wanted ? { origins: wanted } : {}),
        })
      ).linktoken
    const [one = '', other = ''] = origins
    expect(await exchange(await mint([one]), other)).toBe(403)
    expect(await exchange(await mint([one]), one)).toBe(200)
    for (const origin of origins) expect(await exchange(await mint(), origin)).toBe(200)
    for (const origin of [`${one}/`, 'http://localhost:5003', 'HTTP://LOCALHOST:5001'])
      await expect(mint([origin])).rejects.toMatchObject({ status: 400, errors: [{ field: 'origins[0]' }] })
  })

  test('by text message asks for no birth date where none is known', async () => {
    const { dob: _, ...withoutBirthDate } = ada
    await partner.client.prefillUser({ userid: 'undated', ...withoutBirthDate })
    const { linkurl } = await partner.client.createLinkToken({ userid: 'undated', delivery: 'sms' })
    expect(await newVisitor(service.baseUrl).post(linkurl ?? '')).toMatchObject({
      status: 200,
      view: 'DETAILS_REVIEW',
    })
  })
})

/** Nothing is due for the users of these tests. */
const notAsked = { submit: () => Promise.reject(new Error('nothing is due')) }

/** Mints a link for a user who changes just after the service has read it. */
async function mintWhile(
  change: (userid: string) => Promise<unknown>,
  body: Parameters<typeof mintLinkToken>[2],
) {
  const { database, keyring, now: real } = service
  const [row] = await findPartners(database, [partner.partnerId])
  if (!row) throw new Error('the partner is missing')
  const { terms, prepareTerms } = openTerms({ published: openPublished({ database, real }), real })
  const context = { database, clock: clockOn(real), sandbox: true, terms, prepareTerms }
  const reader = openReader({ ...context, memory: openUserMemory(real) })
  const read: typeof reader.read = async (of, userid) => {
    const reading = await reader.read(of, userid)
    await change(userid)
    return reading
  }
  const baseUrl = () => service.baseUrl
  return mintLinkToken(
    { database, reader: { ...reader, read }, executor: notAsked, keyring, mode: 'sandbox', real, baseUrl },
    partnerOf(row, keyring),
    body,
  )
}

/** How many links there are for a userid, and how many users. */
async function countOf(userid: string): Promise<{ links: number; users: number } | undefined> {
  const [counted] = await service.database.query<{ links: number; users: number }>(sql`
    select (select count(*)::integer from page_sessions where partner_id = ${partner.partnerId} and userid = ${userid})
      as links,
      (select count(*)::integer from users where partner_id = ${partner.partnerId} and userid = ${userid}) as users`)
  return counted
}

test('a link that is minted while its user is erased or cancelled is not made', async () => {
  const { client } = partner
  await client.prefillUser({ userid: 'erased-meanwhile', ...ada })
  const erase = (userid: string) => client.eraseUser({ userid })
  expect(await mintWhile(erase, { userid: 'erased-meanwhile' })).toMatchObject({ refused: 'user_not_found' })
  expect(await countOf('erased-meanwhile')).toEqual({ links: 0, users: 0 })
  await client.createUser({ userid: 'left-meanwhile', offername: 'starter', ...ada })
  const cancel = (userid: string) => client.cancelUser({ userid, effective: 'immediate' })
  expect(await mintWhile(cancel, { userid: 'left-meanwhile', purpose: 'benefits' })).toMatchObject({
    refused: 'user_cancelled',
  })
  expect(await countOf('left-meanwhile')).toEqual({ links: 0, users: 1 })
})

testInTime('a link that is pressed while its user is erased starts nobody anew', async () => {
  const userid = 'pressed-meanwhile'
  await partner.client.prefillUser({ userid, ...ada })
  const { linkurl } = await partner.client.createLinkToken({ userid })
  // A link of the millisecond of the erasure would be one of the next user of this name.
  service.advance(1)
  const held = await holdUsers(service, partner)
  const erasing = partner.client.eraseUser({ userid })
  await waitForLock(service)
  const pressing = newVisitor(service.baseUrl).post(linkurl ?? '')
  const spent = () =>
    service.database.query(sql`
      select from page_sessions where partner_id = ${partner.partnerId} and userid = ${userid} and spent_at is not null`)
  await expect.poll(spent).toHaveLength(1)
  await held.release()
  const erased = await erasing
  expect(await pressing).toMatchObject({ view: 'LINK_ENDED' })
  expect(await partner.client.getUser({ userid })).toEqual(erased)
  expect(await countOf(userid)).toEqual({ links: 0, users: 0 })
})

test('in production the session’s cookie is for our own host over https alone', async () => {
  await using live: TestService = await startTestService({ sandbox: false })
  const owner: TestPartner = await live.newPartner()
  const { linkurl } = await owner.client.createLinkToken({ userid: 'u1' })
  const answer = await newVisitor(live.baseUrl).send(linkurl ?? '', { method: 'POST' })
  const [cookie = ''] = answer.headers.getSetCookie().filter(one => one.startsWith('__Host-enrolment='))
  expect(cookie).toMatch(/^__Host-enrolment=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
})

test('a link that fails for a moment is tried again at its own address, and still opens', async () => {
  const { linkurl } = await partner.client.createLinkToken({ userid: 'waits' })
  const visitor = newVisitor(service.baseUrl)
  const away = async (act: () => Promise<{ html: string }>) => {
    await service.database.script('alter table page_sessions rename to page_sessions_elsewhere')
    const { html } = await act()
    await service.database.script('alter table page_sessions_elsewhere rename to page_sessions')
    expect(html).toContain('data-view="PROBLEM"')
    return /<a class="primary" href="([^"]+)"/.exec(html)?.[1] ?? ''
  }
  const again = await away(() => visitor.get(linkurl ?? ''))
  expect((await visitor.get(again)).view).toBe('OPEN')
  expect((await visitor.post(await away(() => visitor.post(again)))).view).toBe('DETAILS_REVIEW')
  expect(await away(() => visitor.get('/register/details'))).toBe('/register')
})
