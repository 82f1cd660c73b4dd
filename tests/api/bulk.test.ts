import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { BulkAnswer, BulkLine } from '../../client/src/index.ts'
import { defaultRequestLimits } from '../../service/src/http/request-limits.ts'
import { forAllTests } from '../for-all-tests.ts'
import { holdUsers } from '../hold-users.ts'
import { ada, startTestService, type TestPartner, type TestService } from '../rig.ts'
import { eventsOf } from './events-of.ts'
import { send } from './raw.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
const hasty = forAllTests(() =>
  startTestService({ requestLimits: { ...defaultRequestLimits, requestSeconds: 0.5 } }),
)

const account = { ...ada, offername: 'starter' } as const

async function headersOf(partner: TestPartner): Promise<Record<string, string>> {
  return {
    authorization: `Bearer ${await partner.token()}`,
    'x-api-key': partner.apiKey,
    'content-type': 'application/x-ndjson',
  }
}

/** Sends these bytes as a bulk. */
async function sendBulk(partner: TestPartner, bytes: string | Uint8Array<ArrayBuffer>, query = '') {
  const headers = await headersOf(partner)
  return send(service, 'POST', `/user/bulk${query}`, { headers, bytes })
}

function answersOf({ text }: { text: string }): BulkAnswer[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as BulkAnswer)
}

function linesOf(lines: readonly object[]): string {
  return lines.map(line => `${JSON.stringify(line)}\n`).join('')
}

function codesOf(answers: readonly BulkAnswer[]) {
  return answers.map(({ line, status, body }) => [line, status, (body as { code?: string }).code])
}

async function collect(answers: AsyncIterable<BulkAnswer>): Promise<BulkAnswer[]> {
  const all: BulkAnswer[] = []
  for await (const answer of answers) all.push(answer)
  return all
}

test('each line is answered as its single request, in order, and one user’s lines see each other', async () => {
  const partner = await service.newPartner()
  const lines = [
    { operation: 'prefill', key: 'p', body: { userid: 'u1', firstname: 'Ada' } },
    { operation: 'create', body: { userid: 'u1', ...account, benefits: ['telehealth'] } },
    { operation: 'create', body: { userid: 'u1', ...account } },
    { operation: 'update', key: '', body: { userid: 'u1', phone: '3055550199' } },
    { operation: 'cancel', body: { userid: 'u1', effective: 'immediate', reason: 'mistake' } },
    { operation: 'prefill', body: { userid: 'u2' } },
    { operation: 'erase', body: { userid: 'u1' } },
    { operation: 'update', body: { userid: 'u1', phone: '3055550199' } },
  ]
  const answer = await sendBulk(partner, linesOf(lines))
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  const answers = answersOf(answer)
  expect(codesOf(answers)).toEqual([
    [1, 200, undefined],
    [2, 200, undefined],
    [3, 409, 'user_exists'],
    [4, 200, undefined],
    [5, 200, undefined],
    [6, 400, 'idempotency_key_missing'],
    [7, 200, undefined],
    [8, 404, 'user_not_found'],
  ])
  expect(answers[0]?.body).toBe('prefill saved')
  expect(answers[4]?.body).toMatchObject({ userid: 'u1', status: 'cancelled' })
  const events = await eventsOf(service, partner)
  expect(events.map(({ eventname }) => eventname)).toEqual([
    'enrollment_request_received',
    'enrollment_successful',
    'offer_activiation_successful',
    'user_update_successful',
    'offer_cancel_successful',
    'user_erased',
  ])
})

test('a line and the single request that it stands for are the same request under a key', async () => {
  const { client, ...partner } = await service.newPartner()
  const lines = [
    { operation: 'prefill', key: 'k1', body: { userid: 'u1', firstname: 'Ada' } },
    { operation: 'create', key: 'k2', body: { userid: 'u1', ...account } },
    { operation: 'update', key: 'k3', body: { userid: 'u1', phone: '3055550199' } },
    { operation: 'cancel', key: 'k4', body: { userid: 'u1', reason: 'mistake', effective: 'immediate' } },
    { operation: 'erase', key: 'k5', body: { userid: 'u1' } },
  ] as const
  await client.createUser(lines[1].body, { idempotencyKey: 'k2' })
  const cancel = { userid: 'u1', effective: 'immediate', reason: 'mistake' } as const
  await client.cancelUser(cancel, { idempotencyKey: 'k4' })
  const first = await collect(client.bulk(lines.slice(0, 4)))
  expect(codesOf(first).map(([, status, code]) => code ?? status)).toEqual([200, 200, 'user_cancelled', 200])
  const { response } = await client.withResponse.cancelUser(cancel, { idempotencyKey: 'k4' })
  expect(response.replayed).toBe(true)
  const repeated = answersOf(await sendBulk({ client, ...partner }, linesOf([lines[0], lines[4]])))
  expect(codesOf(repeated)).toEqual([
    [1, 409, 'user_exists'],
    [2, 200, undefined],
  ])
  expect((await client.withResponse.eraseUser({ userid: 'u1' }, { idempotencyKey: 'k5' })).value.status).toBe(
    'erased',
  )
})

test('each line needs the scope of its operation, and the bulk none', async () => {
  const partner = await service.newPartner()
  const token = await partner.connect({ scopes: ['prefill:write'] })
  const lines: BulkLine[] = [
    { operation: 'create', body: { userid: 'u1', ...account } },
    { operation: 'prefill', body: { userid: 'u1' } },
  ]
  expect(codesOf(await collect(token.bulk(lines)))).toEqual([
    [1, 403, 'insufficient_scope'],
    [2, 200, undefined],
  ])
})

test('a dry run answers what each line by itself would get, ignores keys, and writes nothing', async () => {
  const partner = await service.newPartner()
  const { client } = partner
  await client.createUser({ userid: 'u1', ...account }, { idempotencyKey: 'k' })
  const before = [
    await client.getUser({ userid: 'u1', include: ['timeline'] }),
    await eventsOf(service, partner),
  ]
  const lines = [
    { operation: 'create', key: 'k', body: { userid: 'u2', ...account } },
    { operation: 'create', body: { userid: 'u2', ...account } },
    { operation: 'create', body: { userid: 'u1', ...account } },
    { operation: 'erase', body: { userid: 'u1' } },
    { operation: 'cancel', body: { userid: 'u1', effective: 'immediate' } },
    { operation: 'prefill', key: 'k', body: { userid: 'u1' } },
  ]
  const answers = answersOf(await sendBulk(partner, linesOf(lines), '?dryrun=true'))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 409, 200, 200, 200])
  await expect(client.getUser({ userid: 'u2' })).rejects.toMatchObject({ status: 404 })
  expect([
    await client.getUser({ userid: 'u1', include: ['timeline'] }),
    await eventsOf(service, partner),
  ]).toEqual(before)
})

test('a dry run says of what it lacks that an earlier line may bring it', async () => {
  const partner = await service.newPartner()
  const { email, ...rest } = account
  const lines = [
    { operation: 'prefill', key: 'k', body: { userid: 'u1', email } },
    { operation: 'create', body: { userid: 'u1', ...rest } },
    { operation: 'update', body: { userid: 'u1', phone: '3055550199' } },
    { operation: 'update', body: {} },
  ]
  const tried = answersOf(await sendBulk(partner, linesOf(lines), '?dryrun=true'))
  expect(tried.map(({ status }) => status)).toEqual([200, 400, 404, 400])
  const details = tried.map(({ body }) => String((body as { detail?: string }).detail))
  expect(details[1]).toContain('what an earlier line brings is not here yet')
  expect(details[2]).toContain('what an earlier line brings is not here yet')
  expect(details[3]).not.toContain('earlier')
  expect(answersOf(await sendBulk(partner, linesOf(lines))).map(({ status }) => status)).toEqual([
    200, 200, 200, 400,
  ])
})

const good = '{"operation":"prefill","key":"k","body":{"userid":"u1"}}'

test('a member that no line has is refused, and a bulk without lines has no answers', async () => {
  const partner = await service.newPartner()
  const lines = `${good.replace('"key"', '"kye"')}\n${good}`
  expect(codesOf(answersOf(await sendBulk(partner, lines)))).toEqual([
    [1, 400, 'bad_request'],
    [2, 200, undefined],
  ])
  expect(answersOf(await sendBulk(partner, ''))).toEqual([])
})

test('more than 5 MiB is 413 at once where it is announced, and else the last line, and what came before stands', async () => {
  const partner = await service.newPartner()
  const most = 5 * 1024 * 1024
  const bytes = `${good}\n${' '.repeat(most)}\n`
  expect(await sendBulk(partner, bytes)).toMatchObject({ status: 413, code: 'body_too_large' })
  await expect(partner.client.getUser({ userid: 'u1' })).rejects.toMatchObject({ status: 404 })
  const answers = answersOf({ text: await sendInParts(partner, [bytes]) })
  expect(codesOf(answers)).toEqual([
    [1, 200, undefined],
    [2, 413, 'body_too_large'],
  ])
  expect((await partner.client.getUser({ userid: 'u1' })) as object).toMatchObject({ status: 'prefilled' })
})

/** Sends a bulk whose length is not announced, a part after each answer so far, and returns all that was answered. */
async function sendInParts(partner: TestPartner, parts: readonly string[]): Promise<string> {
  const headers = await headersOf(partner)
  return new Promise((resolve, reject) => {
    const [first = '', ...rest] = parts
    const request = httpRequest(`${service.baseUrl}/user/bulk`, { method: 'POST', headers }, response => {
      let text = ''
      response.setEncoding('utf8').on('error', reject)
      response.on('data', (part: string) => {
        text += part
        const next = rest.shift()
        if (next !== undefined) request.write(next)
        else if (parts.length > 1) request.end()
      })
      response.on('end', () => resolve(text))
    })
    request.on('error', reject)
    request.flushHeaders()
    request.write(first)
    if (parts.length === 1) request.end()
  })
}

test('a line is answered before the next one is sent', async () => {
  const partner = await service.newPartner()
  const part = (n: number) => `{"operation":"prefill","key":"${n}","body":{"userid":"u${n}"}}\n`
  const answers = answersOf({ text: await sendInParts(partner, [part(1), part(2), part(3)]) })
  expect(answers.map(({ line, status }) => [line, status])).toEqual([
    [1, 200],
    [2, 200],
    [3, 200],
  ])
})

/** Begins a bulk of a stated length over a socket that is not read; `bytes` may be fewer. */
async function sendOver(
  partner: TestPartner,
  bytes: string,
  { length = bytes.length, on = service as TestService } = {},
): Promise<Socket> {
  const { hostname, port } = new URL(on.baseUrl)
  const headers = Object.entries(await headersOf(partner)).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /user/bulk HTTP/1.1\r\nHost: x\r\n${headers.join('')}Connection: close\r\nContent-Length: ${length}\r\n\r\n${bytes}`,
  )
  return socket
}

test('blank and unreadable lines count for the rate as any others', async () => {
  for (const lines of ['\n \n', 'x\n{}\n']) {
    const partner = await service.newPartner({ ratePerSecond: 2 })
    await sendBulk(partner, lines)
    await expect(partner.client.getUser({ userid: 'u1' })).rejects.toMatchObject({ status: 429 })
  }
})

test('after 100 lines that cannot be read a last line has status 400, and no more is read', async () => {
  const partner = await service.newPartner()
  const lines = `${'\n'.repeat(500)}${'{}\n'.repeat(50)}${good}\n${'x\n'.repeat(50)}${good.replace('u1', 'u2')}\n`
  for (const query of ['', '?dryrun=true']) {
    const answers = answersOf(await sendBulk(partner, lines, query))
    expect(answers).toHaveLength(102)
    expect(codesOf(answers).at(-2)).toEqual([601, 400, 'malformed_json'])
    expect(codesOf(answers).at(-1)).toEqual([602, 400, 'bad_request'])
  }
  expect((await partner.client.getUser({ userid: 'u1' })) as object).toMatchObject({ status: 'prefilled' })
  await expect(partner.client.getUser({ userid: 'u2' })).rejects.toMatchObject({ status: 404 })
})

test('the client gets an answer of its own for each line, however many cannot be read', async () => {
  const client = (await service.newPartner()).connect({ tries: 3 })
  const lines = Array.from({ length: 250 }, (_, at) => ({
    operation: at === 120 ? 'prefill' : 'unknown',
    body: { userid: `u${at}` },
  })) as unknown as BulkLine[]
  const answers = await collect(client.bulk(lines))
  expect(answers.map(({ line }) => line)).toEqual(lines.map((_, at) => at + 1))
  expect(answers.filter(({ status }) => status === 200).map(({ line }) => line)).toEqual([121])
  for (const { status, body } of answers)
    if (status !== 200) expect(body).toMatchObject({ errors: [{ field: 'operation' }] })
})

test.each([
  ['beyond 5 MiB', ' '.repeat(6 * 1024 * 1024)],
  ['after 100 lines that cannot be read', 'x\n'.repeat(100_000)],
])(
  'what is not taken %s is dropped, and the next request of the connection is answered',
  async (_, bytes) => {
    const partner = await service.newPartner()
    const headers = Object.entries(await headersOf(partner)).map(([name, value]) => `${name}: ${value}\r\n`)
    const { hostname, port } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    const head = `POST /user/bulk HTTP/1.1\r\nHost: x\r\n${headers.join('')}Transfer-Encoding: chunked\r\n\r\n`
    const chunk = `${bytes.length.toString(16)}\r\n${bytes}\r\n0\r\n\r\n`
    socket.write(`${head}${chunk}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    const text = Buffer.concat((await socket.toArray()) as Buffer[]).toString()
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  },
)

test('beyond eight bulks of a partner at once the next is 429 with Retry-After, and is taken once one has ended', async () => {
  const partner = await service.newPartner()
  const open = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      sendOver(partner, `${good.replace('u1', `o${at}`).replace('"k"', `"k${at}"`)}\n`, { length: 1000 }),
    ),
  )
  await Promise.all(open.map(socket => once(socket, 'readable')))
  const refused = await sendBulk(partner, good)
  expect(refused).toMatchObject({ status: 429, code: 'too_many_requests' })
  expect(refused.headers.get('retry-after')).toBe('1')
  const other = await service.newPartner()
  expect((await sendBulk(other, good)).status).toBe(200)
  open[0]?.destroy()
  await expect.poll(async () => (await sendBulk(partner, good)).status).toBe(200)
  for (const socket of open) socket.destroy()
})

test('bulks behind an unanswered request of their connection give their places back when it ends', async () => {
  const partner = await service.newPartner()
  await partner.client.prefillUser({ userid: 'held' })
  const hold = await holdUsers(service, partner)
  const { hostname, port } = new URL(service.baseUrl)
  const headers = Object.entries(await headersOf(partner)).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = (path: string, type: string, bytes: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers.join('').replace(/application\/x-ndjson/, type)}Content-Length: ${bytes.length}\r\n\r\n${bytes}`
  const bulks = Array.from({ length: 8 }, (_, at) =>
    request('/user/bulk', 'application/x-ndjson', good.replace('u1', `p${at}`).replace('"k"', `"p${at}"`)),
  )
  const socket = connect(Number(port), hostname).on('error', () => {})
  socket.write(`${request('/user/prefill', 'application/json', '{"userid":"held"}')}${bulks.join('')}`)
  await expect.poll(async () => (await sendBulk(partner, good)).status).toBe(429)
  socket.destroy()
  await expect.poll(async () => (await sendBulk(partner, good)).status).toBe(200)
  await hold.release()
})

/** A line whose answer is many times as long. */
const wrong = `{"operation":"erase","body":{${Array.from({ length: 40 }, (_, at) => `"a${at}":1`).join()}}}\n`

test('an answer that nobody reads ends in the time of a request, and its connection with it', async () => {
  const partner = await hasty.newPartner()
  // More than a connection holds, so that the sender's own writes wait, and fail at the end of the connection.
  const socket = await sendOver(partner, wrong.repeat(12_000), { on: hasty })
  await new Promise(resolve => socket.on('error', () => {}).on('close', resolve))
})

test('a bulk ends with 408 when no line comes whole in the time of a request, however many bytes do', async () => {
  const partner = await hasty.newPartner()
  for (const byte of ['\n', ' ']) {
    const socket = await sendOver(partner, `${good}\n`, { length: 10_000, on: hasty })
    const drip = setInterval(() => socket.write(byte), 20)
    socket.on('error', () => {}).once('end', () => clearInterval(drip))
    const text = Buffer.concat((await socket.toArray()) as Buffer[]).toString()
    expect(text).toContain('"status":408')
    clearInterval(drip)
  }
})

/** How many users the partner has, once that has not grown over many requests. */
async function countAtRest({ client }: TestPartner): Promise<number> {
  let count = -1
  for (let same = 0; same < 20; same += 1) {
    let found = 0
    for await (const _ of client.eachUser()) found += 1
    if (found !== count) same = 0
    count = found
  }
  return count
}

test('a client that does not read its answers is not read either, and gets all of them once it reads', async () => {
  const partner = await service.newPartner()
  // All answers together are far more than a connection holds.
  const groups = Array.from(
    { length: 100 },
    (_, at) => `${good.replace('"k"', `"k${at}"`).replace('u1', `u${at}`)}\n${wrong.repeat(100)}`,
  )
  const socket = await sendOver(partner, groups.join(''))
  await expect.poll(() => countAtRest(partner), { timeout: 60_000 }).toBeGreaterThan(0)
  expect(await countAtRest(partner)).toBeLessThan(groups.length)
  // Whole, because what arrives at a time may end within an answer's first word.
  const arrived = Buffer.concat((await socket.toArray()) as Buffer[])
  const lines = arrived.toString('latin1').split('{"line":').length - 1
  expect(lines).toBe(groups.length * 101)
  expect(await countAtRest(partner)).toBe(groups.length)
})

test('of a client that leaves, lines that arrived whole are taken whole, and no part of a line', async () => {
  const partner = await service.newPartner()
  const creates = Array.from({ length: 1_000 }, (_, at) => ({
    operation: 'create',
    body: { userid: `u${at}`, ...account },
  }))
  // The last line is complete but for its line feed: more of it might have come.
  const bytes = `${linesOf(creates)}${good.replace('u1', 'cut')}`
  const socket = await sendOver(partner, bytes, { length: bytes.length + 1 })
  await once(socket, 'readable')
  socket.destroy()
  const count = await countAtRest(partner)
  const events = await eventsOf(service, partner)
  expect(events.length).toBe(2 * count)
  await expect(partner.client.getUser({ userid: 'cut' })).rejects.toMatchObject({ status: 404 })
  expect(service.logged.filter(({ event }) => event === 'failure')).toEqual([])
})

test('the client sends again what was cut off, never with another body, and yields each answer once', async () => {
  const partner = await service.newPartner()
  const sent: string[] = []
  let cuts = 0
  const client = partner.connect({
    tries: 3,
    fetch: async (input, init) => {
      if (!String(input).endsWith('/user/bulk')) return fetch(input, init)
      sent.push(...String(init?.body).trim().split('\n'))
      const response = await fetch(input, init)
      cuts += 1
      if (cuts === 2) return response
      // The service has applied all of it, and the client reads only the first answers.
      const text = await response.text()
      const half = new TextEncoder().encode(text.slice(0, text.length / 2))
      let isRead = false
      const parts = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (isRead) controller.error(new Error('cut off'))
          else controller.enqueue(half)
          isRead = true
        },
      })
      return new Response(parts, response)
    },
  })
  const lines = Array.from(
    { length: 20 },
    (_, at): BulkLine => ({ operation: 'prefill', body: { userid: `u${at}` } }),
  )
  const answers = await collect(client.bulk(lines))
  expect(answers).toEqual(lines.map((_, at) => ({ line: at + 1, status: 200, body: 'prefill saved' })))
  expect(sent.length).toBeGreaterThan(lines.length)
  expect(new Set(sent).size).toBe(lines.length)
})
