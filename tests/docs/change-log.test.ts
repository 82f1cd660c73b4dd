import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import diff from 'microdiff'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  describeInterface,
  interfaceChanges,
  outlineOf,
  unreleasedChanges,
} from '../../contract/src/index.ts'
import { send } from '../api/raw.ts'
import { newDirectory } from '../command/process.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'

type Json = { readonly [name: string]: unknown }

const releasedFile = new URL('../../contract/released.json', import.meta.url)
const released = JSON.parse(await readFile(releasedFile, 'utf8')) as Json
const baseUrl = 'https://benefits.example.com'
const today = JSON.parse(
  JSON.stringify(outlineOf(describeInterface({ baseUrl, version: '1.0.2', sandbox: true }))),
) as Json

/** The part of a description at the end of these names. */
function partAt(description: unknown, ...names: readonly (string | number)[]): unknown {
  return names.reduce<unknown>((part, name) => (part as Json | undefined)?.[name], description)
}

/** The ids of operations, and the names of schemas, of which a description says something else than another. */
function changedBetween(before: Json, after: Json): string[] {
  const names = diff(before, after).flatMap(({ path }) => {
    const [kind = '', name = '', third] = path
    if (kind === 'components') return third === undefined ? [] : [String(third)]
    const methods =
      third === undefined
        ? Object.keys({ ...(partAt(before, kind, name) as Json), ...(partAt(after, kind, name) as Json) })
        : [third]
    const ids = methods.map(method =>
      [after, before].map(one => partAt(one, kind, name, method, 'operationId')).find(id => id !== undefined),
    )
    return ids.filter(id => id !== undefined).map(String)
  })
  return [...new Set(names)].sort()
}

/** Of a schema: what narrows it when it comes. */
const NARROWING = /^(required|pattern|format|enum|const|not|additionalProperties|(min|max)\w+|multipleOf)$/

/** The schemas that requests are made of: only there a member that becomes required asks for something. */
const sent = new Set<string>()
function noteSent(part: unknown): void {
  for (const [, name = ''] of JSON.stringify(part ?? {}).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    if (sent.has(name)) continue
    sent.add(name)
    noteSent(partAt(today, 'components', 'schemas', name))
  }
}
for (const methods of Object.values(today['paths'] as Json))
  for (const { requestBody, parameters } of Object.values(methods as Json) as Json[])
    noteSent([requestBody, parameters])

/** Where a description takes something back that another one has promised: all differences but additions. */
function takenBack(before: unknown, after: unknown, path: readonly string[] = []): string[] {
  const place = path.join(' ')
  if (Array.isArray(before) && Array.isArray(after)) {
    const gone = before.filter(one => !after.some(later => isDeepStrictEqual(one, later)))
    const fresh = after.filter(one => !before.some(former => isDeepStrictEqual(former, one)))
    const [root, , name = ''] = path
    const isRequest = root === 'components' ? sent.has(name) : path.includes('requestBody')
    const isAsked = (one: unknown) =>
      path.at(-1) === 'required' ? isRequest : partAt(one, 'required') === true
    return [...gone, ...fresh.filter(isAsked)].map(() => place)
  }
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null)
    return isDeepStrictEqual(before, after) ? [] : [place]
  const [old, young] = [before as Json, after as Json]
  const isNarrower = (name: string) => path.at(-1) !== 'properties' && !(name in old) && NARROWING.test(name)
  return [
    ...Object.keys(young)
      .filter(isNarrower)
      .map(name => `${place} ${name}`),
    ...Object.keys(old).flatMap(name =>
      name in young ? takenBack(old[name], young[name], [...path, name]) : [`${place} ${name}`],
    ),
  ]
}

const migrations = new URL('../../service/migrations/released.json', import.meta.url)
const isReleased = (await readFile(migrations, 'utf8')).trim() !== '{}'

describe('since the last release of the description', () => {
  test.runIf(isReleased)('nothing but additions, until the next MAJOR', () => {
    expect(takenBack({ ...released, info: {} }, { ...today, info: {} })).toEqual([])
  })

  const changed = changedBetween(released, today)

  test('every change has an entry in contract/src/changes.ts, and no entry tells of what has not changed', () => {
    expect([...new Set(unreleasedChanges.flatMap(({ names }) => names))].sort()).toEqual(changed)
  })

  const hasOasdiff = spawnSync('oasdiff', ['--version']).status === 0
  if (!hasOasdiff)
    console.warn('!!!! oasdiff is missing: nothing looks for breaking changes of the interface.')

  test.runIf(hasOasdiff)('what oasdiff finds to break a program is marked as breaking', async () => {
    const { path, remove } = await newDirectory()
    onTestFinished(remove)
    const files = [released, today].map((description, index) => {
      const file = join(path, `${index}.json`)
      writeFileSync(file, JSON.stringify(description))
      return file
    })
    const { stdout, stderr } = spawnSync('oasdiff', ['breaking', '--format', 'json', ...files], {
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    const found = JSON.parse(stdout || '[]') as { operationId?: string; text: string }[]
    const marked = unreleasedChanges.filter(({ breaking }) => breaking).flatMap(({ names }) => names)
    expect(found.filter(({ operationId = '' }) => !marked.includes(operationId))).toEqual([])
  })
})

test('a change of a header, a media type, a pattern, a value, a webhook or an error code is seen', () => {
  const prefill = ['paths', '/user/prefill', 'post']
  const cases: readonly (readonly [name: string, ...path: string[]])[] = [
    ['listWebhooks', 'paths', '/webhooks', 'get', 'responses', '200', 'headers', 'Request-Id'],
    ['prefillUser', ...prefill, 'responses', '400', 'content', 'application/problem+json'],
    [
      'prefillUser',
      ...prefill,
      'responses',
      '409',
      'content',
      'application/problem+json',
      'examples',
      'prefill_superseded',
    ],
    ['prefillUser', ...prefill, 'requestBody', 'content', 'application/json'],
    ['Prefill', 'components', 'schemas', 'Prefill', 'properties', 'userid', 'maxLength'],
    ['User', 'components', 'schemas', 'User', 'properties', 'conditions', 'items'],
    ['receiveEvent', 'webhooks', 'event', 'post', 'parameters', '0', 'schema', 'format'],
  ]
  for (const [name, ...path] of cases) {
    const copy = structuredClone(today)
    const last = path.at(-1) ?? ''
    const owner = partAt(copy, ...path.slice(0, -1)) as Record<string, unknown>
    expect([path, owner[last]]).not.toEqual([path, undefined])
    delete owner[last]
    expect(changedBetween(today, copy)).toEqual([name])
    expect(takenBack(today, copy)).not.toEqual([])
  }
})

describe('the change log', () => {
  const service = forAllTests(startTestService)

  test('says the same to people, programs and feed readers, with the day of each entry', async () => {
    const page = (await send(service, 'GET', '/changelog')).text
    const feed = (await send(service, 'GET', '/changelog.atom')).text
    expect(feed).toMatch(
      /^<\?xml version="1.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www.w3.org\/2005\/Atom">/,
    )
    for (const { version, describedsince } of interfaceChanges) {
      expect(page).toContain(`<h2 id="${version}">`)
      const entry = feed.split('<entry>').find(part => part.includes(`<title>Version ${version}</title>`))
      expect(entry).toContain(`<published>${describedsince}T00:00:00Z</published>`)
      const { body } = await send(service, 'GET', `/openapi.json?version=${version}`)
      expect(body).toMatchObject({ info: { version } })
    }
    expect((await send(service, 'GET', '/changelog.json')).body).toEqual({ versions: interfaceChanges })
  })

  test('is found by feed readers from every page', async () => {
    for (const path of ['/', '/docs', '/changelog', '/docs/quick-start'])
      expect((await send(service, 'GET', path)).text).toContain(
        `<link rel="alternate" type="application/atom+xml" title="Change log" href="${service.baseUrl}/changelog.atom">`,
      )
  })
})
