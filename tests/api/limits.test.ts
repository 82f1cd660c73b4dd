import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RequestLimits } from '../../contract/src/index.ts'
import { readConfig } from '../../service/src/config.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { type Caller, openCaller, send } from './raw.ts'
import { unchecked } from './unchecked.ts'

const requestLimits: RequestLimits = {
  bodyKib: 17,
  bodyNesting: 5,
  headers: 33,
  headersKib: 5,
  headersSeconds: 3,
  requestSeconds: 7,
  failedAuthentications: 2,
}
const service = forAllTests(() => startTestService({ sandbox: false, requestLimits }))
let caller: Caller
beforeAll(async () => {
  caller = await openCaller(service)
})

function padded(bytes: number) {
  return caller.send('POST', '/user/prefill', { bytes: '{"userid":"u1"}'.padEnd(bytes) })
}
function detailOf(answer: { body: unknown }) {
  return (answer.body as { detail: string }).detail
}

describe('a limit that the operator set', () => {
  test('holds for bodies, and is told', async () => {
    expect((await padded(17 * 1024)).status).toBe(200)
    const refused = await padded(17 * 1024 + 1)
    expect(refused).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(detailOf(refused)).toBe('Send at most 17 KiB.')
  })

  test('holds for nesting, and is told', async () => {
    const nested = (depth: number) => ({
      bytes: `{"userid":"u1","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`,
    })
    expect((await caller.send('POST', '/user/prefill', nested(5))).code).toBe('bad_request')
    const refused = await caller.send('POST', '/user/prefill', nested(6))
    expect(refused).toMatchObject({ status: 400, code: 'malformed_json' })
    expect(detailOf(refused)).toBe('The body must not be nested deeper than 5.')
  })

  test('holds for headers, one by one and together, and is told', async () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`x-${index}`, '1']))
    for (const headers of [many, { 'x-long': 'x'.repeat(5 * 1024) }]) {
      const refused = await caller.send('POST', '/user/prefill', { headers, body: { userid: 'u1' } })
      expect(refused).toMatchObject({ status: 431, code: 'headers_too_large' })
      expect(detailOf(refused)).toBe('Send at most 33 headers and 5 KiB.')
    }
  })

  test('holds for failed authentications', async () => {
    // At the start of a minute, so that all failures fall into one minute.
    service.advance(60_000 - (service.now() % 60_000))
    const statuses = []
    for (let count = 0; count < 3; count += 1)
      statuses.push((await send(service, 'POST', '/user/account/get')).status)
    expect(statuses).toEqual([401, 401, 429])
  })

  test('stands in the description and in the reference', async () => {
    const { body } = await send(service, 'GET', '/openapi.json')
    const { info } = unchecked<{ info: { description: string } }>(body)
    const reference = (await send(service, 'GET', '/docs/limits')).text
    for (const told of [
      'at most 17 KiB',
      'at most 5 deep',
      'most 33 headers, of 5 KiB together',
      'within 3 seconds, the whole request within 7.',
      'After 2 failed authentications',
    ]) {
      expect(info.description).toContain(told)
      expect(reference).toContain(told)
    }
  })
})

test('without settings the limits are those of the contract', () => {
  expect(readConfig({}).requestLimits).toEqual({
    bodyKib: 64,
    bodyNesting: 8,
    headers: 64,
    headersKib: 8,
    headersSeconds: 10,
    requestSeconds: 15,
    failedAuthentications: 60,
  })
})

test('every setting stands in docs/operating.md, and no other', async () => {
  const known = (() => {
    try {
      readConfig({ ENROLMENT_NOTHING: '1' })
    } catch (error) {
      return [...String(error).matchAll(/ENROLMENT_\w+/g)].map(([name]) => name).slice(1)
    }
    return []
  })()
  const text = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const table = text.split('\n').filter(line => line.startsWith('| `'))
  const told = table.flatMap(line =>
    [...(line.split('|')[1] ?? '').matchAll(/ENROLMENT_\w+/g)].map(([name]) => name),
  )
  expect(told.toSorted()).toEqual(known.toSorted())
})
