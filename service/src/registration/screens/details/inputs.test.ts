import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Language } from '../../../catalogue/model.ts'
import { parseBirthDate } from '../../steps/step.ts'
import { errorText, isFaulty } from '../../views/faults.ts'
import type { DetailsGroup } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import { keptDetails, parseDetails } from './inputs.ts'

const today = '2026-11-20'
function form(fields: Record<string, string>) {
  return new URLSearchParams(fields)
}
const address = { addline1: '', addline2: '', addline3: '', city: '', state: 'FL', zipcode: '33101' }

test.each([
  ['(305) 555-0134', '3055550134'],
  ['+1 305.555.0134', '3055550134'],
  ['1-305-555-0134', '3055550134'],
  ['+52 55 1234 5678', '525512345678'],
  ['３０５５５５０１３４', '3055550134'],
  ['', ''],
])('the phone number %j is kept as %j', (phone, digits) => {
  const parsed = parseDetails('contact', form({ email: 'ana@example.com', phone }), today)
  expect(parsed).toEqual({ email: 'ana@example.com', phone: digits })
})

test.each(['12345', '1234567890123456', '305 CALL NOW', '---'])('the phone number %j is refused', phone => {
  const parsed = parseDetails('contact', form({ email: 'ana@example.com', phone }), today)
  expect(parsed).toMatchObject({
    errors: [{ input: 'phone', code: 'phone_invalid' }],
  })
})

test.each([
  'ana',
  'ana@',
  '@example.com',
  'ana@example',
  'a b@example.com',
  'a@b@example.com',
  'ana@.com',
  '',
])('the email address %j is refused', email => {
  const parsed = parseDetails('contact', form({ email, phone: '' }), today)
  expect(parsed).toMatchObject({
    errors: [{ input: 'email', code: 'email_invalid' }],
  })
})

test.each([
  ['33101', '33101'],
  ['33101-1234', '331011234'],
  ['331011234', '331011234'],
  [' 33101 1234 ', '331011234'],
])('the ZIP code %j is kept as %j', (zipcode, digits) => {
  const parsed = parseDetails('address', form({ ...address, zipcode }), today)
  expect(parsed).toMatchObject({ zipcode: digits, address: { zipcode: digits } })
})

test.each(['3310', '331012', '33101-12', 'ABCDE', ''])('the ZIP code %j is refused', zipcode => {
  const parsed = parseDetails('address', form({ ...address, zipcode }), today)
  expect(parsed).toMatchObject({ errors: [{ code: 'zipcode_invalid' }] })
})

test('an address without a state, or with lines too long, is refused at each input', () => {
  const long = { ...address, addline1: 'x'.repeat(101), city: 'y'.repeat(61), state: 'ZZ' }
  const parsed = parseDetails('address', form(long), today)
  expect(parsed).toMatchObject({
    errors: [
      { input: 'addline1', code: 'line_long', count: 100 },
      { input: 'city', code: 'line_long', count: 60 },
      { input: 'state', code: 'state_missing' },
    ],
  })
})

test('names of any script are kept; missing and endless ones are refused', () => {
  const parse = (firstname: string, lastname: string) =>
    parseDetails('name', form({ firstname, lastname }), today)
  expect(parse(' José  Ángel\u0000 ', '李')).toEqual({ firstname: 'José Ángel', lastname: '李' })
  expect(parse(' ', 'x'.repeat(101))).toMatchObject({
    errors: [
      { input: 'firstname', code: 'firstname_missing' },
      { input: 'lastname', code: 'name_long' },
    ],
  })
})

test.each([
  ['3', '27', '1990', '1990-03-27'],
  ['02', '29', '2000', '2000-02-29'],
  ['11', '20', '2026', '2026-11-20'],
  ['1', '1', '1900', '1900-01-01'],
])('month %s, day %s, year %s is %s', (dobmonth, dobday, dobyear, dob) => {
  expect(parseBirthDate(form({ dobmonth, dobday, dobyear }), today)).toEqual({ dob })
})

test.each([
  ['2', '29', '1900', 'dobday'],
  ['2', '30', '2000', 'dobday'],
  ['', '1', '1990', 'dobmonth'],
  ['13', '1', '1990', 'dobmonth'],
  ['4', '31', '1990', 'dobday'],
  ['4', 'x', '1990', 'dobday'],
  ['4', '3', '', 'dobyear'],
  ['4', '3', '90', 'dobyear'],
  ['-1', '1', '1990', 'dobmonth'],
])('month %j, day %j, year %j is refused at %s', (dobmonth, dobday, dobyear, input) => {
  const typed = { dobmonth, dobday, dobyear }
  expect(parseBirthDate(form(typed), today)).toEqual({
    errors: [{ input, code: 'dob_invalid' }],
  })
})

test.each([
  ['12', '31', '1899', 'dob_early'],
  ['1', '1', '1000', 'dob_early'],
  ['11', '21', '2026', 'dob_future'],
  ['1', '1', '9999', 'dob_future'],
])('a real day is refused for what it is: month %s, day %s, year %s, %s', (...typed) => {
  const [dobmonth, dobday, dobyear, code] = typed
  expect(parseBirthDate(form({ dobmonth, dobday, dobyear }), today)).toEqual({
    errors: [{ input: 'dobyear', code }],
  })
})

test('a gender of ours or none is kept, another is refused', () => {
  expect(parseDetails('gender', form({}), today)).toEqual({ gender: '' })
  expect(parseDetails('gender', form({ gender: 'X' }), today)).toEqual({ gender: 'X' })
  expect(parseDetails('gender', form({ gender: 'Z' }), today)).toMatchObject({
    errors: [{ code: 'gender_unknown' }],
  })
})

test('whatever is typed is either clean or refused for a reason', () => {
  const groups: readonly DetailsGroup[] = ['name', 'dob', 'contact', 'address', 'gender']
  const inputs = Object.keys(keptDetails({}))
  fc.assert(
    fc.property(
      fc.constantFrom(...groups),
      fc.array(fc.string(), { minLength: 14, maxLength: 14 }),
      (group, typed) => {
        const posted = Object.fromEntries(inputs.map((input, at) => [input, typed[at] ?? '']))
        const parsed = parseDetails(group, form(posted), today)
        if (!isFaulty(parsed)) return
        expect(parsed.errors.length).toBeGreaterThan(0)
      },
    ),
  )
})

test('what is known fills the inputs, and comes back unchanged when posted as it is', () => {
  const details = {
    firstname: 'Ana',
    lastname: 'Ruiz',
    dob: '1990-03-07',
    email: 'ana@example.com',
    phone: '3055550134',
    gender: 'F',
    address: { ...address, city: 'Miami' },
  }
  const kept = form(keptDetails(details))
  expect(parseDetails('dob', kept, today)).toEqual({ dob: '1990-03-07' })
  expect(parseDetails('address', kept, today)).toMatchObject({ address: details.address })
})

test('the messages are those that were promised', () => {
  const say = (
    locale: Language,
    code:
      | 'zipcode_invalid'
      | 'dob_invalid'
      | 'dob_future'
      | 'dob_early'
      | 'phone_invalid'
      | 'consent_missing',
  ) => errorText(sayIn({ locale }), { input: 'form', code })
  expect(say('en', 'zipcode_invalid')).toBe('ZIP code must be 5 or 9 digits, like 33101')
  expect(say('es', 'zipcode_invalid')).toBe('El código postal debe tener 5 o 9 dígitos, como 33101')
  expect(say('en', 'dob_invalid')).toBe('Date of birth must be a real date, for example March 27, 1990')
  expect(say('es', 'dob_invalid')).toBe(
    'La fecha de nacimiento debe ser una fecha real, por ejemplo 27 de marzo de 1990',
  )
  expect(say('en', 'dob_future')).toBe('Date of birth must be in the past')
  expect(say('es', 'dob_future')).toBe('La fecha de nacimiento debe estar en el pasado')
  expect(say('en', 'dob_early')).toBe('Date of birth must be in 1900 or later')
  expect(say('es', 'dob_early')).toBe('La fecha de nacimiento debe ser del año 1900 o posterior')
  expect(say('es', 'phone_invalid')).toBe('Escriba un teléfono de 10 a 15 dígitos')
  expect(say('es', 'consent_missing')).toBe('Marque la casilla para aceptar antes de inscribirse')
})
