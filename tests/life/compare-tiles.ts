import { DateTime } from 'luxon'
import { expect } from 'vitest'
import { monthAfter } from './catalogue-rules.ts'
import type { Life } from './reference-model.ts'
import { routeOf } from './reference-tiles.ts'
import { person, type StagePartner } from './stage.ts'

/**
 * Each tile leads where the model would be let: of the user's own offer, or of one that is asked for. At one instant in
 * three, as finding out takes the model as long as all the rest.
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
    // A request tells of one age only, whatever is going to be.
    .filter(([name]) => isSettled || name !== 'grow')
  const expected = tiles.map(([name]) => [name, routeOf(life, name ?? '', now)])
  expect(tiles, `${context} ${offername}`).toEqual(expected)
}

const offers = ['', '', 'low', 'mid', 'top']

/** What a request says of the person; settled where the age stays until what is picked now has begun. */
function askerOf({ person: { state, dob, zone }, since }: Life, now: number) {
  const born = DateTime.fromISO(dob || person.dob, { zone })
  const start = Math.max(since, now)
  const [age = 0, ...later] = [now, start, monthAfter(start, zone)].map(t =>
    Math.floor(DateTime.fromMillis(t, { zone }).startOf('day').diff(born, 'years').years),
  )
  return { state: state || 'FL', age, isSettled: later.every(other => other === age) }
}
