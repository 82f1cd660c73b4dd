import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  compareFacts,
  describeInterface,
  type Fact,
  factsOf,
  interfaceChanges,
  keyOf,
  unreleasedChanges,
} from '../../contract/src/index.ts'
import { send } from '../api/raw.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'

const released = JSON.parse(
  readFileSync(new URL('../../contract/released.json', import.meta.url), 'utf8'),
) as Fact[]
const description = describeInterface({
  baseUrl: 'https://benefits.example.com',
  version: '1.0.2',
  sandbox: true,
})
const today = factsOf(description)

function entriesOf({ name }: Fact) {
  return unreleasedChanges.filter(({ names }) => names.includes(name))
}
/** What has changed since then and has no entry. */
function untold(before: readonly Fact[], after: readonly Fact[]): string[] {
  const missing = compareFacts(before, after).filter(({ fact }) => entriesOf(fact).length === 0)
  return missing.map(({ fact }) => keyOf(fact))
}
/** What has changed since then and breaks programs, though no entry says so. */
function unmarked(before: readonly Fact[], after: readonly Fact[]): string[] {
  const silent = compareFacts(before, after).filter(
    ({ fact, breaks }) => breaks && !entriesOf(fact).some(({ breaking }) => breaking),
  )
  return silent.map(({ fact }) => keyOf(fact))
}

describe('since the last release of the description', () => {
  test('every change has an entry in contract/src/changes.ts (a new release: scripts/release-description.mjs)', () => {
    expect(untold(released, today)).toEqual([])
  })

  test('every change that breaks a program is marked as breaking', () => {
    expect(unmarked(released, today)).toEqual([])
  })

  test('no entry tells of what has not changed', () => {
    const changed = new Set(compareFacts(released, today).map(({ fact }) => fact.name))
    expect(unreleasedChanges.flatMap(({ names }) => names).filter(name => !changed.has(name))).toEqual([])
  })
})

describe('what breaks', () => {
  const offer = (name: string, text: string): Fact => ({ name, text, kind: 'offer' })
  const demand = (name: string, text: string): Fact => ({ name, text, kind: 'demand' })
  const before = [offer('User', 'has status of string'), demand('User', 'needs status')]

  test.each([
    ['a field that is gone', [demand('User', 'needs status')], true],
    ['a field that is new', [...before, offer('User', 'has age of integer')], false],
    ['a demand that is new', [...before, demand('User', 'needs age')], true],
    ['a demand that is gone', [offer('User', 'has status of string')], false],
    ['a demand of a schema that is new', [...before, demand('Other', 'needs age')], false],
  ])('%s', (_what, after, breaks) => {
    expect(compareFacts(before, after).map(one => one.breaks)).toEqual([breaks])
  })

  const limited = (words: string): Fact[] => [{ name: 'User', kind: 'limit', text: `status. has ${words}` }]
  test.each([
    ['a shorter field', 'at most 20 characters', 'at most 10 characters', true],
    ['a longer field', 'at most 20 characters', 'at most 30 characters', false],
    ['a higher least value', 'at least 1', 'at least 2', true],
    ['a lower least value', 'at least 1', 'at least -1', false],
  ])('%s', (_what, former, present, breaks) => {
    const found = compareFacts(limited(former), limited(present))
    expect(found.map(one => one.breaks)).toEqual([false, breaks])
  })

  type Described = Record<string, Record<string, unknown>>
  /** A part of a copy of the description, by the names that lead to it. */
  const partOf = (copy: unknown, ...names: readonly string[]) =>
    names.reduce((part, name) => (part as Described)[name], copy) as unknown as Described
  const listed = ['paths', '/webhooks', 'get', 'responses', '200']
  const prefill = ['paths', '/user/prefill', 'post']
  const scheme = (name: string, field: string) => ['components', 'schemas', name, 'properties', field]

  test.each<
    [what: string, change: (copy: unknown) => void, changed: readonly string[], breaking: readonly string[]]
  >([
    [
      'a header of an answer that is gone',
      copy => delete partOf(copy, ...listed, 'headers')['Request-Id'],
      [
        'listWebhooks: answers 200 with the header Request-Id',
        'listWebhooks: answer 200 header Request-Id. is a uuid',
      ],
      [
        'listWebhooks: answers 200 with the header Request-Id',
        'listWebhooks: answer 200 header Request-Id. is a uuid',
      ],
    ],
    [
      'a header of an answer that is new',
      copy =>
        Object.assign(partOf(copy, ...listed), {
          headers: { ...partOf(copy, ...listed, 'headers'), Age: { schema: {} } },
        }),
      ['listWebhooks: answers 200 with the header Age'],
      [],
    ],
    [
      'another form of a header of a refusal',
      copy =>
        Object.assign(partOf(copy, ...prefill, 'responses', '429', 'headers', 'Retry-After', 'schema'), {
          pattern: '^.+$',
        }),
      [
        'prefillUser: answer 429 header Retry-After. looks like ^[0-9]+$',
        'prefillUser: answer 429 header Retry-After. looks like ^.+$',
      ],
      ['prefillUser: answer 429 header Retry-After. looks like ^[0-9]+$'],
    ],
    [
      'another media type of a refusal',
      copy => {
        const refusal = partOf(copy, ...prefill, 'responses', '400')
        refusal['content'] = { 'application/json': refusal['content']?.['application/problem+json'] }
      },
      [
        'prefillUser: answers 400 with application/problem+json, Problem',
        'prefillUser: answers 400 with application/json, Problem',
      ],
      ['prefillUser: answers 400 with application/problem+json, Problem'],
    ],
    [
      'another media type of a body',
      copy => {
        const asked = partOf(copy, ...prefill, 'requestBody')
        asked['content'] = { 'text/json': asked['content']?.['application/json'] }
      },
      [
        'prefillUser: takes a body of application/json, Prefill',
        'prefillUser: takes a body of text/json, Prefill',
      ],
      ['prefillUser: takes a body of application/json, Prefill'],
    ],
    [
      'another pattern of what callers send',
      copy => Object.assign(partOf(copy, ...scheme('Prefill', 'userid')), { pattern: '^[a-z]+$' }),
      [
        'Prefill: userid. must look like ^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f]*$',
        'Prefill: userid. must look like ^[a-z]+$',
      ],
      ['Prefill: userid. must look like ^[a-z]+$'],
    ],
    [
      'a format of what callers send that had none',
      copy => Object.assign(partOf(copy, ...scheme('Prefill', 'userid')), { format: 'uuid' }),
      ['Prefill: userid. must be a uuid'],
      ['Prefill: userid. must be a uuid'],
    ],
    [
      'a pattern of what callers send that is gone',
      copy => delete partOf(copy, ...scheme('Prefill', 'userid'))['pattern'],
      ['Prefill: userid. must look like ^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f]*$'],
      [],
    ],
    [
      'a field that callers may send, with a pattern',
      copy =>
        Object.assign(partOf(copy, 'components', 'schemas', 'Prefill', 'properties'), {
          nick: { type: 'string', pattern: '^x$' },
        }),
      ['Prefill: has nick of string', 'Prefill: nick. must look like ^x$'],
      [],
    ],
    [
      'a format of what callers get that is gone',
      copy => delete partOf(copy, 'webhooks', 'event', 'post', 'parameters', '0', 'schema')['format'],
      ['receiveEvent: header Idempotency-Key. is a uuid'],
      ['receiveEvent: header Idempotency-Key. is a uuid'],
    ],
  ])('of the whole description: %s', (_what, change, changed, breaking) => {
    // As text, because the same header is part of many answers.
    const copy = JSON.parse(JSON.stringify(description)) as typeof description
    change(copy)
    const after = factsOf(copy)
    const found = compareFacts(today, after)
    const told = (facts: typeof found) => facts.map(({ fact }) => keyOf(fact)).sort()
    expect(told(found)).toEqual([...changed].sort())
    expect(told(found.filter(({ breaks }) => breaks))).toEqual([...breaking].sort())
    // None of them has an entry that could speak for it, so the checks above fail for it.
    expect(untold(today, after).sort()).toEqual(told(found))
    expect(unmarked(today, after).sort()).toEqual([...breaking].sort())
  })

  test('a limit of a field that had none, but not of a new field, nor a code of an error', () => {
    const added: Fact[] = [
      ...limited('at most 5 characters'),
      offer('User', 'has age of integer'),
      { name: 'User', kind: 'limit', text: 'age. has at most 120' },
      { name: 'User', kind: 'remark', text: 'answers 409 with the code some_code' },
    ]
    const found = compareFacts(before, [...before, ...added])
    expect(found.map(one => one.breaks)).toEqual([true, false, false, false])
  })
})

test('of a description every value, limit, body and error code is compared', () => {
  const facts = today.map(({ name, text }) => `${name}: ${text}`)
  expect(facts).toEqual(
    expect.arrayContaining([
      'prefillUser: header Version. may be "v2"',
      'prefillUser: takes a body of application/json, Prefill',
      'prefillUser: answer 200. may be "prefill saved"',
      'prefillUser: answers 409 with the code prefill_superseded',
      'prefillUser: answers 409 with application/problem+json, Problem',
      'prefillUser: answers 429 with the header Retry-After',
      'prefillUser: header Idempotency-Key. must look like ^[!-~]+$',
      'receiveEvent: sends a body of application/json, WebhookEvent',
      'cancelUser: query reason. may be "nonpayment"',
      'User: conditions. may be "swappending"',
      'NewWebhook: events. may be "user_erased"',
      'Prefill: userid. has at most 128 characters',
      'issueToken: needs body.grant_type',
    ]),
  )
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
