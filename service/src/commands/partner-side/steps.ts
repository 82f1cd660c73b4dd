import type { PartnerApi } from './partner-api.ts'

/** One change of a user of the demo catalogue, made through the API only. */
export type Step = (api: PartnerApi, userid: string) => Promise<unknown>

const person = { firstname: 'Ada', lastname: 'Rivera', email: 'ada.rivera@example.com', dob: '1990-03-27' }

/** A prefill of Ada Rivera from Florida, or of somebody else. */
export function prefillWith(more: { dob?: string; address?: { state: string }; zipcode?: string }): Step {
  const known = { ...person, zipcode: '33101', address: { state: 'FL' }, ...more }
  return (api, userid) => api.call('POST', '/user/prefill', { userid, ...known })
}
/** A prefill of Ada Rivera, born in 1990, from Florida: every offer admits her. */
export const prefill = prefillWith({})

/** Ada Rivera on an offer, with telehealth and dental as first picks. */
export function createOn(offername: string): Step {
  const known = { ...person, zipcode: '33101', state: 'FL', offername, benefits: ['telehealth', 'dental'] }
  return (api, userid) => api.call('POST', '/user/account/create', { userid, ...known })
}
/** Ada Rivera on the offer starter. */
export const create = createOn('starter')

/** A change to another offer, `immediate` or for the `nextperiod`. */
export function moveTo(offername: string, effective: string): Step {
  return (api, userid) => api.call('POST', '/user/offers', { userid, offername, effective })
}

/** A cancel, `immediate` or at the `endofperiod`. */
export function cancel(effective: string): Step {
  return (api, userid) =>
    api.call('DELETE', `/user/account/cancel/${encodeURIComponent(userid)}?effective=${effective}`)
}

/** A request with only the userid and the given members. */
export function post(path: string, more: object = {}): Step {
  return (api, userid) => api.call('POST', path, { userid, ...more })
}
/** A swap in which vision replaces dental at the boundary. */
export const swap = post('/user/benefits/swap', { add: ['vision'], remove: ['dental'] })
/** A pending cancellation is undone. */
export const reinstate = post('/user/account/reinstate')
/** The user and what is known of the person are erased. */
export const erase = post('/user/account/erase')
