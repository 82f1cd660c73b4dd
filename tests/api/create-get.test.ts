// @prism

import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService } from '../rig.ts'
import { eventsOf } from './events-of.ts'
import { fieldsOf, refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

const day = 86_400_000
const account = { userid: 'u1', ...ada, offername: 'starter' } as const
const withoutPerson = { userid: 'u1', offername: 'starter' } as const
const uuidv7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('create, 200', () => {
  test('the user is active at once, with the offer, its fixed benefits and the picks in force', async () => {
    const { client } = await service.newPartner()
    const before = service.now()
    const user = await client.createUser({ ...account, benefits: ['dental'] })
    const since = user.currentofferdetails.updatedat
    expect(Date.parse(since)).toBeGreaterThanOrEqual(before)
    const cover = { state: 'enrolled', startsattimestamp: since, endsattimestamp: null }
    expect(user).toEqual({
      userid: 'u1',
      serviceid: expect.stringMatching(uuidv7),
      status: 'active',
      conditions: [],
      currentofferdetails: { offer: 'starter', updatedat: since, serviceid: user.serviceid },
      pendingoffer: null,
      benefits: [
        { name: 'accident', displayname: 'Accident coverage', ...cover },
        { name: 'dental', displayname: 'Dental discount', ...cover, tier: 'me', dependants: [] },
      ],
      requiredactions: [],
      consents: [],
      createdat: since,
      updatedat: since,
      moredetails: {},
    })
    expect(await client.getUser({ userid: 'u1' })).toEqual(user)
  })

  test('enrollment_successful, then offer_activiation_successful, both with the offer in force', async () => {
    const partner = await service.newPartner()
    const user = await partner.client.createUser(account)
    const events = await eventsOf(service, partner)
    const details = JSON.stringify(user.currentofferdetails)
    expect(events.map(({ body }) => body)).toEqual(
      ['enrollment_successful', 'offer_activiation_successful'].map(
        eventname => `{"userid":"u1","eventname":"${eventname}","currentofferdetails":${details}}`,
      ),
    )
    for (const { key } of events) expect(key).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab]/)
    expect(new Set(events.map(({ key }) => key)).size).toBe(2)
  })

  test('the prefill fills what the request leaves out, keeps its serviceid, and is then deleted', async () => {
    const partner = await service.newPartner()
    const { client } = partner
    await client.prefillUser({ userid: 'u1', ...ada })
    const prefilled = await client.getUser({ userid: 'u1' })
    expect(prefilled).toMatchObject({ status: 'prefilled', currentofferdetails: { offer: '' }, benefits: [] })
    const user = await client.createUser(withoutPerson)
    expect(user).toMatchObject({ status: 'active', serviceid: prefilled.serviceid })
    const rows = await service.database.query<{ kind: string }>({
      name: '',
      text: 'select kind from sealed_records where partner_id = $1',
      values: [partner.partnerId],
    })
    expect(rows).toEqual([{ kind: 'profile' }])
  })

  test('the request wins over the prefill, and a given address replaces the stored one whole', async () => {
    const { client } = await service.newPartner()
    await client.prefillUser({ userid: 'u1', ...ada, zipcode: '' })
    // The new address has no ZIP code, and the old one was replaced together with the old address.
    await expect(client.createUser({ ...withoutPerson, address: { state: 'FL' } })).rejects.toMatchObject({
      status: 400,
      errors: [{ field: 'zipcode', code: 'required' }],
    })
    // Alaska in the request wins over the stored Florida: dental is not offered in Alaska.
    const alaska = { address: { state: 'AK', zipcode: '99501' } } as const
    await expect(
      client.createUser({ ...withoutPerson, ...alaska, benefits: ['dental'] }),
    ).rejects.toMatchObject({ status: 422, errors: [{ code: 'not_in_ak_vt_wa' }] })
  })

  test('"" means not given: the prefilled value stays', async () => {
    const { client } = await service.newPartner()
    await client.prefillUser({ userid: 'u1', ...ada })
    const empty = { firstname: '', email: '', dob: '', gender: '', zipcode: '', state: '' } as const
    const user = await client.createUser({ ...withoutPerson, ...empty, effectivedate: '' })
    expect(user).toMatchObject({ status: 'active' })
  })

  test('a blank address means not given: the prefilled one stays', async () => {
    const { client } = await service.newPartner()
    const alaska = { addline1: '1 Ice Road', city: 'Juneau', state: 'AK', zipcode: '99501' } as const
    const blank = { addline1: '', addline2: '', addline3: '', city: '', state: '', zipcode: '' } as const
    for (const address of [{}, blank]) {
      await client.prefillUser({ userid: 'u1', ...ada, zipcode: '', address: alaska })
      await expect(
        client.createUser({ ...withoutPerson, address, benefits: ['dental'] }),
      ).rejects.toMatchObject({ status: 422, errors: [{ code: 'not_in_ak_vt_wa' }] })
    }
  })

  test('state and zipcode at the top level come before those of the address', async () => {
    const { client } = await service.newPartner()
    const florida = { ...account, benefits: ['dental'] }
    await expect(client.createUser({ ...florida, state: 'AK' })).rejects.toMatchObject({ code: 'ineligible' })
    const { address: _, zipcode: __, ...person } = florida
    expect(await client.createUser({ ...person, state: 'FL', zipcode: '33101' })).toMatchObject({
      status: 'active',
    })
  })

  test('a partner with one offer may leave offername out', async () => {
    const { client } = await service.newPartner({ offers: ['plus'] })
    const { offername: _, ...rest } = account
    expect(await client.createUser(rest)).toMatchObject({ currentofferdetails: { offer: 'plus' } })
  })

  test('a fixed benefit among the picks takes no slot', async () => {
    const { client } = await service.newPartner()
    const user = await client.createUser({ ...account, benefits: ['accident', 'dental', 'vision'] })
    expect(user.benefits.map(({ name }) => name)).toEqual(['accident', 'dental', 'vision'])
  })
})

describe('consents', () => {
  const consent = { name: 'identity', version: '2026-01' }

  test('a benefit that asks for one is actionrequired until it is given', async () => {
    const { client } = await service.newPartner()
    const user = await client.createUser({ ...account, benefits: ['identity'] })
    expect(user).toMatchObject({
      conditions: ['actionrequired'],
      requiredactions: [
        { code: 'consent_required', name: 'identity', dueattimestamp: expect.stringMatching(/Z$/) },
      ],
      benefits: [
        { name: 'accident' },
        { name: 'identity', state: 'actionrequired', startsattimestamp: null },
      ],
    })
    const listed = await client.getBenefits({ userid: 'u1', ...adaAsks })
    expect(listed.find(({ name }) => name === 'identity')).toMatchObject({ status: 'notenrolled' })
    const enrolled = await client.enrolBenefit({ userid: 'u1', name: 'identity', consents: [consent] })
    expect(enrolled).toMatchObject({ name: 'identity', state: 'enrolled' })
  })

  test('given at create it is kept with its instant and language', async () => {
    const { client } = await service.newPartner()
    const agreedattimestamp = '2027-03-01T10:00:00.000Z'
    const user = await client.createUser({
      ...account,
      benefits: ['identity'],
      consents: [{ ...consent, agreedattimestamp, locale: 'es' }],
    })
    expect(user).toMatchObject({ conditions: [], requiredactions: [] })
    expect(user.consents).toEqual([{ ...consent, agreedattimestamp, locale: 'es' }])
  })

  test('several are answered in the order of every later answer, and one that is sent twice counts once', async () => {
    const { client } = await service.newPartner()
    const life = { ...consent, name: 'life' }
    const user = await client.createUser({ ...account, consents: [life, consent, life] })
    expect(user.consents.map(({ name }) => name)).toEqual(['identity', 'life'])
    expect(await client.getUser({ userid: 'u1' })).toEqual(user)
  })

  test.each([
    ['for a benefit that asks for none', { ...consent, name: 'dental' }, 'consents[0].name'],
    ['to another version', { ...consent, version: '2025-01' }, 'consents[0].version'],
    [
      'in the future',
      { ...consent, agreedattimestamp: '2999-01-01T00:00:00.000Z' },
      'consents[0].agreedattimestamp',
    ],
    [
      'given in the year 0000',
      { ...consent, agreedattimestamp: '0000-01-01T00:00:00.000Z' },
      'consents[0].agreedattimestamp',
    ],
    ['without a version', { name: 'identity' }, 'consents[0].version'],
    ['in another language', { ...consent, locale: 'fr' }, 'consents[0].locale'],
  ])('%s: 400 that names it', async (_, given, field) => {
    const { client } = await service.newPartner()
    await expect(client.createUser({ ...account, consents: [unchecked(given)] })).rejects.toMatchObject({
      status: 400,
      code: 'bad_request',
      errors: [{ field }],
    })
  })
})

describe('create, refused', () => {
  test('400: what is required after merging, each named', async () => {
    const { client } = await service.newPartner()
    const refusal = await refusalOf(client.createUser(withoutPerson))
    expect(refusal).toMatchObject({ status: 400, code: 'bad_request' })
    expect(fieldsOf(refusal)).toEqual(['firstname', 'lastname', 'email', 'dob', 'state', 'zipcode'])
    expect(new Set(refusal.errors.map(({ code }) => code))).toEqual(new Set(['required']))
  })

  test('400 offername_required where there is more than one; 400 offername_unknown', async () => {
    const { client } = await service.newPartner({ offers: ['starter', 'plus'] })
    for (const offername of [undefined, '']) {
      const asked = offername === undefined ? { userid: 'u1', ...ada } : { ...account, offername }
      await expect(client.createUser(asked)).rejects.toMatchObject({
        code: 'offername_required',
        errors: [{ field: 'offername' }],
      })
    }
    for (const offername of ['premier', 'none']) {
      await expect(client.createUser({ ...account, offername })).rejects.toMatchObject({
        status: 400,
        code: 'offername_unknown',
      })
    }
  })

  test('400: a pick that the catalogue does not know, or twice in the list', async () => {
    const { client } = await service.newPartner()
    await expect(client.createUser({ ...account, benefits: ['dental', 'none'] })).rejects.toMatchObject({
      code: 'benefit_unknown',
      errors: [{ field: 'benefits[1]' }],
    })
    await expect(client.createUser({ ...account, benefits: ['dental', 'dental'] })).rejects.toMatchObject({
      code: 'bad_request',
      errors: [{ field: 'benefits' }],
    })
  })

  test('409 user_exists for an active user, and nothing changes', async () => {
    const { client } = await service.newPartner()
    const user = await client.createUser(account)
    await expect(client.createUser({ ...account, offername: 'plus' })).rejects.toMatchObject({
      status: 409,
      code: 'user_exists',
    })
    expect(await client.getUser({ userid: 'u1' })).toEqual(user)
  })

  test('422 ineligible with the code and text of each rule, in the language asked for', async () => {
    const { client } = await service.newPartner()
    const old = { ...account, dob: '1950-01-01', offername: 'premier', state: 'NY' } as const
    await expect(client.createUser(old)).rejects.toMatchObject({
      status: 422,
      code: 'ineligible',
      errors: [
        { field: 'offername', code: 'age_18_64', message: 'Premier is for people aged 18 to 64.' },
        { field: 'offername', code: 'not_in_ny', message: 'Premier is not offered in New York.' },
      ],
    })
    await expect(client.createUser(old, { acceptLanguage: 'es' })).rejects.toMatchObject({
      errors: [{ message: 'Premier es para personas de 18 a 64 años.' }, {}],
      userMessage: 'Este cambio no es posible en este momento.',
    })
    const picks = { ...account, benefits: ['telehealth', 'dental'] }
    await expect(client.createUser({ ...picks, state: 'AK' })).rejects.toMatchObject({
      code: 'ineligible',
      errors: [{ field: 'benefits[1]', code: 'not_in_ak_vt_wa' }],
    })
    await expect(client.getUser({ userid: 'u1' })).rejects.toMatchObject({ code: 'user_not_found' })
  })

  test('422: a benefit that the offer does not have; more picks than slots', async () => {
    const { client } = await service.newPartner()
    await expect(client.createUser({ ...account, benefits: ['hospital'] })).rejects.toMatchObject({
      code: 'ineligible',
      errors: [{ field: 'benefits[0]' }],
    })
    await expect(
      client.createUser({ ...account, benefits: ['dental', 'vision', 'legal'] }),
    ).rejects.toMatchObject({ status: 422, code: 'slots_exceeded' })
  })
})

describe('effectivedate', () => {
  test("a later date is its first instant in the partner's zone; the age is that of that day", async () => {
    const partner = await service.newPartner({ timezone: 'America/Los_Angeles' })
    const { client } = partner
    const turning18 = { ...account, dob: '2009-03-20' }
    await expect(client.createUser(turning18)).rejects.toMatchObject({ code: 'ineligible' })
    const user = await client.createUser({ ...turning18, effectivedate: '2027-03-20', benefits: ['dental'] })
    const starts = '2027-03-20T07:00:00.000Z'
    expect(user).toMatchObject({
      status: 'active',
      currentofferdetails: { offer: '' },
      benefits: [
        { name: 'accident', state: 'scheduled', startsattimestamp: starts },
        { name: 'dental', state: 'scheduled', startsattimestamp: starts },
      ],
    })
    expect((await eventsOf(service, partner)).map(({ eventname }) => eventname)).toEqual([
      'enrollment_successful',
    ])
    await client.advanceClock({ advanceto: starts })
    expect(await client.getUser({ userid: 'u1' })).toMatchObject({
      currentofferdetails: { offer: 'starter', updatedat: starts },
      benefits: [{ state: 'enrolled' }, { state: 'enrolled' }],
    })
    const [, activated] = await eventsOf(service, partner)
    expect(JSON.parse(activated?.body ?? '')).toMatchObject({
      eventname: 'offer_activiation_successful',
      currentofferdetails: { offer: 'starter', updatedat: starts },
    })
  })

  test('today is now; yesterday, more than 90 days ahead and what is no date are 400', async () => {
    const { client } = await service.newPartner()
    const dateIn = (days: number) =>
      new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(service.now() + days * day)
    for (const effectivedate of [dateIn(-1), dateIn(91), '2027-02-30', 'soon', '2027-3-20']) {
      await expect(client.createUser({ ...account, effectivedate })).rejects.toMatchObject({
        status: 400,
        errors: [{ field: 'effectivedate' }],
      })
    }
    expect(await client.createUser({ ...account, effectivedate: dateIn(0) })).toMatchObject({
      currentofferdetails: { offer: 'starter' },
    })
    const ahead = { ...account, userid: 'u2', effectivedate: dateIn(90) }
    expect(await client.createUser(ahead)).toMatchObject({ status: 'active' })
  })
})
