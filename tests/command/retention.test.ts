// @whole

import { expect, test, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { clockOn } from '../../service/src/partners/partner.ts'
import { deleteLapsed } from '../../service/src/schedule/housekeeping.ts'
import { forAllTests } from '../for-all-tests.ts'
import { everydayOr } from '../long.ts'
import { newVisitor, recordsAgreed } from '../page/visitor.ts'
import { ada, demoCatalogue, startTestService } from '../rig.ts'
import { codeOf } from './place.ts'
import { runJson, runRefused } from './process.ts'
import { commandsBeside, type SandboxPartner } from './sandbox.ts'

const service = forAllTests(() => startTestService({ clock: 'machine' }))
const sandbox = forAllTests(() => commandsBeside(service, demoCatalogue))

type Kept = { kind: string; keptuntil: string; records: { userid: string; content?: object }[] }
type Certificate = { serviceid: string; erasedat: string; retained: Omit<Kept, 'records'>[] }

function erase(partner: SandboxPartner, userid: string) {
  return runJson<Certificate>(
    ['user', 'erase', partner.partnerid, userid, '--alone', '--reason', 'by letter'],
    sandbox.place,
  )
}
function retained(partner: SandboxPartner, name: string) {
  return runJson<{ serviceid: string; retained: Kept[] }>(
    ['user', 'retained', partner.partnerid, name, '--reason', 'claim 77 of the widow'],
    sandbox.place,
  )
}

/** Enrols a person on the page, who agrees to a text there and gets a confirmation; returns the person's browser. */
async function enrolOnPage(partner: SandboxPartner, userid: string) {
  const { client } = partner
  await client.prefillUser({ userid, ...ada, firstname: 'Adacanary' })
  const { linkurl } = await client.createLinkToken({ userid, offername: 'plus' })
  const visitor = newVisitor(sandbox.address)
  await visitor.post(linkurl ?? '')
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit: ['critical', 'identity'] })
  const done = await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
  expect(done.view).toBe('DONE')
  return visitor
}

async function stored(): Promise<string> {
  const rows = await sandbox.database.query<{ row: string }>(
    sql`select r::text as row from retained_records r`,
  )
  return rows.map(({ row }) => row).join('\n')
}

test('what the law makes the partner keep outlives the erasure sealed, is read with a reason on record, and ends in time', async () => {
  const partner = await sandbox.newPartner('--retain', '7y')
  await enrolOnPage(partner, 'u-1')
  const certificate = await erase(partner, 'u-1')
  const until = new Date(certificate.erasedat)
  until.setUTCFullYear(until.getUTCFullYear() + 7)
  expect(certificate.retained).toEqual(
    ['confirmations', 'consents', 'coverage'].map(kind => ({ kind, keptuntil: until.toISOString() })),
  )
  const rows = await stored()
  for (const form of ['Adacanary', Buffer.from('Adacanary').toString('hex'), 'u-1', 'critical'])
    expect(rows).not.toContain(form)
  const [{ keys } = { keys: -1 }] = await sandbox.database.query<{ keys: number }>(sql`
    select count(*) as keys from data_keys where service_id = ${certificate.serviceid}`)
  expect(keys).toBe(0)

  for (const name of ['u-1', certificate.serviceid]) {
    const kept = await retained(partner, name)
    expect(kept.serviceid).toBe(certificate.serviceid)
    const of = (kind: string) => kept.retained.find(one => one.kind === kind)?.records ?? []
    expect(JSON.stringify(of('confirmations'))).toContain('Adacanary')
    expect(of('consents')).toContainEqual(
      expect.objectContaining({ userid: 'u-1', name: 'identity', version: '2026-01' }),
    )
    expect(of('coverage')).toContainEqual(
      expect.objectContaining({
        userid: 'u-1',
        benefit: 'critical',
        state: 'ended',
        endsat: certificate.erasedat,
      }),
    )
  }
  const looks = await sandbox.database.query<{ result: string; sealed: boolean }>(sql`
    select result, sealed_reason is not null as sealed from audit_log
    where partner_id = ${partner.partnerid} and service_id = ${certificate.serviceid} and action = 'user retained'`)
  expect(looks).toEqual([
    { result: 'done', sealed: true },
    { result: 'done', sealed: true },
  ])
  expect(await runRefused(['user', 'retained', partner.partnerid, 'u-1'], sandbox.place)).toContain(
    '--reason',
  )

  const advance = (days: number) => {
    const to = new Date(until.getTime() + days * 86_400_000).toISOString()
    return runJson(['clock', 'advance', partner.partnerid, to], sandbox.place)
  }
  await advance(-1)
  expect((await retained(partner, 'u-1')).retained.length).toBe(3)
  await advance(1)
  // As the service does every hour.
  const [{ offset } = { offset: 0 }] = await sandbox.database.query<{ offset: number }>(sql`
    select clock_offset_ms as offset from partners where partner_id = ${partner.partnerid}`)
  const tidied = { partnerId: partner.partnerid, clockOffsetMs: offset }
  expect(await deleteLapsed(sandbox.database, [tidied], clockOn(Date.now))).toBe(true)
  expect((await stored()).length).toBe(0)
  expect((await retained(partner, 'u-1')).retained).toEqual([])
})

test('without the setting nothing outlives an erasure, and the setting is shown, changed and taken back', async () => {
  const partner = await sandbox.newPartner()
  const { client } = partner
  await client.createUser({ ...ada, userid: 'u-1', offername: 'plus', effectivedate: '' })
  expect((await erase(partner, 'u-1')).retained).toEqual([])
  expect((await retained(partner, 'u-1')).retained).toEqual([])
  const setTo = (...words: string[]) =>
    runJson(['partner', 'update', partner.partnerid, ...words], sandbox.place)
  expect(await setTo('--retain', '3y')).toMatchObject({ retain: '3y' })
  expect(await setTo('--name', 'Other')).toMatchObject({ retain: '3y' })
  expect(await setTo('--retain', 'none')).toMatchObject({ retain: 'none' })
  expect(
    await runRefused(['partner', 'update', partner.partnerid, '--retain', 'ever'], sandbox.place),
  ).toContain('7y')
})

test('an export shows everything that is kept of a person, with the reason on record; of the erased there is none', async () => {
  const partner = await sandbox.newPartner()
  const visitor = await enrolOnPage(partner, 'u-1')
  await visitor.post('/register/language', { language: 'es', view: 'ALREADY_ENROLLED' })
  const wrong = { ...ada, userid: 'u-1', zipcode: '1', offername: 'plus', effectivedate: '' }
  expect(await codeOf(partner.client.createUser(wrong))).toBe('bad_request')
  await vi.waitFor(async () => {
    const noted = sql`select from refused_creates where partner_id = ${partner.partnerid}`
    expect((await sandbox.database.query(noted)).length).toBe(1)
  }, 10_000)
  const words = ['user', 'export', partner.partnerid, 'u-1', '--reason', 'the person asks']
  const exported = await runJson<{ user: { serviceid: string } } & Record<string, unknown>>(
    words,
    sandbox.place,
  )
  expect(exported).toMatchObject({
    user: { userid: 'u-1', status: 'active' },
    documents: { profile: { firstname: 'Adacanary', dob: ada.dob } },
    visits: [
      {
        purpose: 'registration',
        outcome: 'enrolled',
        reference: expect.stringMatching(/^BE-/),
        redirecturl: null,
        birthdatetries: 0,
      },
    ],
    pagelanguage: 'es',
    refusedcreates: [{ code: 'bad_request', reasons: [{ field: 'zipcode' }] }],
  })
  expect(JSON.stringify(exported['confirmations'])).toContain('Adacanary')
  expect(JSON.stringify(exported['events'])).toContain('enrollment_successful')
  expect(JSON.stringify(exported['timeline'])).toContain('identity')
  const [look] = await sandbox.database.query<{ actor_kind: string; sealed: boolean }>(sql`
    select actor_kind, sealed_reason is not null as sealed from audit_log
    where service_id = ${exported.user.serviceid} and action = 'user export'`)
  expect(look).toEqual({ actor_kind: 'command', sealed: true })
  await erase(partner, 'u-1')
  expect(await runRefused(words, sandbox.place)).toContain('no user of that userid')
})

const gracecanary = {
  'person1.name': 'Gracecanary',
  'person1.relationship': 'spouse',
  'person1.share': '100',
  'person1.kind': 'primary',
}

/** A member of a partner that retains records, and what names a beneficiary on the page. */
async function naming() {
  const partner = await sandbox.newPartner('--retain', '7y')
  const { client } = partner
  await client.createUser({ ...ada, userid: 'u-1', offername: 'premier', effectivedate: '' })
  const { linkurl } = await client.createLinkToken({ userid: 'u-1', purpose: 'benefits' })
  const visitor = newVisitor(sandbox.address)
  await visitor.post(linkurl ?? '')
  return { partner, name: () => visitor.post('/register/beneficiaries/life', { rows: '1', ...gracecanary }) }
}

test('whom a person names is exported, and outlives the erasure where a partner is set so', async () => {
  const { partner, name } = await naming()
  await name()
  const grace = { kind: 'primary', name: 'Gracecanary', relationship: 'spouse', share: 100 }
  const told = { benefit: 'life', version: 1, who: 'user', beneficiaries: [grace] }
  const exported = await runJson<{ beneficiaries: unknown }>(
    ['user', 'export', partner.partnerid, 'u-1', '--reason', 'the person asks'],
    sandbox.place,
  )
  expect(exported.beneficiaries).toMatchObject([told])
  const certificate = await erase(partner, 'u-1')
  expect(certificate.retained.map(({ kind }) => kind)).toContain('beneficiaries')
  const kept = await retained(partner, 'u-1')
  expect(kept.retained.find(({ kind }) => kind === 'beneficiaries')?.records).toMatchObject([
    { userid: 'u-1', ...told },
  ])
})

test('every version of a designation outlives the erasure, however many there are', async () => {
  const { partner, name } = await naming()
  const versions = Array.from({ length: everydayOr(2, 205) }, (_, index) => index + 1)
  for (const _ of versions) await name()
  await erase(partner, 'u-1')
  const kept = await retained(partner, 'u-1')
  expect(kept.retained.find(({ kind }) => kind === 'beneficiaries')?.records).toMatchObject(
    versions.map(version => ({ version })),
  )
})
