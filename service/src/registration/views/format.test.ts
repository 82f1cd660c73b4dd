import { expect, test } from 'vitest'
import { deadlineText, instantText } from './format.ts'
import type { Page } from './surroundings.ts'

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
