import { asksConsent } from './catalogue-rules.ts'
import { copyOf, find, held, isOn, type Life, never, outlook } from './reference-model.ts'
import { act } from './reference-requests.ts'

// Where a benefit's tile leads (contract §6), found by trying: a request on a copy of the life is accepted or not.

/** The first that applies of swap, manage, enrol and details; without an account, enrol. */
export function routeOf(u: Life, b: string, now: number): string {
  if (u.status !== 'active') return 'enrol'
  if (isPicked(u, b)) return 'swap'
  const one = find(u, b)
  if (one && isOn(one, now)) return 'manage'
  if (one) return one.waits ? 'enrol' : 'details'
  if (isEnrolledNow(u, b, now)) return 'enrol'
  const ways = [[], ...held(u).map(pick => [pick.b])]
  // The pending swap sent again is accepted as well, and changes nothing: not a swap that the tile could lead to.
  const anew = { ...u, pairs: [] }
  const maySwap = ways.some(remove => isAccepted(anew, { op: 'swap', add: [b], remove }, now))
  return maySwap ? 'swap' : 'details'
}

/** Whether a pair of the pending swap that will take effect names the benefit. */
function isPicked(u: Life, b: string): boolean {
  if (u.at.swap === never) return false
  const { against } = outlook(u).later
  return u.pairs.some(({ add, remove }, i) => !against[i]?.length && (add === b || remove === b))
}

/** Whether a request to enrol brings the benefit at once. A consent to what a pending offer change brings is accepted, too, but brings nothing now. */
function isEnrolledNow(u: Life, b: string, now: number): boolean {
  const after = copyOf(u)
  const { refused } = act(after, { op: 'enrol', b, agreed: asksConsent(b) }, now)
  return refused === undefined && find(after, b) !== undefined
}

function isAccepted(u: Life, op: Parameters<typeof act>[1], now: number): boolean {
  return act(copyOf(u), op, now).refused === undefined
}
