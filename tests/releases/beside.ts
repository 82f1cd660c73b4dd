import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { urlOf } from '../command/database-url.ts'
import { newDirectory, runJson } from '../command/process.ts'
import { signIn } from '../console/operator-browser.ts'
import { newVisitor, recordsAgreed } from '../page/visitor.ts'
import { ada, type TestPartner, type TestService } from '../rig.ts'

/** A person who enrols on the page in the offer with life cover, and names who gets the money. */
export async function enrolWithBeneficiary(
  { baseUrl }: TestService,
  { client }: Pick<TestPartner, 'client'>,
  userid: string,
): Promise<void> {
  await client.prefillUser({ userid, ...ada })
  const { linkurl } = await client.createLinkToken({ userid, offername: 'premier' })
  const visitor = newVisitor(baseUrl)
  await visitor.post(linkurl ?? '')
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', {})
  await visitor.get('/register/beneficiaries/life')
  await visitor.post('/register/beneficiaries/life', {
    rows: '1',
    'person1.name': 'Gracecanary King',
    'person1.share': '100',
    'person1.relationship': 'spouse',
    'person1.kind': 'primary',
  })
  await visitor.get('/register/check')
  const done = await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.life': '2026-01' })
  expect([userid, done.view]).toEqual([userid, 'DONE'])
}

/** Takes in a member of before, whose months until then stay uncharged. */
export async function moveIn(
  service: TestService,
  { partnerId }: TestPartner,
  userid: string,
): Promise<void> {
  const { path, remove } = await newDirectory()
  const file = join(path, 'members.ndjson')
  await writeFile(
    file,
    `${JSON.stringify({ userid, ...ada, offername: 'plus', offersince: '2025-11-15' })}\n`,
  )
  const place = { env: { DATABASE_URL: urlOf(service.address), ENROLMENT_ROOT_KEY: service.rootKey } }
  const { taken } = await runJson<{ taken: number }>(
    ['import', partnerId, file, '--reason', 'moves in'],
    place,
  )
  expect([userid, taken]).toEqual([userid, 1])
  await remove()
}

/** Asks a second person to correct a user's telehealth; returns the path of the request. */
export async function askToCorrect(
  service: TestService,
  serviceId: string,
  act: 'void' | 'move',
  days: Readonly<Record<string, string>> = {},
): Promise<string> {
  const support = await signIn(service, 'support')
  const [row] = await service.database.query<{ enrolment_id: string }>(sql`
    select enrolment_id from enrolments where service_id = ${serviceId} and benefit = 'telehealth'`)
  const form = { enrolment: row?.enrolment_id ?? '', ...days }
  const preview = await support.post(`/users/${serviceId}/act/${act}`, form)
  const seen = /name="seen" value="([^"]+)"/.exec(preview.text)?.[1] ?? ''
  const sent = { ...form, sure: 'yes', seen, reason: 'ticket 4711' }
  const { path } = await support.post(`/users/${serviceId}/act/${act}`, sent)
  expect(path).toMatch(/^\/requests\//)
  return path
}

/** The second person confirms it. */
export async function confirm(service: TestService, request: string): Promise<void> {
  const other = await signIn(service, 'support')
  const { path } = await other.post(`${request}/confirm`, { reason: 'read the ticket' })
  expect(path).toMatch(/^\/users\//)
}
