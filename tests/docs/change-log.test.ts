import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  compareFacts,
  describeInterface,
  type Fact,
  factsOf,
  interfaceChanges,
  unreleasedChanges,
} from '../../contract/src/index.ts'
import { send } from '../api/raw.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'

const released = JSON.parse(
  readFileSync(new URL('../../contract/released.json', import.meta.url), 'utf8'),
) as Fact[]
const today = factsOf(
  describeInterface({ baseUrl: 'https://benefits.example.com', version: '1.0.2', sandbox: true }),
)

describe('since the last release of the description', () => {
  const entriesOf = ({ name }: Fact) => unreleasedChanges.filter(({ names }) => names.includes(name))

  test('every change has an entry in contract/src/changes.ts (a new release: scripts/release-description.mjs)', () => {
    const untold = compareFacts(released, today).filter(({ fact }) => entriesOf(fact).length === 0)
    expect(untold.map(({ fact }) => `${fact.name}: ${fact.text}`)).toEqual([])
  })

  test('every change that breaks a program is marked as breaking', () => {
    const unmarked = compareFacts(released, today).filter(
      ({ fact, breaks }) => breaks && !entriesOf(fact).some(({ breaking }) => breaking),
    )
    expect(unmarked.map(({ fact }) => `${fact.name}: ${fact.text}`)).toEqual([])
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
