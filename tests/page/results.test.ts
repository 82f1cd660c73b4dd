import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { demoCatalogue } from '../rig.ts'
import { ana, startRig } from './rig.ts'
import { newVisitor, recordsAgreed, type Shown, type Visitor } from './visitor.ts'

// What a partner learns of a session afterwards, and what is kept of an agreement.

// The middle of a month, because changes are locked on the last day before a boundary.
const rig = forAllTests(() => startRig({ startAt: Date.UTC(2027, 2, 10, 15) }))

/** Opens a link of the rig's person, and returns the session's id, too. */
async function open(purpose: 'registration' | 'benefits' | 'swap' | 'offerchange') {
  const userid = rig.userid()
  const { linkurl, sessionid } = await rig.partner.client.createLinkToken({ userid, purpose })
  const visitor = newVisitor(rig.service)
  await visitor.post(linkurl ?? '')
  return { visitor, sessionid }
}
async function member(has: { offername: string; benefits?: string[] }): Promise<void> {
  const userid = await rig.newPerson('unknown')
  await rig.partner.client.createUser({ userid, ...ana, ...has })
}
async function enrol(visitor: Visitor): Promise<Shown> {
  await visitor.post('/register/plan', { offername: 'plus' })
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit: ['identity'] })
  return visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
}

type Row = {
  readonly outcome: string
  readonly purpose: 'registration' | 'benefits' | 'swap' | 'offerchange'
  readonly given: () => Promise<unknown>
  readonly act: (visitor: Visitor) => Promise<Shown>
}
const rows: readonly Row[] = [
  { outcome: 'enrolled', purpose: 'registration', given: () => rig.newPerson(), act: enrol },
  {
    outcome: 'swapped',
    purpose: 'swap',
    given: () => member({ offername: 'starter', benefits: ['telehealth', 'dental'] }),
    async act(visitor) {
      await visitor.get('/register/swap')
      await visitor.post('/register/swap', { out: 'dental', in: 'vision' })
      return visitor.post('/register/swap/confirm')
    },
  },
  {
    outcome: 'changed',
    purpose: 'offerchange',
    given: () => member({ offername: 'starter', benefits: ['dental'] }),
    async act(visitor) {
      await visitor.get('/register/offer')
      await visitor.post('/register/offer', { offername: 'plus' })
      return visitor.post('/register/offer/confirm')
    },
  },
  {
    outcome: 'cancelled',
    purpose: 'benefits',
    given: () => member({ offername: 'starter' }),
    async act(visitor) {
      await visitor.get('/register/cancel')
      return visitor.post('/register/cancel', { effective: 'endofperiod' })
    },
  },
  {
    outcome: 'undone',
    purpose: 'benefits',
    async given() {
      await member({ offername: 'starter' })
      await rig.partner.client.cancelUser({ userid: rig.userid() })
    },
    async act(visitor) {
      await visitor.get('/register/cancel')
      return visitor.post('/register/cancel/undo')
    },
  },
]

describe('the result of a session', () => {
  test.each(rows)('is $outcome, with the reference that the person saw and the instant', async row => {
    await row.given()
    const { visitor, sessionid } = await open(row.purpose)
    const ask = () => rig.partner.client.exchangeResult({ sessionid })
    expect(await ask()).toMatchObject({ outcome: 'exited', reference: null, completedat: null })
    const from = rig.running.now()
    const done = await row.act(visitor)
    expect(done.view).toBe('DONE')
    const [reference = ''] = /BE-\w{4}-\w{4}/.exec(done.html) ?? []
    const result = await ask()
    expect(result).toEqual({
      sessionid,
      userid: rig.userid(),
      outcome: row.outcome,
      reference,
      completedat: expect.any(String),
    })
    const completedAt = Date.parse(result.completedat ?? '')
    expect(completedAt).toBeGreaterThanOrEqual(from)
    expect(completedAt).toBeLessThanOrEqual(rig.running.now())
  })
})

test('two changes of a kind in one session have references, copies and results of their own', async () => {
  await member({ offername: 'starter', benefits: ['telehealth', 'dental'] })
  const { visitor, sessionid } = await open('swap')
  async function swap(out: string, into: string) {
    await visitor.get('/register/swap')
    await visitor.post('/register/swap', { out, in: into })
    const done = await visitor.post('/register/swap/confirm')
    const [reference = ''] = /BE-\w{4}-\w{4}/.exec(done.html) ?? []
    return { reference, result: await rig.partner.client.exchangeResult({ sessionid }) }
  }
  const first = await swap('dental', 'vision')
  await rig.running.advance(1000)
  const second = await swap('dental', 'legal')
  expect(second.reference).not.toBe(first.reference)
  expect(first.result).toMatchObject({ outcome: 'swapped', reference: first.reference })
  expect(second.result).toMatchObject({ outcome: 'swapped', reference: second.reference })
  expect(second.result.completedat).not.toBe(first.result.completedat)
  const again = await visitor.post('/register/swap/confirm', { 'replace.dental': 'legal' })
  expect(again.html).toContain(second.reference)
  const copies = [first, second].map(async ({ reference }) => {
    const copy = await visitor.send(`/register/copy/${reference}`)
    return copy.text()
  })
  const [older, newer] = await Promise.all(copies)
  expect(older).toContain(first.reference)
  expect(newer).toContain(second.reference)
  const references = /BE-\w{4}-\w{4}/g
  const { html } = await visitor.get('/register/overview')
  expect(new Set(html.match(references))).toEqual(new Set([first.reference, second.reference]))
})

test('of a consent its version is kept, and the hash of the text in the language in which the person read it', async () => {
  await rig.newPerson()
  const { visitor } = await open('registration')
  expect((await enrol(visitor)).view).toBe('DONE')
  const catalogue = parse(demoCatalogue) as {
    benefits: { name: string; consent?: { text: { en: string } } }[]
  }
  const text = catalogue.benefits.find(({ name }) => name === 'identity')?.consent?.text.en ?? ''
  const rowsOf = await rig.running.database.query<{ version: string; locale: string; text_hash: Buffer }>(sql`
    select version, locale, text_hash from consents
    where partner_id = ${rig.partner.partnerId} and name = 'identity' order by agreed_at desc limit 1`)
  expect(rowsOf).toEqual([
    { version: '2026-01', locale: 'en', text_hash: createHash('sha256').update(text).digest() },
  ])
})
