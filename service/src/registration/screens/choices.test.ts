import { expect, test } from 'vitest'
import { withGroup } from '../session/person.ts'
import { checkConsents, parseOneOf } from '../steps/step.ts'
import { errorText, isFaulty } from '../views/faults.ts'
import { sayIn } from '../views/say.ts'
import { parseBenefits } from './benefits/choose.ts'
import { parseSwap } from './swap/confirm.ts'

function form(...pairs: [string, string][]) {
  return new URLSearchParams(pairs)
}
const allowed = { selectable: ['dental', 'vision', 'gym'], slots: 2, required: false }

test('chosen benefits come in the order shown, each once', () => {
  const posted = form(['benefit', 'vision'], ['benefit', 'dental'], ['benefit', 'vision'])
  expect(parseBenefits(posted, allowed)).toEqual(['dental', 'vision'])
})

test('more than fit, none where one is needed, and one that is closed are refused', () => {
  const all = form(['benefit', 'dental'], ['benefit', 'vision'], ['benefit', 'gym'])
  expect(parseBenefits(all, allowed)).toMatchObject({ errors: [{ code: 'benefits_many', count: 2 }] })
  expect(parseBenefits(form(), { ...allowed, required: true })).toMatchObject({
    errors: [{ code: 'benefits_missing' }],
  })
  expect(parseBenefits(form(), allowed)).toEqual([])
  expect(parseBenefits(form(['benefit', 'legal']), allowed)).toMatchObject({
    errors: [{ code: 'benefit_unavailable' }],
  })
})

const swappable = { held: ['dental', 'vision'], available: ['gym', 'legal'], freeslots: 1 }

test('a swap pairs what comes in with what goes out, then fills free places', () => {
  const posted = form(['replace.dental', ''], ['replace.free1', 'legal'], ['replace.vision', 'gym'])
  expect(parseSwap(posted, swappable)).toEqual([
    { add: 'gym', remove: 'vision' },
    { add: 'legal', remove: undefined },
  ])
})

test('an empty swap, a benefit chosen twice and one that is not on offer are refused', () => {
  expect(parseSwap(form(), swappable)).toBeUndefined()
  expect(parseSwap(form(), { held: [], available: ['gym'], freeslots: 0 })).toBeUndefined()
  expect(parseSwap(form(['replace.dental', 'gym'], ['replace.vision', 'gym']), swappable)).toBeUndefined()
  expect(parseSwap(form(['replace.dental', 'vision']), swappable)).toBeUndefined()
})

test('one of several answers must be one that is open', () => {
  const parse = (value: string) =>
    parseOneOf(form(['offername', value]), { input: 'offername', code: 'offer_missing' }, ['plus'])
  expect(parse('plus')).toBe('plus')
  expect(isFaulty(parse('gold'))).toBe(true)
})

test('a consent counts only for the version that was shown', () => {
  const wanted = [
    { name: 'terms', version: '2', title: 'Terms' },
    { name: 'health', version: '1', title: 'Health' },
  ]
  const both = form(['consent.terms', '2'], ['consent.health', '1'])
  expect(checkConsents(both, wanted, 'enroll')).toBeUndefined()
  const former = form(['consent.terms', '1'], ['consent.health', '1'])
  expect(checkConsents(former, wanted, 'confirm')).toMatchObject({
    errors: [{ input: 'consent.terms', code: 'consent_unconfirmed' }],
  })
  expect(checkConsents(former, wanted, 'enroll')).toEqual({
    errors: [{ input: 'consent.terms', code: 'consent_missing', about: 'Terms' }],
  })
})

test('whoever does not agree reads what they can do instead, where there is something', () => {
  const wanted = [
    { name: 'records', version: '1', title: 'Records' },
    { name: 'terms', version: '2', title: 'Terms' },
  ]
  const wayOut = (name: string) => (name === 'terms' ? ('otherplan' as const) : undefined)
  const refused = checkConsents(form(), wanted, 'enroll', wayOut)
  const say = (locale: 'en' | 'es') => refused?.errors.map(error => errorText(sayIn({ locale }), error))
  expect(say('en')).toEqual([
    'Select the box to agree before enrolling: Records',
    'Select the box to agree before enrolling, or go back and choose another plan: Terms',
  ])
  expect(say('es')).toEqual([
    'Marque la casilla para aceptar antes de inscribirse: Records',
    'Marque la casilla para aceptar antes de inscribirse, o vuelva atrás y elija otro plan: Terms',
  ])
})

test('a single consent that is missing needs no name', () => {
  expect(checkConsents(form(), [{ name: 'terms', version: '2', title: 'Terms' }], 'enroll')).toEqual({
    errors: [{ input: 'consent.terms', code: 'consent_missing' }],
  })
})

test('an answer replaces its own group, and what the page does not ask for stays', () => {
  const address = { city: 'Tampa' }
  const person = { firstname: 'Ada', phone: '3055550100', state: 'FL', address, memberids: { dental: 'D-1' } }
  expect(withGroup(person, { address: { city: 'Miami' } }, 'address')).toEqual({
    ...{ firstname: 'Ada', phone: '3055550100', memberids: { dental: 'D-1' } },
    address: { city: 'Miami' },
  })
})
