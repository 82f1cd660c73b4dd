import { DateTime } from 'luxon'
import { expect } from 'vitest'
import { monthAfter } from './catalogue-rules.ts'
import type { Life } from './reference-model.ts'
import { routeOf } from './reference-tiles.ts'
import { person, type StagePartner } from './stage.ts'

/**
 * Each tile leads where the model would allow it to lead, for the user's own offer or a requested one. Only one instant
 * in three is compared, because this takes the model as long as everything else.
 */
export async function compareTiles(
  partner: StagePartner,
  userid: string,
  { life, now, context }: { life: Life; now: number; context: string },
): Promise<void> {
  const second = Math.floor(now / 1000)
  if (life.status === 'none' || life.status === 'erased' || second % 3 > 0) return
  const offername = offers[second % offers.length] ?? ''
  const { state, age, isSettled } = askerOf(life, now)
  const asks = { userid, age, state: state as 'FL', zipcode: person.zipcode, offername }
  const tiles = (await partner.client.getBenefits(asks))
    .map(one => [one.name, one.deeplinkdata.split('redirectto=')[1]])
    // A request has only one age, whatever the age will be later.
    .filter(([name]) => isSettled || name !== 'grow')
  const expected = tiles.map(([name]) => [name, routeOf(life, name ?? '', now)])
  expect(tiles, `${context} ${offername}`).toEqual(expected)
}

const offers = ['', '', 'low', 'mid', 'top']

/** The data of a person in a request; `isSettled`: the age does not change before a pick of today has begun. */
function askerOf({ person: { state, dob, zone }, since }: Life, now: number) {
  const born = DateTime.fromISO(dob || person.dob, { zone })
  const start = Math.max(since, now)
  const [age = 0, ...later] = [now, start, monthAfter(start, zone)].map(t =>
    Math.floor(DateTime.fromMillis(t, { zone }).startOf('day').diff(born, 'years').years),
  )
  return { state: state || 'FL', age, isSettled: later.every(other => other === age) }
}
