import { describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { openRetained } from '../../service/src/membership/records/retained-rows.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { deedsOf } from './deeds.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
const support = forAllTests(() => signIn(service, 'support'))

function seenIn({ text }: { text: string }) {
  return { sure: 'yes', seen: /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? '' }
}

describe('a consent', () => {
  const wish = (fields: Record<string, string> = {}) => ({
    consent: 'identity 2026-01',
    channel: 'phone',
    language: 'es',
    evidence: 'recording 815 canary-evidence',
    agreedon: today(),
    ...fields,
  })
  const today = () => new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(service.now())
  const waiting = async (userid: string) => {
    const { serviceid } = await partner.client.createUser({
      ...ada,
      userid,
      offername: 'plus',
      benefits: ['identity'],
    })
    return { serviceid, path: `/users/${serviceid}/act/consent` }
  }
  const stateOf = async (userid: string) => {
    const user = await partner.client.getUser({ userid, include: ['timeline'] })
    if (user.status === 'erased') throw new Error('erased')
    return { ...user, identity: user.benefits.find(({ name }) => name === 'identity')?.state }
  }

  test('that was given by phone is put on record with its evidence, and the benefit begins as by the API', async () => {
    const userid = 'consents-1'
    const { serviceid, path } = await waiting(userid)
    expect((await stateOf(userid)).identity).toBe('actionrequired')
    expect((await support.get(path)).text).toContain('version 2026-01')
    const preview = await support.post(path, wish())
    expect(preview.text).toContain('<code>benefit_enrollment_successful</code>')
    expect(preview.text).toContain('2026-01 by phone')
    expect((await stateOf(userid)).identity).toBe('actionrequired')
    const done = await support.post(path, { ...wish(), ...seenIn(preview), reason: 'call 20' })
    expect(done.path).toBe(`/users/${serviceid}`)
    expect(done.text).toContain('by phone')
    expect(done.text).not.toContain('recording 815')
    const after = await stateOf(userid)
    expect(after.identity).toBe('enrolled')
    expect(after.consents).toEqual([
      expect.objectContaining({ name: 'identity', version: '2026-01', locale: 'es' }),
    ])
    expect(after.timeline).toContainEqual(
      expect.objectContaining({ what: 'consent identity', to: '2026-01 by phone', who: 'operator' }),
    )
    const [row] = await service.database.query<Record<string, unknown>>(sql`
      select channel, recorded_by, sealed, text_hash from consents
      join sealed_records using (partner_id, service_id, name, version)
      where service_id = ${serviceid} and kind = 'evidence'`)
    expect(row).toMatchObject({ channel: 'phone', recorded_by: support.operatorId })
    expect(Buffer.from(row?.['sealed'] as Buffer).toString('latin1')).not.toContain('recording')
    expect(row?.['text_hash']).not.toBeNull()
    expect(await deedsOf(service, support)).toContainEqual({
      action: 'consent user',
      result: 'done',
      serviceId: serviceid,
      because: true,
    })

    const shown = await support.post(`/users/${serviceid}/person`, { reason: 'who agreed to what' })
    expect(shown.text).toContain('recording 815')
    const file = await support.post(`/users/${serviceid}/export`, { reason: 'request of access' })
    expect(JSON.parse(file.text).consents).toEqual([
      expect.objectContaining({ name: 'identity', channel: 'phone', evidence: wish().evidence }),
    ])
    expect(JSON.stringify(service.logged)).not.toContain('canary-evidence')
  })

  test('that is on record stays as it is when the partner sends the same again', async () => {
    const userid = 'consents-2'
    const { serviceid, path } = await waiting(userid)
    const preview = await support.post(path, wish({ channel: 'paper', agreedon: '2026-01-05' }))
    expect(preview.text).toContain(
      'On record: agreed on January 5, 2026, in Spanish. Evidence: recording 815 canary-evidence',
    )
    await support.post(path, {
      ...wish({ channel: 'paper', agreedon: '2026-01-05' }),
      ...seenIn(preview),
      reason: 'form',
    })
    await partner.client.enrolBenefit({
      userid,
      name: 'identity',
      consents: [{ name: 'identity', version: '2026-01' }],
    })
    const [row] = await service.database.query<Record<string, unknown>>(sql`
      select channel, exists (select from sealed_records where service_id = ${serviceid} and kind = 'evidence') as proven
      from consents where service_id = ${serviceid}`)
    expect(row).toEqual({ channel: 'paper', proven: true })
    expect((await stateOf(userid)).consents[0]?.agreedattimestamp).toBe('2026-01-05T05:00:00.000Z')
  })

  test('that the partner sends is kept as one of the partner', async () => {
    const userid = 'consents-4'
    const { serviceid } = await partner.client.createUser({
      ...ada,
      userid,
      offername: 'plus',
      benefits: ['identity'],
      consents: [{ name: 'identity', version: '2026-01' }],
    })
    const [row] = await service.database.query<Record<string, unknown>>(sql`
      select channel, recorded_by from consents where service_id = ${serviceid}`)
    expect(row).toEqual({ channel: 'partner', recorded_by: null })
  })
})

test('the evidence of a consent outlives an erasure where the partner is set so', async () => {
  const keeping = await service.newPartner({ name: 'Keeping', retain: '7y' })
  const userid = 'consents-5'
  const { serviceid } = await keeping.client.createUser({
    ...ada,
    userid,
    offername: 'plus',
    benefits: ['identity'],
  })
  const wish = {
    consent: 'identity 2026-01',
    channel: 'email',
    language: 'en',
    agreedon: '2026-01-05',
    evidence: 'message 17 of the archive',
  }
  const path = `/users/${serviceid}/act/consent`
  const preview = await support.post(path, wish)
  await support.post(path, { ...wish, ...seenIn(preview), reason: 'letter' })
  await keeping.client.eraseUser({ userid })
  const [row] = await findPartners(service.database, [keeping.partnerId])
  if (!row) throw new Error('the partner is missing')
  const kept = await openRetained(service.database, partnerOf(row, service.keyring), serviceid)
  expect(JSON.stringify(kept)).toContain('"channel":"email","evidence":"message 17 of the archive"')
  const left = await service.database.query(sql`select from consents where service_id = ${serviceid}`)
  expect(left).toEqual([])
})
