import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { type Operation, type OperationId, operations } from '../../contract/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { fileOf, lifeCatalogue } from './catalogue.ts'
import { lifeOperations, prepare, requests } from './requests.ts'
import { lives, newStagePartner, type StagePartner } from './stage.ts'

// Every change of a user is on record with the credential and the request that caused it.

const free = { cost: { cents: 0, per: 'month' as const } }
const tiers = [
  { tier: 'me', who: [], ...free },
  { tier: 'mespouse', who: ['spouse' as const], ...free },
]
const benefits = lifeCatalogue.benefits.map(one => {
  if (one.name === 'home') return { ...one, beneficiaries: 'optional' as const }
  return one.name === 'art' ? { ...one, covers: { spouse: {} }, tiers } : one
})
const catalogue = fileOf({ ...lifeCatalogue, benefits })
const service = forAllTests(() => startTestService({ ...lives, catalogue }))

const spouse = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' } as const
/** Creates a user with a spouse whom a benefit covers. */
function makeFamily(partner: StagePartner, userid: string) {
  return partner.create(userid, {
    benefits: ['art'],
    dependants: [{ ...spouse, benefits: [{ name: 'art' }] }],
  })
}
function coverAlone(client: Client, userid: string) {
  return client.changeCover({ userid, name: 'art', dependants: [] })
}

type Recipe = {
  readonly prepare: (partner: StagePartner, userid: string) => Promise<unknown>
  readonly ask: (client: Client, userid: string) => Promise<unknown>
}
const recipes: Partial<Record<OperationId, Recipe>> = {
  ...Object.fromEntries(
    lifeOperations.map(id => [
      id,
      {
        prepare: (partner: StagePartner, userid: string) => prepare(id, partner, userid),
        ask: requests[id].good,
      },
    ]),
  ),
  prefillUser: {
    prepare: async () => {},
    ask: (client, userid) => client.prefillUser({ userid, firstname: 'Ada' }),
  },
  setDependants: {
    prepare: (partner, userid) => partner.create(userid),
    ask: (client, userid) => client.setDependants({ userid, dependants: [spouse] }),
  },
  changeCover: { prepare: makeFamily, ask: coverAlone },
  undoCover: {
    async prepare(partner, userid) {
      await makeFamily(partner, userid)
      await coverAlone(partner.client, userid)
    },
    ask: (client, userid) => client.undoCover({ userid, name: 'art' }),
  },
}

/** These change no user: endpoints, deliveries, a link, the clock. */
const ofNoUser: readonly OperationId[] = [
  ...(['createWebhook', 'updateWebhook', 'deleteWebhook', 'testWebhook', 'enableWebhook'] as const),
  ...(['replayWebhook', 'replayEvent', 'revokeLinkToken', 'advanceClock'] as const),
]

const writes = (Object.values(operations) as Operation[])
  .filter(({ caller, idempotency }) => caller === 'partner' && idempotency !== 'ignored')
  .map(({ id }) => id as OperationId)
const ofUsers = writes.filter(id => !ofNoUser.includes(id))

type Row = { who: string; actor: string | null; request_id: string | null }

describe('a change of a user is on record with credential and request', () => {
  test('every operation that writes has a recipe here, or changes no user', () => {
    expect(ofUsers.filter(id => recipes[id] === undefined)).toEqual([])
  })

  test.each(ofUsers)('%s', async id => {
    const partner = await newStagePartner(service)
    let requestId = ''
    const client = partner.connect({
      onResponse: response => {
        requestId = response.requestId ?? ''
      },
    })
    const { database } = service
    const [credential] = await database.query<{ credential_id: string }>(sql`
      select credential_id from credentials where partner_id = ${partner.partnerId} and kind = 'client_secret'`)
    await recipes[id]?.prepare(partner, 'u')
    await recipes[id]?.ask(client, 'u')
    const rows = await database.query<Row>(sql`
      select who, actor, request_id from history where partner_id = ${partner.partnerId} order by version`)
    expect(rows.at(-1)).toEqual({ who: 'partner', actor: credential?.credential_id, request_id: requestId })
    expect(rows.filter(({ actor, request_id }) => actor === null || request_id === null)).toEqual([])
  })
})

test('what is due is done by the schedule, and no actor stands behind it', async () => {
  const partner = await newStagePartner(service)
  await partner.create('u', { benefits: ['art'] })
  await partner.client.swapBenefits({ userid: 'u', add: ['care'], remove: ['art'] })
  await partner.to('2026-11-01T04:00')
  const rows = await service.database.query<Row>(sql`
    select who, actor, request_id from history where partner_id = ${partner.partnerId} order by version`)
  expect(rows.at(-1)).toEqual({ who: 'schedule', actor: null, request_id: null })
})

test('whoever submits a command says who is behind it', () => {
  const root = fileURLToPath(new URL('../../service/src', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    file => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )
  const commands = files.flatMap(file =>
    readFileSync(`${root}/${file}`, 'utf8')
      .split(/(?<=\.submit(?:<[^(]*>)?\()\{/)
      .slice(1)
      .map(text => ({ file, text })),
  )
  expect(commands.length).toBeGreaterThan(7)
  const nameless = commands
    .filter(
      ({ text }) => !/^[\s\S]{0,200}(\.\.\.(?:authorship|byVisitor)\(|\bactor\b|who: 'schedule')/.test(text),
    )
    .map(({ file }) => file)
  expect(nameless).toEqual([])
})
