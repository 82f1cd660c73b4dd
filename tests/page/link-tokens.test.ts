import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
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
      view: 'START',
    })
  })
})

test('in production the session’s cookie is for our own host over https alone', async () => {
  await using live: TestService = await startTestService({ sandbox: false })
  const owner: TestPartner = await live.newPartner()
  const { linkurl } = await owner.client.createLinkToken({ userid: 'u1' })
  const answer = await newVisitor(live.baseUrl).send(linkurl ?? '', { method: 'POST' })
  const [cookie = ''] = answer.headers.getSetCookie().filter(one => one.startsWith('__Host-enrolment='))
  expect(cookie).toMatch(/^__Host-enrolment=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
})
