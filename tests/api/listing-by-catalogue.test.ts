// @prism

import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { readWholeCatalogue } from '../../service/src/catalogue/bring-files.ts'
import { listPublications, publishVersion } from '../../service/src/catalogue/published.ts'
import { refuseBreaks } from '../../service/src/cli/catalogue/catalogue-file.ts'
import type { Executor } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { patientForLocks } from '../hold-users.ts'
import { ada, adaAsks, demoCatalogueFile, startTestService } from '../rig.ts'
import { ageRule, catalogueOf } from './catalogue-of.ts'

const alpha = { name: 'alpha', sortorder: 30, displayname: 'Zeta' }
const beta = { name: 'beta', sortorder: 20, displayname: 'same' }
const gamma = { name: 'gamma', sortorder: 20, displayname: 'Same' }
const delta = { name: 'delta', sortorder: 20, displayname: 'able' }
const basic = { offer: 'basic', rank: 10, fixed: ['alpha'], selectable: ['gamma', 'beta'], slots: 2 }
const second = { offer: 'second', rank: 20, fixed: ['alpha', 'delta'] }
const asks = { userid: 'u1', ...adaAsks }

const service = forAllTests(() =>
  startTestService({ catalogue: catalogueOf([alpha, beta, gamma, delta], [basic, second]) }),
)

async function publish(...version: Parameters<typeof catalogueOf>) {
  await service.publish(catalogueOf(...version))
  // The service looks for a newer version when its last look is a second old.
  service.advance(1000)
}
async function prefilled(settings = {}) {
  const { client } = await service.newPartner(settings)
  await client.prefillUser({ userid: 'u1' })
  return client
}
async function namesFor(
  client: Awaited<ReturnType<typeof prefilled>>,
  more: { offername?: string; age?: number } = {},
) {
  return (await client.getBenefits({ ...asks, ...more })).map(({ name }) => name)
}

test('the order is sortorder, then displayname, then name, whatever the offers and the status', async () => {
  await publish([alpha, beta, gamma, delta], [basic, second])
  expect(await namesFor(await prefilled())).toEqual(['delta', 'beta', 'gamma', 'alpha'])
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'u1', ...ada, offername: 'basic', benefits: ['gamma'] })
  expect(await namesFor(client)).toEqual(['beta', 'gamma', 'alpha'])
})

test('an icon is served whatever the name of the benefit that shows it', async () => {
  const client = await prefilled()
  for (const { icon } of await client.getBenefits(asks)) {
    expect((await fetch(icon)).status).toBe(200)
  }
})

test('offers that are not available today, or do not admit the request, bring nothing to the list', async () => {
  const soon = { ...second, availability: { from: '2999-01-01' } }
  await publish([alpha, beta, gamma, delta], [basic, soon])
  const client = await prefilled()
  expect(await namesFor(client)).toEqual(['beta', 'gamma', 'alpha'])
  // Asked for by name, the offer is shown, because the catalogue has it.
  expect(await namesFor(client, { offername: 'second' })).toEqual(['delta', 'alpha'])
  const seniors = { ...second, rules: [ageRule('seniors', { min: 65 })] }
  await publish([alpha, beta, gamma, delta], [basic, seniors])
  expect(await namesFor(client)).not.toContain('delta')
  expect(await namesFor(client, { age: 65 })).toContain('delta')
})

test('what a new version leaves out is closed to newcomers and stays with its holders', async () => {
  await publish([alpha, beta, gamma, delta], [basic, second])
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'u1', ...ada, offername: 'basic', benefits: ['beta'] })
  const later = new Date(service.now() + 20 * 86_400_000).toISOString().slice(0, 10)
  const coming = { userid: 'u2', ...ada, offername: 'basic', benefits: ['gamma'], effectivedate: later }
  await client.createUser(coming)
  await client.declineBenefit({ userid: 'u2', name: 'gamma' })
  const { client: without } = await service.newPartner({ offers: ['basic'] })
  await publish([alpha, gamma, delta], [second])
  const held = await client.getBenefits(asks)
  expect(held.map(({ name, status }) => [name, status])).toEqual([
    ['beta', 'enrolled'],
    ['gamma', 'notenrolled'],
    ['alpha', 'enrolled'],
  ])
  expect(await namesFor(client, { offername: 'basic' })).toEqual(['beta', 'gamma', 'alpha'])
  // A benefit that the version left out is known to its holders alone, whatever their offer has.
  await publish([alpha, beta, delta], [second])
  expect(await client.enrolBenefit({ userid: 'u1', name: 'beta' })).toMatchObject({ state: 'enrolled' })
  // Who never had it, and who gave it up.
  for (const userid of ['u1', 'u2'])
    await expect(client.enrolBenefit({ userid, name: 'gamma' })).rejects.toMatchObject({
      status: 400,
      code: 'benefit_unknown',
    })
  await expect(without.createUser({ userid: 'u1', ...ada })).rejects.toMatchObject({
    status: 422,
    code: 'offer_not_available',
  })
  const newcomer = await prefilled()
  expect(await namesFor(newcomer)).toEqual(['delta', 'alpha'])
  await expect(newcomer.getBenefits({ ...asks, offername: 'basic' })).rejects.toMatchObject({
    status: 400,
    code: 'offername_unknown',
  })
  await expect(newcomer.createUser({ userid: 'u1', ...ada, offername: 'basic' })).rejects.toMatchObject({
    code: 'offername_unknown',
  })
})

test('cover in force that the offer does not have any more is listed and enrolled, and cannot be swapped', async () => {
  await publish([alpha, beta, gamma, delta], [basic, second])
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'u1', ...ada, offername: 'basic', benefits: ['beta', 'gamma'] })
  await publish([alpha, beta, gamma, delta], [{ ...basic, selectable: ['gamma', 'delta'] }, second])
  const listed = await client.getBenefits(asks)
  expect(listed.map(({ name, status, isselectedforswap }) => [name, status, isselectedforswap])).toEqual([
    ['delta', 'notenrolled', false],
    ['beta', 'enrolled', null],
    ['gamma', 'enrolled', false],
    ['alpha', 'enrolled', null],
  ])
  // By its name the offer shows what it has today.
  expect(await namesFor(client, { offername: 'basic' })).toEqual(['delta', 'gamma', 'alpha'])
})

test('a new version decides eligibility of what is not held at once', async () => {
  await publish([alpha, beta, gamma, delta], [basic, second])
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'u1', ...ada, offername: 'basic', benefits: ['beta'] })
  const young = [ageRule('young', { max: 30 })]
  await publish([alpha, { ...beta, rules: young }, { ...gamma, rules: young }, delta], [basic, second])
  expect(await namesFor(client)).toEqual(['beta', 'alpha'])
  await expect(client.enrolBenefit({ userid: 'u1', name: 'gamma' })).rejects.toMatchObject({
    status: 422,
    code: 'ineligible',
    errors: [{ field: 'name', code: 'young', message: 'Refused by young.' }],
  })
})

test('of two catalogues that are published at once, the second is checked against the first', async () => {
  const { database, now } = service
  const publishing = async (benefittype: string, beforeCommit = async () => {}) => {
    const parsed = await readWholeCatalogue(
      catalogueOf([{ ...alpha, name: 'new', benefittype }], [{ ...second, fixed: ['new'] }]),
      dirname(demoCatalogueFile),
    )
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
    const patient = patientForLocks(database)
    const slow: typeof patient = {
      ...patient,
      transaction: work =>
        patient.transaction(async tx => {
          await tx.query({ name: '', text: 'set local idle_in_transaction_session_timeout = 0', values: [] })
          const done = await work(tx)
          await beforeCommit()
          return done
        }),
    }
    const check = (tx: Executor) => refuseBreaks(parsed, tx)
    return publishVersion(slow, { document: parsed.document, files: [], at: now(), by: 'test', check })
  }
  let other: Promise<unknown> = Promise.resolve()
  const { version } = await publishing('discount', async () => {
    let hasEnded = false
    other = publishing('service')
    other
      .catch(() => undefined)
      .finally(() => {
        hasEnded = true
      })
    while (!hasEnded) {
      const waiting = await database.query(sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
      if (waiting.length > 0) return
    }
  })
  await expect(other).rejects.toThrow('was of type discount in an earlier version')
  expect((await listPublications(database))[0]?.version).toBe(version)
})
