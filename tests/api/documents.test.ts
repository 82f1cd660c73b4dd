// @prism

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'

// Public documents, which browsers and tools fetch; the client has no method for them.

const service = forAllTests(startTestService)

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await request(service.baseUrl + path, { headers })
  return { ...answer, bytes: Buffer.from(await answer.body.arrayBuffer()) }
}

test.each(['/docs', '/docs/errors/unavailable', '/changelog', '/changelog.json', '/changelog.atom'])(
  '%s may be kept for a while, and a copy that is still right is answered 304 without a body',
  isServedAsDocument,
)
test.each(['/openapi.json', '/openapi.yaml', '/openapi.json?version=1.0.1'])(
  '%s may be kept for a while, and a copy that is still right is answered 304 without a body',
  isServedAsDocument,
)

async function isServedAsDocument(path: string): Promise<void> {
  const first = await get(path)
  expect(first.statusCode).toBe(200)
  expect(first.headers['cache-control']).toBe('public, max-age=300')
  expect(first.headers['vary']).toBe('Accept-Encoding')
  const etag = String(first.headers['etag'])
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await get(path, { 'if-none-match': known })
    expect([again.statusCode, again.bytes.length, again.headers['etag']]).toEqual([304, 0, etag])
  }
  expect((await get(path, { 'if-none-match': '"other"' })).statusCode).toBe(200)
}

test('each encoding holds the same document under an ETag of its own', async () => {
  const plain = await get('/docs')
  const brotli = await get('/docs', { 'accept-encoding': 'gzip, deflate, br' })
  const zipped = await get('/docs', { 'accept-encoding': 'gzip' })
  expect([brotli, zipped].map(one => one.headers['content-encoding'])).toEqual(['br', 'gzip'])
  expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true)
  expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true)
  expect(new Set([plain, brotli, zipped].map(one => one.headers['etag']))).toHaveProperty('size', 3)
  expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 3)
})

test('a document is made once, however many ask for it', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => get('/openapi.yaml', { 'accept-encoding': 'br' })),
  )
  expect(new Set(answers.map(one => one.headers['etag']))).toHaveProperty('size', 1)
  expect(new Set(answers.map(one => one.bytes.toString('base64')))).toHaveProperty('size', 1)
})
