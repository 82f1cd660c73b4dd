// What is asked for in `bench/http.mjs`, by name.

/** Three times as many users as the service remembers, so that a user who is read again has been forgotten. */
export const crowd = 80_000

let serial = 0
/** A name that no earlier run has used. */
function freshName() {
  serial += 1
  return `b${serial}-${Date.now()}`
}

/** The scenarios by name: the load, the server to compare with, and the target of each ratio. */
export function scenariosIn({ partners, bare }, { connections, seconds }) {
  const job = { partners, connections, seconds }
  const fresh = kind => () => ({ ...job, kind, name: freshName() })
  let from = 0
  const once = () => {
    // Starts beyond the last user that the previous round may have read.
    from = (from + 30_000) % crowd
    return { ...job, kind: 'benefits', prefix: 'once', from, users: crowd }
  }
  const again = (kind, prefix) => () => ({ ...job, kind, prefix, users: 500 })
  return {
    'prefill, new keys': { job: fresh('prefill'), bare: bare.saved, rows: true },
    'prefill, repeats': { job: again('repeats', 'spent'), bare: bare.saved, expected: '409' },
    'prefill, v1': { job: fresh('v1'), bare: bare.saved },
    'benefits, same users': { job: again('benefits', 'holder'), bare: bare.holder },
    'benefits, each user once': { job: once, bare: bare.holder },
    'benefits, prefilled only': { job: again('benefits', 'prefilled'), bare: bare.prefilled },
    'benefits, with enrolments': { job: again('varied', 'swapping'), bare: bare.swapping },
    create: { job: fresh('create'), bare: bare.created },
    token: { job: () => ({ ...job, kind: 'token' }), bare: bare.token },
    'mix 60/30/10': {
      job: () => ({ ...fresh('mix')(), prefix: 'holder', users: 500 }),
      bare: bare.holder,
    },
  }
}
