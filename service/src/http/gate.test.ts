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
