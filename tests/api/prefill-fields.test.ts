// @prism

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { states } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { ORDINARY_DAY } from '../slow-clock.ts'
import { keepTexts } from './listener.ts'
import { fieldsOf, outcomesOf, refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(startTestService)
const partner = forAllTests(() => service.newPartner())

/** A prefill with one field; a name such as `address.city` is a field of the address. */
function prefillOf(field: string, value: unknown, client = partner.client): Promise<unknown> {
  const inside = field.startsWith('address.') ? field.slice('address.'.length) : undefined
  const given = inside === undefined ? { [field]: value } : { address: { [inside]: value } }
  return client.prefillUser(unchecked({ userid: 'u1', ...given }))
}
function isoDate(ms: number) {
  return new Date(ms).toISOString().slice(0, 10)
}
const day = 86_400_000

type Examples = { right: unknown[]; wrong: unknown[] }
function long(count: number) {
  return 'ä'.repeat(count)
}
const zipcodes = {
  right: ['33101', '331011234', '00501', ''],
  wrong: ['8040', '804011', '80401-1234', '80401 ', ' 80401', 'ABCDE', '８０４０１', '80401\n', '8040112345'],
}
const controls = ['Ada\nRivera', '\t', 'Ada\u0007', '\u007f', '\u0085']
const addressLines = { right: ['', '12 Ocean Drive', long(100)], wrong: [long(101), ...controls] }
const usps = {
  right: [...states, ''],
  wrong: ['fl', 'Fl', 'XX', 'FLA', 'F', ' FL', 'Florida', 'ZZ'],
}
const fields: Record<string, Examples> = {
  userid: {
    right: ['u', 'U', ' ', '...', 'ü😀/\\%', '😀'.repeat(128), 'x'.repeat(128)],
    wrong: [
      '',
      '.',
      '..',
      'x'.repeat(129),
      '😀'.repeat(129),
      'a\tb',
      'a\nb',
      '\u0001',
      '\u007f',
      '\u0085',
      'a\u200bb',
      'a\u200d',
      '\u202eabc',
      '\ufeffu',
      'u\u2066',
      'a\u00ad',
    ],
  },
  firstname: { right: ['', 'Zoë', "O'Neill", '李', '😀', long(100)], wrong: [long(101), ...controls] },
  lastname: { right: ['', 'de la Cruz', long(100)], wrong: [long(101), ...controls] },
  email: {
    right: ['', 'a@b.co', 'a+b.c@sub.example.com', `${'x'.repeat(242)}@example.com`],
    wrong: [
      'a',
      'a@',
      '@b.co',
      'a@b',
      'a@@b.co',
      'a@b@c.co',
      'a b@c.co',
      'a@b..co',
      'a@.co',
      'a@b.co.',
    ].concat(`${'x'.repeat(243)}@example.com`),
  },
  zipcode: zipcodes,
  dob: {
    right: ['', '1900-01-01', '2000-02-29', isoDate(ORDINARY_DAY - day)],
    wrong: [
      '1899-12-31',
      '2001-02-29',
      '1990-13-01',
      '1990-00-10',
      '1990-04-31',
      '1990-4-1',
      '27/03/1990',
      '19900327',
      '1990-03-27T00:00:00Z',
      ' 1990-03-27',
      isoDate(ORDINARY_DAY + 2 * day),
      '9999-12-31',
    ],
  },
  phone: {
    right: ['', '3055550142', '123456789012345'],
    wrong: [
      '305555014',
      '1234567890123456',
      '+13055550142',
      '305-555-0142',
      '305 555 0142',
      '３０５５５５０１４２',
    ],
  },
  gender: { right: ['M', 'F', 'X', 'U', 'N', 'O', ''], wrong: ['m', 'D', 'MF', 'female', ' '] },
  address: { right: [{}, ada.address], wrong: ['x', [], 1] },
  'address.addline1': addressLines,
  'address.addline2': addressLines,
  'address.addline3': addressLines,
  'address.city': { right: ['', 'Miami', long(60)], wrong: [long(61), ...controls] },
  'address.state': usps,
  'address.zipcode': zipcodes,
}

describe.each(Object.entries(fields))('%s', (field, { right, wrong }) => {
  test('what fits the rule is taken', async () => {
    const outcomes = await outcomesOf(right.map(value => prefillOf(field, value)))
    expect(right.filter((_, index) => outcomes[index] !== 200)).toEqual([])
  })

  test('what does not is 400: the field is named with its rule, the value is not told', async () => {
    const values = [...wrong, 7, false]
    const { texts, fetch } = keepTexts(service.conformance.fetch)
    const client = partner.connect({ fetch })
    const refusals = await Promise.all(values.map(value => refusalOf(prefillOf(field, value, client))))
    for (const [index, { status, code, errors }] of refusals.entries()) {
      const told = { value: values[index], status, code, fields: errors.map(one => one.field) }
      expect(told).toEqual({ value: values[index], status: 400, code: 'bad_request', fields: [field] })
      expect(errors[0]?.code).toMatch(/^[a-z_A-Z]+$/)
      expect(errors[0]?.message.startsWith(`${field} must`)).toBe(true)
    }
    expect(texts).toHaveLength(values.length + 1)
    // Four digits of a value may stand in an id, a token or a port by chance.
    const told = texts.join('\n').replace(/[\da-f]{8}-[-\da-f]{27}|"enr_at_\w+"|:\d+\//g, '')
    for (const value of values) {
      if (typeof value === 'string' && value.length > 3) expect(told).not.toContain(value)
    }
  })
})

describe('the record as a whole', () => {
  test('only userid is required', async () => {
    expect(await partner.client.prefillUser({ userid: 'only' })).toBe('prefill saved')
    const refusal = await refusalOf(partner.client.prefillUser(unchecked(ada)))
    expect(refusal.errors).toEqual([{ field: 'userid', code: 'required', message: 'userid is required' }])
  })

  test('the body of the documented sample is taken: empty address lines, digits as text', async () => {
    expect(await partner.client.prefillUser({ userid: 'sample', ...ada })).toBe('prefill saved')
  })

  test('the birth date of today is taken, that of tomorrow is not, by the date in the zone of the partner', async () => {
    const east = await service.newPartner({ timezone: 'Pacific/Kiritimati' })
    const west = await service.newPartner({ timezone: 'Pacific/Pago_Pago' })
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Kiritimati' }).format(service.now())
    expect(await east.client.prefillUser({ userid: 'u1', dob: today })).toBe('prefill saved')
    const refusal = await refusalOf(west.client.prefillUser({ userid: 'u1', dob: today }))
    expect([refusal.status, ...fieldsOf(refusal)]).toEqual([400, 'dob'])
  })
})

test('no problem document repeats a value that was sent', async () => {
  const canary = fc.stringMatching(/^[a-z0-9]{8}$/).map(text => `Zq${text}`)
  const value: fc.Arbitrary<unknown> = fc.oneof(
    canary,
    canary.map(text => `${text}@`),
    canary.map(text => text.repeat(30)),
    fc.array(canary, { minLength: 1, maxLength: 3 }),
    fc.record({ name: canary }),
  )
  const { texts, fetch } = keepTexts(service.conformance.fetch)
  const client = partner.connect({ fetch })
  const calls = ['prefillUser', 'getBenefits', 'createUser', 'getUser', 'changeOffer'] as const
  const names = [...Object.keys(fields).filter(name => !name.includes('.')), 'age', 'state', 'offername']
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...calls),
      fc.dictionary(fc.constantFrom(...names, 'consents', 'include', 'benefits', 'effectivedate'), value, {
        minKeys: 1,
      }),
      async (call, sent) => {
        const [outcome] = await outcomesOf([client[call](unchecked(sent))])
        if (outcome === 200) return
        for (const [text] of JSON.stringify(sent).matchAll(/Zq[a-z0-9]{8}/g))
          expect(texts.at(-1)).not.toContain(text)
      },
    ),
    { numRuns: 150 },
  )
})

test('a name that looks like a value is not repeated as a field', async () => {
  const { texts, fetch } = keepTexts(service.conformance.fetch)
  const named = { userid: 'u1', 'ada.canary@example.com': 1, '3055550142': 2 }
  const refusal = await refusalOf(partner.connect({ fetch }).prefillUser(unchecked(named)))
  expect(refusal).toMatchObject({ status: 400, errors: [{ code: 'unknown_field' }] })
  expect(texts.join()).not.toContain('canary')
  expect(texts.join()).not.toContain('3055550142')
})
