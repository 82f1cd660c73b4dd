import { expect, test } from 'vitest'
import { partnerAttemptOf } from './view.ts'

const row = {
  attempt_id: 'a',
  endpoint_id: 'e',
  attempt: 1,
  started_at: 0,
  pair: null,
  status: null,
  address: null,
  connect_ms: null,
  tls_ms: null,
  first_byte_ms: null,
  answer: null,
}

test('a name that nobody knows and one with a forbidden address look the same to a partner', () => {
  const unknown = partnerAttemptOf({ ...row, error_class: 'dns', dns_ms: 30, total_ms: 31 } as never)
  const inside = partnerAttemptOf({ ...row, error_class: 'blocked_address', dns_ms: 2, total_ms: 3 } as never)
  expect(inside).toEqual(unknown)
})
