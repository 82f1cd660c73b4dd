import { DAY_MS } from '../../calendar/time.ts'
import type { PartnerApi } from './partner-api.ts'

/** One change of a user of the demo catalogue, made through the API only. */
export type UserChange = (api: PartnerApi, userid: string) => Promise<unknown>

const person = { firstname: 'Ada', lastname: 'Rivera', email: 'ada.rivera@example.com', dob: '1990-03-27' }

/** A prefill of Ada Rivera from Florida, or of somebody else. */
export function prefillWith(more: {
  dob?: string
  address?: { state: string }
  zipcode?: string
}): UserChange {
  const known = { ...person, zipcode: '33101', address: { state: 'FL' }, ...more }
  return (api, userid) => api.call('POST', '/user/prefill', { userid, ...known })
}
/** A prefill of Ada Rivera, born in 1990, from Florida: every offer admits her. */
export const prefill = prefillWith({})

/** Ada Rivera on an offer, with telehealth and dental as first picks unless others are given. */
export function createOn(
  offername: string,
  benefits: readonly string[] = ['telehealth', 'dental'],
): UserChange {
  const known = { ...person, zipcode: '33101', state: 'FL', offername, benefits }
  return (api, userid) => api.call('POST', '/user/account/create', { userid, ...known })
}
/** Ada Rivera on an offer that begins in thirty days, by the partner's own clock, which may have been moved. */
export function createLaterOn(offername: string): UserChange {
  return async (api, userid) => {
    await prefill(api, userid)
    const { createdat } = (await api.call('POST', '/user/account/get', { userid })) as { createdat: string }
    const effectivedate = new Date(Date.parse(createdat) + 30 * DAY_MS).toISOString().slice(0, 10)
    await api.call('POST', '/user/account/create', { userid, offername, benefits: ['dental'], effectivedate })
  }
}
/** Ada Rivera on the offer starter. */
export const create = createOn('starter')

/** A change to another offer, `immediate` or for the `nextperiod`. */
export function moveTo(offername: string, effective: string): UserChange {
  return (api, userid) => api.call('POST', '/user/offers', { userid, offername, effective })
}

/** A downgrade that takes effect at once, which needs a preview of what is lost. */
export function downgradeTo(offername: string): UserChange {
  return async (api, userid) => {
    const change = { userid, offername, effective: 'immediate' }
    const { previewid } = (await api.call('POST', '/user/offers/preview', change)) as { previewid: string }
    await api.call('POST', '/user/offers', { ...change, previewid })
  }
}

/** A cancel, `immediate` or at the `endofperiod`. */
export function cancel(effective: string): UserChange {
  return (api, userid) =>
    api.call('DELETE', `/user/account/cancel/${encodeURIComponent(userid)}?effective=${effective}`)
}

/** A request with only the userid and the given members. */
export function post(path: string, more: object = {}): UserChange {
  return (api, userid) => api.call('POST', path, { userid, ...more })
}
/** A swap in which vision replaces dental at the boundary. */
export const swap = post('/user/benefits/swap', { add: ['vision'], remove: ['dental'] })
/** A pending cancellation is undone. */
export const reinstate = post('/user/account/reinstate')
/** The user and what is known of the person are erased. */
export const erase = post('/user/account/erase')
