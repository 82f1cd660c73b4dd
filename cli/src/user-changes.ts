import type { CreateUser, PartnerClient, User } from '@benefit-enrolment/client'

/** One change of a user of the demo catalogue, made through the API only. */
export type UserChange = (client: PartnerClient, userid: string) => Promise<unknown>

const person = { firstname: 'Ada', lastname: 'Rivera', email: 'ada.rivera@example.com', dob: '1990-03-27' }
const DAY_MS = 86_400_000

/** A prefill of Ada Rivera from Florida, or of somebody else. */
export function prefillWith(more: { dob?: string; address?: { state: 'NY' }; zipcode?: string }): UserChange {
  const known = { ...person, zipcode: '33101', address: { state: 'FL' as const }, ...more }
  return (client, userid) => client.prefillUser({ userid, ...known })
}
/** A prefill of Ada Rivera, born in 1990, from Florida: every offer admits her. */
export const prefill = prefillWith({})

/** Ada Rivera on an offer, with telehealth and dental as first picks unless others are given. */
export function createOn(
  offername: string,
  benefits: string[] = ['telehealth', 'dental'],
  more: Pick<CreateUser, 'dependants'> = {},
): UserChange {
  const known = { ...person, zipcode: '33101', state: 'FL', offername, benefits } as const
  return (client, userid) => client.createUser({ userid, ...known, ...more })
}
/** Ada Rivera on an offer that begins in thirty days, by the partner's own clock, which may have been moved. */
export function createLaterOn(offername: string): UserChange {
  return async (client, userid) => {
    await prefill(client, userid)
    const { createdat } = (await client.getUser({ userid })) as User
    const effectivedate = new Date(Date.parse(createdat) + 30 * DAY_MS).toISOString().slice(0, 10)
    await client.createUser({ userid, offername, benefits: ['dental'], effectivedate })
  }
}
/** Ada Rivera on the offer starter. */
export const create = createOn('starter')

/** A change to another offer, `immediate` or for the `nextperiod`. */
export function moveTo(offername: string, effective: 'immediate' | 'nextperiod'): UserChange {
  return (client, userid) => client.changeOffer({ userid, offername, effective })
}

/** A downgrade that takes effect at once, which needs a preview of what is lost. */
export function downgradeTo(offername: string): UserChange {
  return async (client, userid) => {
    const change = { userid, offername, effective: 'immediate' as const }
    const { previewid } = await client.previewOfferChange(change)
    await client.changeOffer({ ...change, previewid })
  }
}

/** A cancel, `immediate` or at the `endofperiod`. */
export function cancel(effective: 'immediate' | 'endofperiod'): UserChange {
  return (client, userid) => client.cancelUser({ userid, effective })
}

/** A swap in which vision replaces dental at the boundary. */
export const swap: UserChange = (client, userid) =>
  client.swapBenefits({ userid, add: ['vision'], remove: ['dental'] })

type Named = NonNullable<CreateUser['dependants']>[number]
const spouse: Named = { relationship: 'spouse', firstname: 'Luis', lastname: 'Rivera', dob: '1988-02-29' }

/** Ada Rivera on starter; dental covers her with her spouse, or with her domestic partner. */
export function createWith(relationship: 'spouse' | 'domesticpartner'): UserChange {
  const dependants = [{ ...spouse, relationship, benefits: [{ name: 'dental' }] }]
  return createOn('starter', undefined, { dependants })
}
/** From the boundary on dental covers nobody but her. */
export const coverNobodyElse: UserChange = (client, userid) =>
  client.changeCover({ userid, name: 'dental', dependants: [] })
/** Dental covers her child, who is 26 in the middle of the next month of the partner's own clock and calendar. */
export const coverGrownChild: UserChange = async (client, userid) => {
  // The answer to a preview of who is covered anyhow is never locked, and says when the next month begins.
  const preview = { userid, name: 'hospital', dependants: [], previewonly: true }
  const { effectiveattimestamp } = await client.changeCover(preview)
  const birthday = new Date(Date.parse(effectiveattimestamp) + 14 * DAY_MS)
  birthday.setUTCFullYear(birthday.getUTCFullYear() - 26)
  const dob = birthday.toISOString().slice(0, 10)
  const child = { relationship: 'child' as const, firstname: 'Leo', lastname: 'Rivera', dob }
  const { dependants } = await client.setDependants({ userid, dependants: [child] })
  const covered = [{ name: 'dental', dependants: dependants.map(({ dependantid }) => dependantid) }]
  await client.enrolBenefit({ userid, name: 'dental', covered })
}

/** A pending cancellation is undone. */
export const reinstate: UserChange = (client, userid) => client.reinstateUser({ userid })
/** The user and what is known of the person are erased. */
export const erase: UserChange = (client, userid) => client.eraseUser({ userid })
