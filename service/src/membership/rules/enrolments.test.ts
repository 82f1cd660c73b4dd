import { expect, test } from 'vitest'
import { DAY_MS, startOfDate } from '../../calendar/calendar.ts'
import type { Benefit } from '../../catalogue/model.ts'
import { waitsUntil, withAgeEnd } from './enrolments.ts'
import type { Enrolment } from './state.ts'
import type { Terms } from './terms.ts'

const zone = 'America/New_York'
const now = startOfDate('2027-03-10', zone)
const enrolment = { state: 'enrolled', startsAt: now, ownEnd: undefined } as Enrolment
/** Ends at 66, which this person becomes on 2027-03-14. */
const benefit = { endsatage: 66 } as Benefit
const residence = { dob: '1961-03-14', state: 'FL', zipcode: '33101' } as const
const terms: Pick<Terms, 'zone' | 'residence'> = { zone, residence: () => residence }

test('cover that ends at an age lasts to the end of that month, and cover that starts later to the end of its first', () => {
  const endOf = (startsAt: number) =>
    withAgeEnd({ ...enrolment, startsAt }, benefit, { now, terms: terms as Terms }).ownEnd
  expect(endOf(now)).toEqual({ at: startOfDate('2027-04-01', zone), reason: 'endsatage' })
  expect(endOf(startOfDate('2027-05-20', zone))).toEqual({
    at: startOfDate('2027-06-01', zone),
    reason: 'endsatage',
  })
})

test('an enrolment waits until it is due, or until a change or an age ends it before', () => {
  const waiting = { ...enrolment, state: 'actionrequired', actionDueAt: now + 30 * DAY_MS } as const
  expect(waitsUntil(waiting)).toBe(now + 30 * DAY_MS)
  expect(waitsUntil({ ...waiting, endsAt: now + 20 * DAY_MS })).toBe(now + 20 * DAY_MS)
  expect(waitsUntil({ ...waiting, ownEnd: { at: now + 10 * DAY_MS, reason: 'endsatage' } })).toBe(
    now + 10 * DAY_MS,
  )
  expect(waitsUntil(enrolment)).toBeUndefined()
})
