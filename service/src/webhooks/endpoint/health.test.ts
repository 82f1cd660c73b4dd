import { expect, test } from 'vitest'
import type { Assessment } from './assessment.ts'
import { goodHealth, healthAfter, review } from './health.ts'

const HOUR = 3_600_000
const start = 1_000_000_000
const failed: Assessment = { kind: 'failed', blame: 'endpoint' }

test('72 h after the first failure since the last success the endpoint is disabled, with three notices before', () => {
  let health = goodHealth()
  const actions: [number, string][] = []
  for (let minute = 0; minute <= 72 * 60; minute += 10) {
    const step = healthAfter(health, failed, start + minute * 60_000)
    health = step.health
    if (step.action.kind !== 'none') actions.push([minute / 60, step.action.kind])
  }
  expect(actions).toEqual([
    [1, 'notice'],
    [24, 'notice'],
    [48, 'notice'],
    [72, 'disable'],
  ])
})

test('a notice says since when it fails and when it will be disabled', () => {
  const { health } = healthAfter(goodHealth(), failed, start)
  expect(review(health, start + HOUR).action).toEqual({
    kind: 'notice',
    failingSince: start,
    disablesAt: start + 72 * HOUR,
  })
})

test('time counts also while nothing is due, and a missed notice is given once', () => {
  const { health } = healthAfter(goodHealth(), failed, start)
  const late = review(health, start + 50 * HOUR)
  expect(late.action.kind).toBe('notice')
  expect(review(late.health, start + 51 * HOUR).action.kind).toBe('none')
  expect(review(late.health, start + 72 * HOUR - 1).action.kind).toBe('none')
  expect(review(late.health, start + 72 * HOUR).action).toEqual({ kind: 'disable', because: 'failing' })
})

test('one success starts the count anew', () => {
  const failing = healthAfter(goodHealth(), failed, start)
  const healed = healthAfter(failing.health, { kind: 'delivered' }, start + 71 * HOUR)
  expect(healed).toEqual({ health: goodHealth(), action: { kind: 'none' } })
  const again = healthAfter(healed.health, failed, start + 72 * HOUR)
  expect(again).toEqual({
    health: { failingSince: start + 72 * HOUR, notices: 0 },
    action: { kind: 'none' },
  })
})

test('a fault of our own counts for nothing, and 410 disables at once', () => {
  const own = healthAfter(goodHealth(), { kind: 'unspent', fault: 'resolver' }, start)
  expect(own).toEqual({ health: goodHealth(), action: { kind: 'none' } })
  expect(healthAfter(goodHealth(), { kind: 'gone' }, start).action).toEqual({
    kind: 'disable',
    because: 'gone',
  })
})

test('an endpoint that never failed needs nothing, however long it is silent', () => {
  expect(review(goodHealth(), start + 10_000 * HOUR).action).toEqual({ kind: 'none' })
})
