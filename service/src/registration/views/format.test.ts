import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deadlineText, instantText, priceLines, totalLines, totalText } from './format.ts'
import type { BenefitLine, Cost } from './parts.ts'
import type { Page } from './surroundings.ts'

const en = { locale: 'en' } as const
const es = { locale: 'es' } as const
const free: Cost = { kind: 'nothing' }
function monthly(amount: number, taken?: { by: string; how: string }): Cost {
  return { kind: 'amount', amount, currency: 'USD', per: 'month', ...(taken ? { taken } : {}) }
}
const payout = { by: 'Harbor Rides', how: 'from your weekly payout' }

test('where all is free, one word says so', () => {
  expect(priceLines(en, [free, free])).toEqual(['Free'])
  expect(priceLines(es, [free])).toEqual(['Gratis'])
})

test('one way of paying is one sentence with the sum', () => {
  expect(priceLines(en, [monthly(6.5, payout), free, monthly(12.5, payout)])).toEqual([
    'You pay $19.00 a month, taken from your weekly payout by Harbor Rides.',
  ])
})

test('several ways of paying stand each below the sum', () => {
  const costs: Cost[] = [
    monthly(6.5, payout),
    monthly(12.5),
    { kind: 'amount', amount: 2, currency: 'USD', per: 'week' },
  ]
  expect(priceLines(en, costs)).toEqual([
    'You pay $19.00 a month and $2.00 a week.',
    'You pay $6.50 a month, taken from your weekly payout by Harbor Rides.',
    'You pay $12.50 a month.',
    'You pay $2.00 a week.',
  ])
})

test('a sum of cents is never off by a fraction', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 99_999 }), { minLength: 1 }), cents => {
      const sum = cents.reduce((all, one) => all + one, 0)
      const text = totalText(
        en,
        cents.map(one => monthly(one / 100)),
      )
      expect(text.replace(/[^\d]/g, '')).toBe(`${Math.floor(sum / 100)}${String(sum % 100).padStart(2, '0')}`)
    }),
  )
})

test('a total with the price of what has not started and waits for the person says so', () => {
  const line = (more: Partial<BenefitLine>) => ({ name: 'x', displayname: 'X', iconurl: '', ...more })
  const told = (more: Partial<BenefitLine>) =>
    totalLines(en, [line({ cost: monthly(3) }), line({ cost: monthly(2), ...more })])
  const includes = 'This includes benefits that still wait for something from you and have not started.'
  expect(told({ actionrequired: true })).toEqual(['You pay $5.00 a month.', includes])
  expect(told({ waits: { by: '2027-03-01' } })).toEqual(['You pay $5.00 a month.', includes])
  expect(told({ actionrequired: true, cost: free })).toEqual(['You pay $3.00 a month.'])
  expect(told({ actionrequired: true, pending: 'goes' })).not.toContain(includes)
  expect(told({})).toEqual(['You pay $5.00 a month.'])
})

test.each([
  ['America/New_York', 'Eastern time', 'hora del Este'],
  ['America/Denver', 'Mountain time', 'hora de la Montaña'],
  ['America/Phoenix', 'Arizona time', 'hora de Arizona'],
  ['America/Puerto_Rico', 'Puerto Rico time', 'hora de Puerto Rico'],
  ['America/Anchorage', 'Alaska time', 'hora de Alaska'],
  ['Pacific/Honolulu', 'Hawaii time', 'hora de Hawái'],
  ['Pacific/Guam', 'Guam time', 'hora de Guam'],
  ['Pacific/Pago_Pago', 'Samoa time', 'hora de Samoa'],
  ['America/Mexico_City', 'Central Standard time', 'hora estándar central'],
  ['Europe/Madrid', 'Central European time', 'hora de Europa central'],
  ['UTC', 'UTC', 'UTC'],
])('an instant in %s names the zone so that it is right all year round', (zone, english, spanish) => {
  for (const at of [Date.UTC(2027, 0, 5, 12), Date.UTC(2027, 6, 5, 12)]) {
    expect(instantText({ locale: 'en', zone }, at)).toMatch(new RegExp(` \\(${english}\\)$`))
    expect(instantText({ locale: 'es', zone }, at)).toMatch(new RegExp(` \\(${spanish}\\)$`))
  }
})

test.each([
  [1, 'a la 1:05 a.m.'],
  [11, 'a las 11:05 a.m.'],
  [12, 'a las 12:05 p.m.'],
  [13, 'a la 1:05 p.m.'],
  [15, 'a las 3:05 p.m.'],
])('in Spanish the hour %i has its own article', (hour, words) => {
  const page = { locale: 'es', zone: 'UTC' } as Page
  const at = Date.UTC(2027, 0, 5, hour, 5)
  expect(instantText(page, at).replaceAll('\u00a0', ' ')).toContain(`2027 ${words}`)
  expect(deadlineText(page, at).replaceAll('\u00a0', ' ')).toContain(`enero ${words}`)
})
