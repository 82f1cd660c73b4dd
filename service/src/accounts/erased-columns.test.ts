import { expect, test } from 'vitest'
import { users } from '../membership/records/tables.ts'
import { newUser, type User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'
import { eraseUsers } from '../membership/saving/save-erasures.ts'
import type { Partner } from '../partners/partner.ts'
import { eraseAccount } from './lifecycle.ts'

/** What an erasure leaves of the row of a user; every other column is empty afterwards. Nothing here names or describes the person. */
const kept = [
  'partner_id',
  'service_id',
  'status',
  'created_at',
  'updated_at',
  'erased_at',
  'prefill_count',
  'prefill_written_at',
]

const made = { uuid: '01980000-0000-7000-8000-000000000001', text: 'made up', integer: 7, boolean: true }
const values: Readonly<Record<string, unknown>> = { ...made, timestamptz: 1_700_000_000_000, jsonb: [] }

test('an erasure clears each column of a user, or the column is listed as kept', () => {
  const row = Object.entries(users.columns).map(([name, { type }]) => [name, values[type]])
  const stored = users.ofRow({ ...Object.fromEntries(row), status: 'cancelled' })
  const user: User = { ...stored, enrolments: [], consents: [], designations: [] }
  expect(Object.values(users.columns).filter(({ get }) => (get(user) ?? null) === null)).toEqual([])

  const { user: after } = eraseAccount(user, 1_800_000_000_000, {} as Terms)
  const partner = { hashKey: Buffer.alloc(32) } as Partner
  const [cleared = ''] = eraseUsers([{ user: after, name: 'hash', partner, key: undefined, toldLines: 0 }], 0)
    .map(({ text }) => text)
    .filter(text => text.trim().startsWith('update users u set userid = row.name'))
  const empty = newUser({ partnerId: user.partnerId, serviceId: user.serviceId, userid: user.userid, at: 0 })
  const left = Object.entries(users.columns)
    .filter(([name, { get }]) => get(after) !== get(empty) && !new RegExp(`\\b${name} = `).test(cleared))
    .map(([name]) => name)
  expect(left.filter(name => !kept.includes(name))).toEqual([])
  expect(cleared).toContain('userid = row.name')
})
