import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { ada, adaAsks } from '../rig.ts'
import { type Created, clientOf, codeOf, newWorkplace, type Workplace } from './place.ts'
import { root, run, runJson, runRefused, type ServiceProcess, startKeptProcess } from './process.ts'

// One production service of its own process, and the operator's commands beside it.
let place: Workplace
let service: ServiceProcess
const endings: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const { place: made, remove } = await newWorkplace()
  place = made
  service = await startKeptProcess(['serve', '--port', '0'], place)
  endings.push(() => service.stop(), remove)
  await runJson(['catalogue', 'publish', join(root, 'service/assets/demo-catalogue.yaml')], place)
})
afterAll(async () => {
  for (const end of endings) await end()
})

function refusal(...words: string[]): Promise<string> {
  return runRefused(words, place)
}

/** It only catches a hang. */
const soon = { timeout: 120_000, interval: 100 }

describe('partners', () => {
  test('are made with credentials that work at once in the running service', async () => {
    const created = await runJson<Created>(['partner', 'create', '--name', 'Corner Bank'], place)
    expect(created).toEqual({
      partnerid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      partnername: 'Corner Bank',
      clientid: expect.stringMatching(/^enr_client_\w{22}$/),
      clientsecret: expect.stringMatching(/^enr_cs_live_\w+$/),
      apikey: expect.stringMatching(/^enr_ak_live_\w+$/),
    })
    const client = clientOf(service, created)
    expect(await client.prefillUser({ userid: 'u1', ...ada }, { idempotencyKey: 'k1' })).toBe('prefill saved')
    expect((await client.getBenefits({ userid: 'u1', ...adaAsks })).length).toBeGreaterThan(0)
  })

  test('are disabled and enabled again, each within a second', async () => {
    const created = await runJson<Created>(['partner', 'create', '--name', 'Stopped'], place)
    await runJson(['partner', 'update', created.partnerid, '--api-key-optional'], place)
    const { apikey: _withoutKey, ...credentials } = created
    const client = createClient({
      baseUrl: service.address,
      clientId: credentials.clientid,
      clientSecret: credentials.clientsecret,
      tries: 1,
    })
    await client.prefillUser({ userid: 'u1' })
    expect(await runJson(['partner', 'disable', created.partnerid], place)).toEqual({
      partnerid: created.partnerid,
      disabled: true,
    })
    await expect.poll(() => codeOf(client.prefillUser({ userid: 'u2' })), soon).toBe('invalid_client')
    expect(await runJson(['partner', 'update', created.partnerid, '--enable'], place)).toMatchObject({
      disabled: false,
    })
    await expect.poll(() => codeOf(client.prefillUser({ userid: 'u3' })), soon).toBe('')
  })
})

type Rotated = {
  kind: string
  secret: string
  clientsecret: string
  id: string
  live: string[]
  older: string[]
}

/** Prefills again and again with these credentials; `stop` gives the codes with which any was refused, and how many were not. */
function pourIn(client: Client) {
  const refused = new Set<string>()
  let saved = 0
  let isOver = false
  const writing = (async () => {
    for (let number = 0; !isOver; number += 1) {
      const code = await codeOf(client.prefillUser({ userid: `load-${number}` }))
      // A machine that stands still answers 503 now and then.
      if (code === '') saved += 1
      else if (code !== 'unavailable') refused.add(code)
      await setTimeout(20)
    }
  })()
  return {
    async stop() {
      isOver = true
      await writing
      return { refused: [...refused], saved }
    },
  }
}
const allSaved = { refused: [], saved: expect.toSatisfy((saved: number) => saved > 0) }

describe('keys', () => {
  test('are rotated under load without a gap: two live at once, a third refused, the revoked one dead within a second', async () => {
    const created = await runJson<Created>(['partner', 'create', '--name', 'Rotating'], place)
    const byOld = pourIn(clientOf(service, created))
    const rotated = await runJson<Rotated>(['key', 'rotate', created.partnerid], place)
    const secret = expect.stringMatching(/^enr_cs_live_\w+$/)
    expect(rotated).toEqual({
      kind: 'client_secret',
      secret,
      clientsecret: rotated.secret,
      id: expect.any(String),
      live: [expect.any(String), expect.any(String)],
      older: [expect.any(String)],
    })
    const [older = ''] = rotated.older
    expect([...rotated.live].sort()).toEqual([older, rotated.id].sort())
    expect(rotated.secret).toContain(`${rotated.id}_`)
    expect(await refusal('key', 'rotate', created.partnerid)).toMatch(
      new RegExp(`^Two are live already .*revoke the older with \`enrolment key revoke ${created.partnerid}`),
    )
    const before = clientOf(service, created)
    const after = clientOf(service, { ...created, clientsecret: rotated.secret })
    const byNew = pourIn(clientOf(service, { ...created, clientsecret: rotated.secret }))
    await before.prefillUser({ userid: 'u1' })
    await after.prefillUser({ userid: 'u1' })
    // Both were used, so the operator can see when the older one may be revoked.
    await expect
      .poll(async () => {
        const { credentials } = await runJson<{ credentials: { id: string; lastusedat: string | null }[] }>(
          ['partner', 'show', created.partnerid],
          place,
        )
        return credentials.filter(one => one.lastusedat !== null).map(one => one.id)
      }, soon)
      .toEqual(expect.arrayContaining([older, rotated.id]))
    expect(await byOld.stop()).toEqual(allSaved)
    expect(await runJson(['key', 'revoke', created.partnerid, older], place)).toEqual({
      id: older,
      revoked: true,
    })
    await expect.poll(() => codeOf(before.prefillUser({ userid: 'u2' })), soon).toBe('invalid_client')
    expect(await codeOf(after.prefillUser({ userid: 'u2' }))).toBe('')
    expect(await refusal('key', 'revoke', created.partnerid, older)).toMatch(/no live credential/)

    const { stdout } = await run(['key', 'rotate', created.partnerid, '--kind', 'api_key'], place)
    const [, apikey = '', id] =
      /^apikey +(\S+)\nid +(\S+)\n\nKeep it: it is not shown again\.\n/.exec(stdout) ?? []
    const newKey = clientOf(service, { ...created, clientsecret: rotated.secret, apikey })
    expect(await codeOf(newKey.prefillUser({ userid: 'u2' }))).toBe('')
    const byNewKey = pourIn(newKey)
    expect(await byNew.stop()).toEqual(allSaved)
    const [, olderKey = ''] =
      new RegExp(`enrolment key revoke ${created.partnerid} (\\S+)\``).exec(stdout) ?? []
    expect(olderKey).not.toBe(id)
    await runJson(['key', 'revoke', created.partnerid, olderKey], place)
    await expect.poll(() => codeOf(after.getUser({ userid: 'u1' })), soon).toBe('invalid_api_key')
    expect(await byNewKey.stop()).toEqual(allSaved)
    expect(await refusal('key', 'rotate', created.partnerid, '--kind', 'password')).toMatch(
      /--kind must be client_secret or api_key/,
    )
  })
})
