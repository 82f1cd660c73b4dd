import { expect, test } from 'vitest'
import { sentencesOf } from './cards.ts'

test.each([
  ['en', ['Illness.', 'Racing, and accidents while drunk.']],
  ['en', ['Stays outside the U.S. Virgin Islands.', 'Cosmetic surgery.']],
  ['en', ['Visits to a dentist other than Dr. Smith or St. Mary Hospital.', 'You pay $1,234.50 a night.']],
  ['en', ['From 9 a.m. Monday to 5 p.m. Friday.', 'Call 911 first!']],
  ['en', ['Visits to a person with a Ph.D. Medicine in ward no. 6 vs. Emergency care.', 'Nothing else.']],
  ['es', ['Otros seguros (p. ej. Medicare), de aprox. 20 días o máx. Dos meses.', 'Nada más.']],
  ['es', ['Accidentes fuera de EE. UU. y sus territorios.', 'Cirugía estética.']],
  ['es', ['Las consultas de la Dra. Peña y del Prof. Gómez.', '¿Tiene dudas?', 'Llame al Sr. Ruiz.']],
] as const)('in %s the sentences %j are found in their text', (locale, sentences) => {
  const text = sentences.join(' ')
  expect(sentencesOf({ en: text, es: text }, locale)).toEqual(sentences)
})

test('a paragraph ends a sentence, and nothing of a text is lost', () => {
  const text = 'Stays in the U.S.\n\nCosmetic surgery. By Dr.'
  expect(sentencesOf({ en: text, es: text }, 'en')).toEqual([
    'Stays in the U.S.',
    'Cosmetic surgery.',
    'By Dr.',
  ])
})
