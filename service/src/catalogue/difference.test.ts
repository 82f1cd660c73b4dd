import { expect, test } from 'vitest'
import { fileOf, lifeCatalogue, type TestCatalogue } from '../../../tests/life/catalogue.ts'
import { type Difference, differencesOf, shortened } from './difference.ts'
import type { Catalogue } from './model.ts'
import { parseCatalogue } from './parse.ts'

function lineOf({ kind, name, field, from, to }: Difference): string {
  return `${kind} ${name}: ${field}: ${from} → ${to}`
}

function read(catalogue: TestCatalogue): Catalogue {
  const parsed = parseCatalogue(fileOf(catalogue))
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.catalogue
}

test('the same content has no difference, whatever order the file has', () => {
  const turned = { ...lifeCatalogue, offers: [...lifeCatalogue.offers].reverse() }
  expect(differencesOf(read(lifeCatalogue), read(turned))).toEqual([])
})

test('what is new, gone and changed is told in words, field by field', () => {
  const { benefits, offers } = lifeCatalogue
  const next: TestCatalogue = {
    benefits: [
      ...benefits
        .filter(one => one.name !== 'care')
        .map(one => (one.name === 'extra' ? { ...one, notin: ['NY', 'VT'], maxAge: 64 } : one))
        .map(one => (one.name === 'gold' ? { ...one, consent: 'v2' } : one)),
      { name: 'zeal' },
    ],
    offers: offers.map(one => ({ ...one, selectable: one.selectable.filter(name => name !== 'care') })),
  }
  const lines = differencesOf(read(lifeCatalogue), read(next)).map(lineOf)
  expect(lines).toEqual(
    expect.arrayContaining([
      'benefit care: : care → ',
      'benefit zeal: :  → zeal',
      'benefit extra: rules state_left_out states: notin NY → notin NY, VT',
      'benefit extra: rules too_old age:  → max 64',
      'benefit gold: consent version: v1 → v2',
      'offer top: selectable: art, books, care, dental, eyes, fit → art, books, dental, eyes, fit',
    ]),
  )
  const back = differencesOf(read(next), read(lifeCatalogue)).map(lineOf)
  expect(back).toContain('benefit extra: rules too_old age: max 64 → ')
})

test('long texts are shown from shortly before they part', () => {
  const codes = Array.from({ length: 2000 }, (_, index) => String(10_000 + index))
  const from = codes.join(', ')
  const shown = shortened({ from, to: from.replace('11500', '99999') })
  expect(shown.to).toContain('99999')
  expect(shown.from).toContain('11500')
  expect(shown.to.length).toBeLessThan(260)
})
