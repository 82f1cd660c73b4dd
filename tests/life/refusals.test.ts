import { describe, expect, test } from 'vitest'
import { errors, type Operation, operations } from '../../contract/src/index.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { fileOf, lifeCatalogue } from './catalogue.ts'
import { type LifeOperation, lifeOperations, makeActive, prepare, requests } from './requests.ts'
import { lives, newStagePartner } from './stage.ts'

const shut = { fixed: [], selectable: ['art'], slots: 1, availability: { until: '2026-01-01' } }
const offers = [...lifeCatalogue.offers, { offer: 'shut', rank: 40, ...shut }]
const catalogue = fileOf({ ...lifeCatalogue, offers })
const service = forAllTests(() => startTestService({ ...lives, catalogue }))
const partner = forEachTest(() => newStagePartner(service))

const userid = 'u'
type Provoke = (operation: LifeOperation) => Promise<unknown>
type Code = keyof typeof errors

/**
 * Errors of every operation, or of every keyed one, which tests/api provokes: declared-errors, authentication, key-headers,
 * keyed-writes and clock.
 */
const elsewhere: readonly Code[] = [
  'malformed_json',
  'duplicate_header',
  'unauthorized',
  'invalid_api_key',
  'insufficient_scope',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'user_erased',
]

/** How to provoke each of these errors for any operation that declares it. */
const common: Partial<Record<Code, Provoke>> = {
  bad_request: operation => requests[operation].bad(partner.client, userid),
  user_not_found: operation => requests[operation].good(partner.client, 'nobody'),
  user_cancelled: async operation => {
    await partner.client.cancelUser({ userid, effective: 'immediate' })
    return requests[operation].good(partner.client, userid)
  },
}

function offer(offername: string, more: object = {}) {
  return partner.client.changeOffer({ userid, offername, ...more })
}
function preview(offername: string, more: object = {}) {
  return partner.client.previewOfferChange({ userid, offername, ...more })
}
const child = { relationship: 'child', firstname: 'A', lastname: 'B', dob: '2019-05-04' } as const
async function coveredBy(name: string, dependant?: string) {
  const { dependants } = await partner.client.setDependants({ userid, dependants: [child] })
  return [{ name, dependants: [dependant ?? dependants[0]?.dependantid ?? ''] }]
}
function intoLockedHours() {
  return partner.to('2026-10-31T04:00')
}
function movesToNewYork() {
  return partner.client.updateUser({ userid, state: 'NY' })
}

/** The errors of single operations; each begins with the user of the operation's good request. */
const own: Partial<Record<LifeOperation, Partial<Record<Code, () => Promise<unknown>>>>> = {
  updateUser: {
    partnername_not_allowed: () => partner.client.updateUser({ userid, partnername: 'x' }),
  },
  createUser: {
    partnername_not_allowed: () => partner.create(userid, { partnername: 'x' }),
    offername_required: () => partner.create(userid, { offername: '' }),
    offername_unknown: () => partner.create(userid, { offername: 'none' }),
    offer_not_available: () => partner.create(userid, { offername: 'shut' }),
    user_exists: async () => {
      await partner.create(userid)
      return partner.create(userid)
    },
    ineligible: () => partner.create(userid, { offername: 'top', state: 'NY' }),
    slots_exceeded: () => partner.create(userid, { benefits: ['art', 'books', 'care'] }),
    benefit_unknown: () => partner.create(userid, { benefits: ['nothing'] }),
    dependant_not_eligible: () =>
      partner.create(userid, { dependants: [{ ...child, benefits: [{ name: 'base' }] }] }),
  },
  reinstateUser: {
    not_cancelled: async () => {
      await partner.client.reinstateUser({ userid })
      return partner.client.reinstateUser({ userid })
    },
    reinstate_expired: async () => {
      await partner.to('2026-11-19T13:00')
      return partner.client.reinstateUser({ userid })
    },
    ineligible: async () => {
      await partner.create('u2', { offername: 'top' })
      await partner.client.cancelUser({ userid: 'u2' })
      await partner.client.updateUser({ userid: 'u2', state: 'NY' })
      await partner.to('2026-11-01T04:00')
      return partner.client.reinstateUser({ userid: 'u2' })
    },
  },
  changeOffer: {
    offername_unknown: () => offer('none'),
    offer_not_available: () => offer('shut'),
    direction_mismatch: () => offer('top', { action: 'downgrade' }),
    already_on_offer: () => offer('mid'),
    ineligible: async () => {
      await movesToNewYork()
      return offer('top')
    },
    change_locked: async () => {
      await intoLockedHours()
      return offer('low')
    },
    cancel_pending: async () => {
      await partner.client.cancelUser({ userid })
      return offer('low')
    },
    preview_stale: async () => {
      const { previewid } = await preview('low', { effective: 'immediate' })
      await partner.client.enrolBenefit({ userid, name: 'care' })
      return offer('low', { effective: 'immediate', previewid })
    },
  },
  undoOfferChange: {
    change_locked: async () => {
      await intoLockedHours()
      return partner.client.undoOfferChange({ userid })
    },
  },
  previewOfferChange: {
    offername_unknown: () => preview('none'),
    offer_not_available: () => preview('shut'),
    direction_mismatch: () => preview('low', { action: 'upgrade' }),
    already_on_offer: () => preview('mid'),
    cancel_pending: async () => {
      await partner.client.cancelUser({ userid })
      return preview('low')
    },
    ineligible: async () => {
      await movesToNewYork()
      return preview('top')
    },
    change_locked: async () => {
      await intoLockedHours()
      return preview('low')
    },
  },
  swapBenefits: {
    dependant_unknown: async () =>
      partner.client.swapBenefits({
        userid,
        add: ['care'],
        remove: ['art'],
        covered: await coveredBy('care', 'x'),
      }),
    dependant_not_eligible: async () =>
      partner.client.swapBenefits({
        userid,
        add: ['care'],
        remove: ['art'],
        covered: await coveredBy('care'),
      }),
    benefit_unknown: () => partner.client.swapBenefits({ userid, add: ['nothing'], remove: [] }),
    cancel_pending: async () => {
      await partner.client.cancelUser({ userid })
      return partner.client.swapBenefits({ userid, add: ['care'], remove: ['art'] })
    },
    ineligible: () => partner.client.swapBenefits({ userid, add: ['extra'], remove: [] }),
    slots_exceeded: () => partner.client.swapBenefits({ userid, add: ['care', 'home'], remove: [] }),
    change_locked: async () => {
      await intoLockedHours()
      return partner.client.swapBenefits({ userid, add: ['care'], remove: ['art'] })
    },
  },
  undoSwap: {
    change_locked: async () => {
      await intoLockedHours()
      return partner.client.undoSwap({ userid })
    },
  },
  enrolBenefit: {
    dependant_unknown: async () =>
      partner.client.enrolBenefit({ userid, name: 'care', covered: await coveredBy('care', 'x') }),
    dependant_not_eligible: async () =>
      partner.client.enrolBenefit({ userid, name: 'care', covered: await coveredBy('care') }),
    benefit_unknown: () => partner.client.enrolBenefit({ userid, name: 'nothing' }),
    ineligible: async () => {
      await movesToNewYork()
      return partner.client.enrolBenefit({ userid, name: 'dental' })
    },
    slots_exceeded: async () => {
      await partner.client.enrolBenefit({ userid, name: 'care' })
      return partner.client.enrolBenefit({ userid, name: 'home' })
    },
  },
  declineBenefit: {
    benefit_unknown: () => partner.client.declineBenefit({ userid, name: 'nothing' }),
    ineligible: async () => {
      await partner.create('u2')
      return partner.client.declineBenefit({ userid: 'u2', name: 'extra' })
    },
    benefit_in_force: () => partner.client.declineBenefit({ userid, name: 'art' }),
    change_locked: async () => {
      await partner.client.swapBenefits({ userid, add: ['care'], remove: ['art'] })
      await intoLockedHours()
      return partner.client.declineBenefit({ userid, name: 'care' })
    },
  },
}

describe.each(lifeOperations)('%s', operation => {
  const declared: readonly Code[] = (operations[operation] satisfies Operation).errors
  const rows = { ...common, ...own[operation] }
  const here = declared.filter(code => !elsewhere.includes(code))

  test('every error it declares is provoked here, and its own rows provoke no other', () => {
    expect(here.filter(code => rows[code] === undefined)).toEqual([])
    expect(Object.keys(own[operation] ?? {}).filter(code => !declared.includes(code as Code))).toEqual([])
  })

  test.each(here)('%s', async code => {
    await prepare(operation, partner, userid)
    const answer = Promise.resolve(rows[code]?.(operation))
    await expect(answer).rejects.toMatchObject({ code, status: errors[code].status })
    if (code !== 'bad_request') return
    const { badField } = requests[operation]
    await expect(answer).rejects.toMatchObject({
      errors: [{ field: badField, message: expect.stringMatching(/must/) }],
    })
  })
})

function seen() {
  return partner.client.getUser({ userid, include: ['timeline'] }).catch(error => error.code)
}

describe('what is asked for wrongly is named, with the rule', () => {
  const rows: [string, string, string, () => Promise<unknown>][] = [
    [
      'effective of a cancel',
      'effective',
      'must be endofperiod or immediate',
      () => partner.client.cancelUser({ userid, effective: 'nextperiod' as 'immediate' }),
    ],
    [
      'effective of an offer change',
      'effective',
      'must be auto, immediate or nextperiod',
      () => offer('low', { effective: 'endofperiod' }),
    ],
    [
      'effective of a preview',
      'effective',
      'must be auto, immediate or nextperiod',
      () => preview('low', { effective: 'today' }),
    ],
    [
      'a start in the past',
      'effectivedate',
      'must be a date from today to 90 days ahead',
      () => partner.create('new', { effectivedate: '2026-10-19' }),
    ],
    [
      'a start too far ahead',
      'effectivedate',
      'must be a date from today to 90 days ahead',
      () => partner.create('new', { effectivedate: '2027-01-19' }),
    ],
    [
      'a start that is no date',
      'effectivedate',
      'must be a real date YYYY-MM-DD',
      () => partner.create('new', { effectivedate: '2026-11-31' }),
    ],
    [
      'a clock that goes back',
      'advanceto',
      'must not lie before the present clock',
      () => partner.client.advanceClock({ advanceto: '2026-10-19T12:00:00.000Z' }),
    ],
    [
      'a birth date ahead',
      'dob',
      'must not be after today: it is a date of birth, YYYY-MM-DD',
      () => partner.client.updateUser({ userid, dob: '2026-10-21' }),
    ],
    [
      'an immediate downgrade without its preview',
      'previewid',
      'is required: an immediate downgrade takes cover away at once',
      () => offer('low', { effective: 'immediate' }),
    ],
  ]
  test.each(rows)('%s', async (_, field, rule, ask) => {
    await makeActive(partner, userid)
    const before = await seen()
    await expect(ask()).rejects.toMatchObject({
      code: 'bad_request',
      errors: [{ field, message: expect.stringContaining(rule) }],
    })
    expect(await seen()).toEqual(before)
  })
})
