import { expect, test } from 'vitest'
import { type Enrolment, newUser, type User } from '../../../membership/rules/state.ts'
import { lostBetween, pathAfter } from './lost-cover.ts'

const inForce: Enrolment = {
  id: 'one',
  benefit: 'dental',
  offer: 'small',
  isFixed: false,
  state: 'enrolled',
  pendingBy: undefined,
  version: 1,
  pickedAt: 0,
  startsAt: 0,
  endsAt: undefined,
  ownEnd: undefined,
  actionDueAt: undefined,
  isSingle: false,
  closeReason: undefined,
}

function userWith(...enrolments: Enrolment[]): User {
  return { ...newUser({ partnerId: 'p', serviceId: 's', userid: 'u', at: 0 }), status: 'active', enrolments }
}
function lost(was: Partial<Enrolment>, becomes: Partial<Enrolment>): string[] {
  const before = { ...inForce, ...was }
  return lostBetween(userWith(before), userWith({ ...before, ...becomes }))
}

test.each([
  ['gets an end', {}, { ownEnd: { at: 9, reason: 'ineligible' } }],
  [
    'gets an earlier end',
    { ownEnd: { at: 9, reason: 'endsatage' } },
    { ownEnd: { at: 5, reason: 'endsatage' } },
  ],
  ['ends before a planned cancel', { endsAt: 9 }, { ownEnd: { at: 5, reason: 'endsatage' } }],
  ['is withdrawn', { state: 'scheduled' }, { state: 'withdrawn', closeReason: 'ineligible', endsAt: 1 }],
  ['was planned and will not come', { state: 'scheduled', pendingBy: 'swap' }, { state: 'withdrawn' }],
] as const)('a benefit that %s is lost', (_, was, becomes) => {
  expect(lost(was, becomes)).toEqual(['dental'])
})

test.each([
  ['stays', {}, {}],
  ['had that end', { ownEnd: { at: 9, reason: 'ineligible' } }, {}],
  ['loses its end', { ownEnd: { at: 9, reason: 'ineligible' } }, { ownEnd: undefined }],
  ['ends later', { ownEnd: { at: 5, reason: 'endsatage' } }, { ownEnd: { at: 9, reason: 'endsatage' } }],
  ['ends then by a planned cancel', { endsAt: 9 }, { ownEnd: { at: 9, reason: 'ineligible' } }],
  ['was over', { state: 'ended' }, {}],
  [
    'stays planned',
    { state: 'scheduled', pendingBy: 'swap', endsAt: 5, ownEnd: { at: 5, reason: 'endsatage' } },
    {},
  ],
] as const)('a benefit that %s is not lost', (_, was, becomes) => {
  expect(lost(was, becomes)).toEqual([])
})

test('the path names each benefit, or says that all is saved where none is lost', () => {
  expect(pathAfter([])).toBe('details?saved=yes')
  expect(pathAfter(['dental', 'vision'])).toBe('details?lost=dental&lost=vision')
})
