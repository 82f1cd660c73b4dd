import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { LogEntry } from '../../client/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'

// The parts of the client beyond one method per operation.

const service = forAllTests(startTestService)

test('the first sample of the README works as it stands', async () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const { clientId, clientSecret, apiKey } = await service.newPartner()
  const [, sample = ''] = /```js\n([\s\S]*?)```/.exec(await readFile(`${root}client/README.md`, 'utf8')) ?? []
  const code = `${sample.replace('https://benefits.example.com', service.baseUrl)}\nconsole.log(benefits.length, linkurl)`
  const ran = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    env: { BENEFITS_CLIENT_ID: clientId, BENEFITS_CLIENT_SECRET: clientSecret, BENEFITS_API_KEY: apiKey },
  })
  expect(ran.stderr).toBe('')
  expect(ran.stdout).toMatch(/^[1-9]\d* http:.+\/register\/link\//)
})

test('withResponse resolves with the body and with status, headers and request id of its answer', async () => {
  const client = (await service.newPartner()).connect()
  await client.prefillUser({ userid: 'w-1' })
  const { value, response } = await client.withResponse.getUser({ userid: 'w-1' })
  expect(value).toEqual(await client.getUser({ userid: 'w-1' }))
  expect(response).toMatchObject({ operation: 'getUser', status: 200, replayed: false, attempt: 1 })
  expect(response.headers.get('request-id')).toBe(response.requestId)
})

test('eachEvent walks through the whole log once, and its cursor goes on where the walk stopped', async () => {
  const client = (await service.newPartner()).connect()
  const userids = Array.from({ length: 120 }, (_, at) => `e-${at}`)
  await Promise.all(userids.map(userid => client.prefillUser({ userid })))
  const walk = client.eachEvent()
  const seen: string[] = []
  for await (const { userid } of walk) seen.push(userid)
  expect(seen.toSorted()).toEqual(userids.toSorted())
  await client.prefillUser({ userid: 'e-later' })
  const later: string[] = []
  for await (const { userid } of client.eachEvent({ after: walk.cursor ?? '' })) later.push(userid)
  expect(later).toEqual(['e-later'])
})

test('eachEvent that follows waits for what is raised, until its signal ends it', async () => {
  const client = (await service.newPartner()).connect()
  const stop = new AbortController()
  const seen: string[] = []
  const followed = (async () => {
    for await (const { userid } of client.eachEvent({}, { follow: true, pollMs: 5, signal: stop.signal })) {
      seen.push(userid)
      if (userid === 'f-2') stop.abort(new Error('enough'))
    }
  })()
  await client.prefillUser({ userid: 'f-1' })
  await client.prefillUser({ userid: 'f-2' })
  await expect(followed).rejects.toThrow('enough')
  expect(seen).toEqual(['f-1', 'f-2'])
})

test('onLog is told of a failure, without anything of the person', async () => {
  const partner = await service.newPartner()
  const entries: LogEntry[] = []
  const client = partner.connect({ onLog: entry => entries.push(entry) })
  await client.listWebhooks({})
  await expect(client.getUser({ userid: 'nobody-canary' })).rejects.toMatchObject({ code: 'user_not_found' })
  expect(entries).toMatchObject([
    { level: 'warn', event: 'failed', operation: 'getUser', attempt: 1, code: 'user_not_found', status: 404 },
  ])
  expect(JSON.stringify(entries)).not.toContain('canary')
})

test('onLog that throws changes nothing', async () => {
  const partner = await service.newPartner()
  const client = partner.connect({
    onLog() {
      throw new Error('a log that is full')
    },
  })
  await expect(client.getUser({ userid: 'nobody' })).rejects.toMatchObject({ code: 'user_not_found' })
})
