// The scenarios of `bench/http.mjs`, by name.
import { quick } from './options.mjs'

/**
 * The number of users whom the service has forgotten by the time it reads them again. It keeps a user in memory from the
 * second read on, and remembers of about the last 65,536 users that they were read once: of 80,000 users it would still
 * recognize nearly a third.
 */
export const crowd = quick ? 50_000 : 200_000

let serial = 0
/** A name that no earlier run has used. */
export function freshName() {
  serial += 1
  return `b${serial}-${Date.now()}`
}

/**
 * A load that reads each of these users once before it reads any of them again. Each measurement continues where the last
 * one ended, so `answered` must be told how many requests that one made. With a `stride`, which must share no factor with
 * the number of users, users stored side by side are not read one after the other.
 */
export function onceEach({ job, prefix, users, stride = 1 }) {
  let count = 0
  return {
    job: () => ({ ...job, kind: 'benefits', prefix, from: (count * stride) % users, users, stride }),
    answered: requests => {
      count += requests
    },
  }
}

/** The aim, and the mark beyond it, of each ratio to the bare server at the usual number of connections. */
const aims = {
  prefill: { node: [6], database: [3] },
  benefits: { rate: [0.4, 0.5], node: [2.5, 2] },
  once: { rate: [0.3], node: [2.5, 2] },
  none: {},
}

/**
 * The scenarios by name: the load, the server to compare with, and the aims. `alone` names the statement that one request at
 * a time is compared with, and `answered` is to be called with the number of requests that the service has answered.
 */
export function scenariosIn({ partners, bare }, { connections, seconds }) {
  const job = { partners, connections, seconds }
  const fresh = kind => () => ({ ...job, kind, name: freshName() })
  const again = (kind, prefix) => () => ({ ...job, kind, prefix, users: 500 })
  const reads = (prefix, answer) => ({
    job: again('benefits', prefix),
    bare: bare[answer],
    aims: aims.benefits,
  })
  return {
    'prefill, new keys': {
      job: fresh('prefill'),
      bare: bare.saved,
      aims: aims.prefill,
      alone: 'rows',
      rows: true,
    },
    'prefill, repeats': {
      job: again('repeats', 'spent'),
      bare: bare.saved,
      expected: '409',
      aims: aims.prefill,
    },
    'prefill, v1': { job: fresh('v1'), bare: bare.saved, aims: aims.prefill },
    'benefits, same users': { ...reads('holder', 'holder'), alone: 'version' },
    'benefits, each user once': {
      ...onceEach({ job, prefix: 'once', users: crowd }),
      bare: bare.holder,
      aims: aims.once,
    },
    'benefits, prefilled only': reads('prefilled', 'prefilled'),
    'benefits, with enrolments': { ...reads('swapping', 'swapping'), job: again('varied', 'swapping') },
    create: { job: fresh('create'), bare: bare.created, aims: aims.none },
    token: { job: () => ({ ...job, kind: 'token' }), bare: bare.token, aims: aims.none },
    'mix 60/30/10': {
      job: () => ({ ...fresh('mix')(), prefix: 'holder', users: 500 }),
      bare: bare.holder,
      aims: aims.none,
    },
  }
}
