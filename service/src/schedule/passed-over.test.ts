import { expect, test } from 'vitest'
import { openPassedOver } from './passed-over.ts'

const minute = 60_000
const ada = { partnerId: 'p', userid: 'ada', dueAt: 0 }
const eve = { partnerId: 'p', userid: 'eve', dueAt: 0 }

test('a user whose change fails is passed over, for longer each time, and no other user is', () => {
  const passedOver = openPassedOver()
  passedOver.failed(ada, 0)
  expect(passedOver.at(minute / 2 - 1)).toEqual([ada])
  expect(passedOver.at(minute / 2)).toEqual([])
  passedOver.failed(ada, minute / 2)
  expect(passedOver.at(minute)).toEqual([ada])
  passedOver.applied(ada)
  expect(passedOver.at(minute)).toEqual([])
  passedOver.failed(ada, minute)
  expect(passedOver.at(minute * 1.5)).toEqual([])
})

test('a user whose row cannot be written is always passed over for half a minute', () => {
  const passedOver = openPassedOver()
  for (const now of [0, minute, 2 * minute, 3 * minute]) {
    passedOver.couldNotWrite(eve, now)
    expect(passedOver.at(now)).toEqual([eve])
    expect(passedOver.at(now + minute / 2)).toEqual([])
  }
})

test('a user who is not found due again, as after an erasure, is forgotten', () => {
  const passedOver = openPassedOver()
  passedOver.failed(ada, 0)
  passedOver.couldNotWrite(eve, 0)
  passedOver.at(10 * minute)
  expect(passedOver.count()).toBe(2)
  passedOver.at(11 * minute)
  expect(passedOver.count()).toBe(0)
})
