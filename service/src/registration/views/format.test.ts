import { expect, test } from 'vitest'
import { instantText } from './format.ts'

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
