import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  errors,
  eventNames,
  interfaceChanges,
  type Operation,
  operations,
  scopeNames,
} from '../../contract/src/index.ts'
import { startTestService, type TestService } from '../rig.ts'
import { send } from './raw.ts'

// Pages for people: no client asks for them.

let service: TestService
beforeAll(async () => {
  service = await startTestService({ sandbox: false })
})
afterAll(() => service[Symbol.asyncDispose]())

const page = async (path: string): Promise<string> => {
  const answer = await send(service, 'GET', path)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
  return answer.text
}

test('the reference names every operation, event, scope and error, and every link on it leads somewhere', async () => {
  const text = await page('/docs')
  for (const operation of Object.values(operations) as Operation[]) {
    expect(text.includes(`<code>${operation.method} ${operation.path}</code>`)).toBe(
      operation.scope !== 'sandbox:control',
    )
  }
  for (const name of [...eventNames, ...scopeNames, ...Object.keys(errors)])
    expect(text).toContain(`<code>${name}</code>`)
  const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  const links = [...new Set([...text.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href))]
  for (const link of links) {
    if (link.startsWith('#')) expect(ids).toContain(link.slice(1))
    else expect(await send(service, 'GET', link.replace(service.baseUrl, ''))).toMatchObject({ status: 200 })
  }
})

test('the change log says the same to people, programs and feed readers', async () => {
  const text = await page('/changelog')
  const feed = await send(service, 'GET', '/changelog.atom')
  expect(feed.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
  expect(feed.text).toMatch(
    /^<\?xml version="1.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www.w3.org\/2005\/Atom">/,
  )
  expect(feed.text.match(/<entry>/g)).toHaveLength(interfaceChanges.length)
  for (const { version } of interfaceChanges) {
    expect(text).toContain(`<h2 id="${version}">`)
    expect(feed.text).toContain(`<title>Version ${version}</title>`)
  }
  expect((await send(service, 'GET', '/changelog.json')).body).toEqual({ versions: interfaceChanges })
})

test('the versions of the change log are those that can be described', async () => {
  for (const { version } of interfaceChanges) {
    const { body } = await send(service, 'GET', `/openapi.json?version=${version}`)
    expect(body).toMatchObject({ info: { version } })
  }
})
