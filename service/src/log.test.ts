import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import { describeCause, type LogLevel, levelOf, listedEvents, openLog, REPEAT_MS } from './log.ts'

afterEach(() => {
  vi.useRealTimers()
})

function opened(least?: LogLevel) {
  const writes: string[] = []
  const { log, flush } = openLog({ write: text => writes.push(text) }, () => Date.UTC(2026, 0, 2), least)
  const lines = () =>
    writes
      .join('')
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line) as Record<string, unknown>)
  return { writes, lines, log, flush }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = execFileSync(
  'git',
  ['-c', 'safe.directory=*', 'ls-files', 'service/src', 'embedded-postgres/src'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map(file => readFileSync(`${root}/${file}`, 'utf8'))

/** The events that the source writes, wherever their name appears in the call. */
const events = new Set(
  sources.flatMap(text =>
    [...text.matchAll(/\blog\(([^,)]*)/g)].flatMap(([, first = '']) =>
      [...first.matchAll(/'([a-z_.]+)'/g)].map(([, name = '']) => name),
    ),
  ),
)

test('every event of the source is told by its level: what fails is never info, and nothing is listed that is not written', () => {
  expect(listedEvents.filter(event => !events.has(event))).toEqual([])
  expect(
    [...events].filter(
      event => /fail|lost|died|crash|unreadable|_not_/.test(event) && levelOf(event) === 'info',
    ),
  ).toEqual([])
})

test('every event of the source stands in docs/operating.md', () => {
  const told = readFileSync(`${root}/docs/operating.md`, 'utf8')
  const isOther = (event: string) => event.startsWith('webhook_') && told.includes('other `webhook_…`')
  expect([...events].filter(event => !told.includes(`\`${event}\``) && !isOther(event))).toEqual([])
})

test.each([
  ['error', ['failure']],
  ['warn', ['shed', 'failure']],
  ['info', ['request', 'shed', 'failure']],
] as const)('with %s as the least, nothing below it is written', (least, expected) => {
  const { lines, log, flush } = opened(least)
  for (const event of ['request', 'shed', 'failure']) log(event)
  flush()
  expect(lines().map(({ event, level }) => ({ event, level }))).toEqual(
    expected.map(event => ({ event, level: levelOf(event) })),
  )
})

test('a failure that repeats is told once and then counted, whichever request it meets', () => {
  vi.useFakeTimers()
  const { lines, log, flush } = opened()
  const cause = describeCause(new TypeError('away'))
  for (const requestid of ['1', '2', '3', '4']) log('failure', { requestid, code: 'unavailable', ...cause })
  log('failure', { requestid: '5', code: 'internal', ...cause })
  vi.advanceTimersByTime(100)
  expect(lines().map(line => [line['requestid'], line['code'], line['times']])).toEqual([
    ['1', 'unavailable', undefined],
    ['5', 'internal', undefined],
  ])
  vi.advanceTimersByTime(REPEAT_MS)
  expect(lines().slice(2)).toEqual([
    expect.objectContaining({
      requestid: '4',
      code: 'unavailable',
      times: 3,
      since: '2026-01-02T00:00:00.000Z',
    }),
  ])
  // A failure that stayed away for a minute is logged again.
  log('failure', { requestid: '6', code: 'unavailable', ...cause })
  log('failure', { requestid: '7', code: 'unavailable', ...cause })
  flush()
  expect(
    lines()
      .slice(3)
      .map(line => [line['requestid'], line['times']]),
  ).toEqual([
    ['6', undefined],
    ['7', 1],
  ])
})

test('what is no failure is told each time', () => {
  const { lines, log, flush } = opened()
  log('shed', { full: 3 })
  log('shed', { full: 3 })
  flush()
  expect(lines()).toHaveLength(2)
})

test('lines are gathered, and leave together and in order', () => {
  const { writes, log, flush } = opened()
  log('first', { route: '/a' })
  log('second')
  expect(writes).toEqual([])
  flush()
  flush()
  expect(writes).toHaveLength(1)
  const lines = writes.join('').trimEnd().split('\n')
  expect(lines.map(line => JSON.parse(line))).toEqual([
    { route: '/a', at: '2026-01-02T00:00:00.000Z', level: 'info', event: 'first' },
    { at: '2026-01-02T00:00:00.000Z', level: 'info', event: 'second' },
  ])
})

test('what nobody flushes is written by itself', async () => {
  const lines = await new Promise<string>(resolve => openLog({ write: resolve }, () => 0).log('alone'))
  expect(lines).toContain('"event":"alone"')
})

test('a value with control characters stays on its line', () => {
  const { writes, log, flush } = opened()
  log('odd', { route: '/a\n{"event":"forged"}' })
  flush()
  expect(writes.join('').match(/\n/g)).toHaveLength(1)
})

test('of an error its place is told beside the instant, and never its message', () => {
  const { writes, log, flush } = opened()
  log('failure', describeCause(new TypeError('Ada Rivera')))
  flush()
  const line = JSON.parse(writes.join(''))
  expect(line).toMatchObject({ cause: 'TypeError', at: '2026-01-02T00:00:00.000Z' })
  expect(line.frames[0]).toContain('log.test.ts')
  expect(writes.join('')).not.toContain('Ada')
})
