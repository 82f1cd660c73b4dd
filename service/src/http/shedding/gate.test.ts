import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openGate } from './gate.ts'

const limits = { inFlight: 10, reserved: 4, loopDelayMs: 100 }

test('whatever comes and goes, it never holds more than twice its room, and nothing is left once all have gone', () => {
  const steps = fc.array(fc.record({ partner: fc.constantFrom('a', 'b', 'c', ''), isIn: fc.boolean() }), {
    maxLength: 200,
  })
  fc.assert(
    fc.property(steps, all => {
      const gate = openGate(limits)
      const inside: string[] = []
      for (const { partner, isIn } of all) {
        const at = inside.indexOf(partner)
        if (!isIn && at >= 0) gate.leave(inside.splice(at, 1)[0] ?? '')
        else if (isIn && !gate.refusalOf(partner, 'urgent')) {
          gate.enter(partner)
          inside.push(partner)
        }
        expect(gate.numbers()).toMatchObject({ inFlight: inside.length, partners: new Set(inside).size })
        expect(inside.length).toBeLessThanOrEqual(20)
      }
      for (const partner of inside) gate.leave(partner)
      expect(gate.numbers()).toMatchObject({ inFlight: 0, partners: 0 })
    }),
  )
})

test('it is open to all exactly when nobody would be refused', () => {
  fc.assert(
    fc.property(fc.nat(20), fc.integer({ min: 0, max: 1000 }), (count, delay) => {
      const gate = openGate(limits)
      for (let index = 0; index < count; index += 1) gate.enter('a')
      gate.noteDelay(delay)
      for (const rank of ['ordinary', 'prefill', 'urgent'] as const)
        expect(gate.isOpenTo(rank)).toBe(gate.refusalOf('a', rank) === undefined)
    }),
  )
})

test('a partner that holds everything is refused while another waits, and one that waits is admitted', () => {
  const gate = openGate(limits)
  for (let index = 0; index < 6; index += 1) gate.enter('a')
  expect([gate.refusalOf('a', 'ordinary'), gate.refusalOf('b', 'ordinary')]).toEqual(['full', undefined])
  gate.enter('b')
  expect([gate.refusalOf('a', 'ordinary'), gate.refusalOf('b', 'ordinary')]).toEqual(['share', undefined])
})

test('a delay that stands closes it, and it opens as soon as the delay is gone', () => {
  const gate = openGate(limits)
  for (let index = 0; index < 3; index += 1) gate.enter('a')
  expect(gate.isOpenTo('ordinary')).toBe(true)
  gate.noteDelay(200)
  expect(gate.refusalOf('a', 'ordinary')).toBe('delay')
  gate.noteDelay(0)
  expect(gate.isOpenTo('ordinary')).toBe(true)
})

const timed = { inFlight: 100, reserved: 0, loopDelayMs: 500, loopShare: 0.5 }

test('a partner whose requests take the loop is refused while another is active, and admitted once it rests', () => {
  let now = 0
  const gate = openGate(timed, () => now)
  gate.charge('a', 1600)
  expect(gate.refusalOf('a', 'ordinary')).toBeUndefined()
  gate.charge('b', 1)
  expect([gate.refusalOf('a', 'ordinary'), gate.refusalOf('b', 'ordinary')]).toEqual(['time', undefined])
  expect([gate.isOpenTo('ordinary'), gate.isOpenTo('urgent')]).toEqual([false, false])
  expect(gate.refusalOf('a', 'urgent')).toBe('time')
  now += 400
  expect([gate.refusalOf('a', 'urgent'), gate.refusalOf('a', 'prefill')]).toEqual([undefined, 'time'])
  now += 1200
  expect(gate.refusalOf('a', 'ordinary')).toBeUndefined()
})

test('one slow request, as the first after a start may be, does not have the next one refused', () => {
  const gate = openGate(timed, () => 0)
  gate.charge('b', 1)
  gate.noteDelay(0, 1000)
  gate.charge('a', 300)
  expect(gate.refusalOf('a', 'ordinary')).toBeUndefined()
})

test('an address that takes the loop alone is refused, although the clock goes on between two looks at it', () => {
  let ms = 0
  const gate = openGate({ ...limits, loopShare: 0.75 }, () => {
    ms += 0.01
    return ms
  })
  for (let count = 0; count < 2000; count += 1) gate.charge('@192.0.2.1', 1)
  gate.charge('b', 1)
  expect(gate.refusalOf('@192.0.2.1', 'ordinary')).toBe('time')
  expect(gate.refusalOf('b', 'ordinary')).toBeUndefined()
})

test('of those whose partner is unknown, the address that takes the loop is refused and the others are not', () => {
  const gate = openGate(timed, () => 0)
  gate.charge('@192.0.2.1', 1600)
  gate.charge('@192.0.2.2', 1)
  gate.charge('b', 1)
  const askers = ['@192.0.2.1', '@192.0.2.2', '@192.0.2.3', 'b', 'c']
  expect(askers.map(asker => gate.refusalOf(asker, 'ordinary'))).toEqual([
    'time',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('what is charged grows until it explains a busy loop, fourfold at most; who rests is forgotten', () => {
  let now = 0
  const gate = openGate(timed, () => now)
  gate.charge('a', 80)
  gate.charge('b', 1)
  gate.noteDelay(0, 1000)
  gate.charge('a', 400)
  expect(gate.refusalOf('a', 'ordinary')).toBe('time')
  now = 60_000
  gate.noteDelay(0, 0)
  gate.charge('a', 4000)
  expect(gate.refusalOf('a', 'ordinary')).toBeUndefined()
})
