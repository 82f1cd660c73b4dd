import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../client/src/index.ts'
import { ada } from '../rig.ts'
import { checkLogs } from '../trust/canaries.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { type Created, hookAt, newWorkplace } from './place.ts'
import { root, runJson, startProcess } from './process.ts'

type Line = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId?: string
  readonly attributes: Readonly<Record<string, unknown>>
}

const sdk = new URL('tracing-sdk.mjs', import.meta.url)
const trace = '0af7651916cd43dd8448eb211c80319c'
const caller = 'b7ad6b7169203331'

test('where an operator brings an SDK of OpenTelemetry, request, batch, statements and deliveries are spans of the caller’s trace, and name nobody', async () => {
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  const { place, remove } = await newWorkplace({ ENROLMENT_WEBHOOK_ALLOW: '127.0.0.0/8' })
  onTestFinished(remove)
  await runJson(['catalogue', 'publish', join(root, 'service/assets/demo-catalogue.yaml')], place)
  const created = await runJson<Created>(
    ['partner', 'create', '--name', 'Harbor Rides', ...hookAt(receiver.url)],
    place,
  )
  const file = join(place.cwd, 'spans')
  const env = { ...place.env, NODE_OPTIONS: `--import=${sdk}`, SPANS: file }
  const service = await startProcess(['serve', '--port', '0'], { ...place, env })
  const client = createClient({
    baseUrl: service.address,
    clientId: created.clientid,
    clientSecret: created.clientsecret,
    apiKey: created.apikey,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('traceparent', `00-${trace}-${caller}-01`)
      return fetch(input, { ...init, headers })
    },
  })
  const userid = 'u-canary-4711'
  const { serviceid } = await client.createUser({ userid, ...ada, offername: 'plus' })
  await receiver.received(1)
  await service.stop()

  const text = await readFile(file, 'utf8')
  const spans = text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([trace]))
  const below = (parent: Line | undefined) => spans.filter(({ parentId }) => parentId === parent?.spanId)
  const request = spans.find(({ name }) => name === 'POST /user/account/create')
  expect(request).toMatchObject({
    parentId: caller,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/user/account/create',
      'http.response.status_code': 200,
    },
  })
  const batch = below(request).find(({ name }) => name === 'change users')
  expect(batch?.attributes).toEqual({ 'batch.size': 1 })
  expect(below(batch).map(({ name }) => name)).toEqual(expect.arrayContaining(['insert users', 'commit']))
  const [arrived] = receiver.deliveries
  const delivery = below(request).find(({ name }) => name === `webhook ${arrived?.eventname}`)
  expect(delivery?.attributes).toEqual({
    'webhook.event': arrived?.eventname,
    'webhook.attempt': 1,
    'http.response.status_code': 200,
  })
  expect(arrived?.headers['traceparent']).toBe(`00-${trace}-${delivery?.spanId}-01`)
  const { partnerid, clientid, clientsecret, apikey } = created
  checkLogs(text)
  checkLogs(text, [userid, String(serviceid), partnerid, clientid, clientsecret, apikey])
})
