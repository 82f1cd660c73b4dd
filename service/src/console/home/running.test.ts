import { expect, test } from 'vitest'
import { describeRunning } from './screens.ts'

const fine = { runs: true, quiet_since: null, dueMs: 0, webhookMs: 1000, zone: 'UTC' }

test.each([
  ['on time', fine, 'The service runs: due changes are on time, webhooks to healthy endpoints are on time'],
  ['due changes late', { ...fine, dueMs: 3_600_000 }, 'due changes are 60 minutes late, webhooks'],
  ['webhooks late', { ...fine, webhookMs: 180_000 }, 'webhooks to healthy endpoints are 3 minutes late'],
  ['no process', { ...fine, runs: false }, 'the service does not run'],
  ['a quiet copy', { ...fine, quiet_since: 0 }, 'This copy is quiet since'],
])('the line about the service: %s', (_, running, words) => {
  expect(describeRunning(running).markup).toContain(words)
})
