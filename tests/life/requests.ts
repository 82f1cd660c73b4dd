import type { CallOptions, Client } from '../../client/src/index.ts'
import type { OperationId } from '../../contract/src/index.ts'
import { person, type StagePartner } from './stage.ts'

/** The operations that make a user's life (contract §7 and §8), and the clock of a sandbox. */
export const lifeOperations = [
  'createUser',
  'getUser',
  'updateUser',
  'cancelUser',
  'reinstateUser',
  'eraseUser',
  'changeOffer',
  'undoOfferChange',
  'listAvailableOffers',
  'previewOfferChange',
  'swapBenefits',
  'undoSwap',
  'enrolBenefit',
  'declineBenefit',
  'advanceClock',
] as const satisfies readonly OperationId[]

/** The name of one of them, and of the client's method. */
export type LifeOperation = (typeof lifeOperations)[number]

type Call = (client: Client, userid: string, options?: CallOptions) => Promise<unknown>

/** The requests of an operation that tests need, sent through the client. */
export type Requests = {
  /** Answered 200 for a user that `prepare` made. */
  readonly good: Call
  /** Brings the user into a state in which the good request changes something; without it: an active user on `mid`. */
  readonly prepare?: (partner: StagePartner, userid: string) => Promise<unknown>
  /** Refused with 400, and the field that the refusal must name. */
  readonly bad: Call
  readonly badField: string
}

const account = { ...person, offername: 'low' } as const
const later = '2026-10-25T12:00:00.000Z'
const tooLong = 'u'.repeat(129)

/** An active user on `mid` with two picks and a free slot. */
export function makeActive(partner: StagePartner, userid: string) {
  return partner.create(userid, { offername: 'mid', benefits: ['art', 'books'] })
}

/** A user whose cancel is in effect. */
export async function makeCancelled(partner: StagePartner, userid: string) {
  await makeActive(partner, userid)
  await partner.client.cancelUser({ userid, effective: 'immediate' })
}

/** A user with a pending downgrade and a pending swap that fits it. */
async function makePlanned(partner: StagePartner, userid: string) {
  await makeActive(partner, userid)
  await partner.client.changeOffer({ userid, offername: 'low' })
  await partner.client.swapBenefits({ userid, add: ['care'], remove: ['art'] })
}

/** A right and a wrong request for each operation. */
export const requests: Record<LifeOperation, Requests> = {
  createUser: {
    prepare: async () => {},
    good: (client, userid, options) => client.createUser({ userid, ...account }, options),
    bad: (client, userid) => client.createUser({ userid, ...account, zipcode: '1' }),
    badField: 'zipcode',
  },
  getUser: {
    good: (client, userid) => client.getUser({ userid, include: ['timeline'] }),
    bad: (client, userid) => client.getUser({ userid, include: ['everything' as 'timeline'] }),
    badField: 'include[0]',
  },
  updateUser: {
    good: (client, userid, options) => client.updateUser({ userid, phone: '3055550199' }, options),
    bad: (client, userid) => client.updateUser({ userid, dob: '2026-02-30' }),
    badField: 'dob',
  },
  cancelUser: {
    good: (client, userid, options) => client.cancelUser({ userid, reason: 'mistake' }, options),
    bad: (client, userid) => client.cancelUser({ userid, reason: 'boredom' as 'mistake' }),
    badField: 'reason',
  },
  reinstateUser: {
    prepare: makeCancelled,
    good: (client, userid, options) => client.reinstateUser({ userid }, options),
    bad: client => client.reinstateUser({ userid: '' }),
    badField: 'userid',
  },
  eraseUser: {
    good: (client, userid, options) => client.eraseUser({ userid }, options),
    bad: client => client.eraseUser({ userid: '..' }),
    badField: 'userid',
  },
  changeOffer: {
    good: (client, userid, options) => client.changeOffer({ userid, offername: 'top' }, options),
    bad: (client, userid) =>
      client.changeOffer({ userid, offername: 'top', action: 'sidegrade' as 'upgrade' }),
    badField: 'action',
  },
  undoOfferChange: {
    prepare: makePlanned,
    good: (client, userid, options) => client.undoOfferChange({ userid }, options),
    bad: client => client.undoOfferChange({ userid: tooLong }),
    badField: 'userid',
  },
  listAvailableOffers: {
    good: (client, userid) => client.listAvailableOffers({ userid }),
    bad: client => client.listAvailableOffers({ userid: tooLong }),
    badField: 'userid',
  },
  previewOfferChange: {
    good: (client, userid) => client.previewOfferChange({ userid, offername: 'top' }),
    bad: (client, userid) => client.previewOfferChange({ userid, offername: '' }),
    badField: 'offername',
  },
  swapBenefits: {
    good: (client, userid, options) =>
      client.swapBenefits({ userid, add: ['care'], remove: ['art'] }, options),
    bad: (client, userid) => client.swapBenefits({ userid, add: ['care', 'care'], remove: [] }),
    badField: 'add',
  },
  undoSwap: {
    prepare: makePlanned,
    good: (client, userid, options) => client.undoSwap({ userid }, options),
    bad: client => client.undoSwap({ userid: tooLong }),
    badField: 'userid',
  },
  enrolBenefit: {
    good: (client, userid, options) => client.enrolBenefit({ userid, name: 'care' }, options),
    bad: (client, userid) =>
      client.enrolBenefit({ userid, name: 'eyes', consents: [{ name: 'eyes', version: 'v0' }] }),
    badField: 'consents[0].version',
  },
  declineBenefit: {
    good: (client, userid, options) => client.declineBenefit({ userid, name: 'care' }, options),
    bad: (client, userid) => client.declineBenefit({ userid, name: '' }),
    badField: 'name',
  },
  advanceClock: {
    prepare: async () => {},
    good: (client, _, options) => client.advanceClock({ advanceto: later }, options),
    bad: client => client.advanceClock({ advanceto: 'tomorrow' }),
    badField: 'advanceto',
  },
}

/** Makes the user of an operation's good request. */
export function prepare(operation: LifeOperation, partner: StagePartner, userid: string): Promise<unknown> {
  return (requests[operation].prepare ?? makeActive)(partner, userid)
}
