/** Looks up the names of endpoints, and finds out whether a failure is due to the name or to our name servers. */
import { Resolver } from 'node:dns/promises'
import { isLoopbackName } from './address.ts'
import { codeOf, Fault } from './outcome.ts'

/** Looks up names for webhooks. */
export type NameResolver = {
  /** All addresses of a name, at least one, IPv4 first. Throws the Fault `dns`, or one of our own kinds. */
  resolve(name: string): Promise<readonly string[]>
  /** Ends every look-up under way with the Fault `stopped`. */
  close(): void
}

/** Where names are looked up, and how long a look-up may take. */
type ResolverOptions = {
  /** Name servers as `address:port`; the system's when absent. */
  servers?: readonly string[]
  /** The limit for one look-up. */
  timeoutMs?: number
}

/**
 * How long to wait for the second address family after the first has answered: some name servers never answer for IPv6,
 * and endpoints there should not wait for the whole time-out with each connection.
 */
const SECOND_FAMILY_MS = 300

/**
 * Opens a resolver that asks name servers itself, because `getaddrinfo` would block the four threads that file access
 * shares.
 *
 * Silence can have two reasons: no server answers for this name, which is the endpoint's fault, or no name server
 * answers at all, which is ours. So when a look-up is slow, the resolver also asks for the root, whose answer no
 * endpoint can prevent.
 */
export function createResolver({ servers, timeoutMs = 3000 }: ResolverOptions = {}): NameResolver {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  let answeredAt = Number.NEGATIVE_INFINITY
  let isAskingForRoot = false

  /** Notes the time of every answer of a name server, even of the answer that a name does not exist. */
  const noted = <T>(asking: Promise<T>): Promise<T> => {
    const note = () => {
      answeredAt = performance.now()
    }
    asking.then(note, (error: unknown) => SERVER_SAID.has(codeOf(error)) && note())
    return asking
  }
  const askForRoot = () => {
    if (isAskingForRoot) return
    isAskingForRoot = true
    const settle = () => {
      isAskingForRoot = false
    }
    noted(resolver.resolveNs('.')).then(settle, settle)
  }

  return {
    async resolve(name) {
      if (isLoopbackName(name)) return ['127.0.0.1', '::1']
      const askedAt = performance.now()
      const slow = setTimeout(askForRoot, timeoutMs / 3)
      const families = [noted(resolver.resolve4(name)), noted(resolver.resolve6(name))]
      const answers = await gather(families, timeoutMs)
      clearTimeout(slow)
      const addresses = answers.flatMap(answer => answer.addresses)
      if (addresses.length === 0)
        throw faultOfLookup(
          answers.map(answer => answer.error),
          answeredAt >= askedAt,
        )
      return addresses
    },
    close: () => resolver.cancel(),
  }
}

/** The codes by which c-ares reports that a server has answered. */
const SERVER_SAID: ReadonlySet<string> = new Set([
  'ENODATA',
  'ENOTFOUND',
  'ESERVFAIL',
  'EREFUSED',
  'EFORMERR',
  'ENOTIMP',
  'EBADRESP',
])

type DnsAnswer = {
  addresses: string[]
  error?: unknown
}

/**
 * Collects every answer that arrives in time, in the order of the questions; the others are left to the resolver's own
 * time-out.
 */
function gather(families: Promise<string[]>[], timeoutMs: number): Promise<DnsAnswer[]> {
  return new Promise(resolve => {
    const answers: DnsAnswer[] = families.map(() => ({ addresses: [] }))
    let missing = families.length
    const stop = () => {
      missing = 0
      clearTimeout(timer)
      resolve(answers)
    }
    let timer = setTimeout(stop, timeoutMs)
    const note = (index: number, answer: DnsAnswer) => {
      if (missing === 0) return
      answers[index] = answer
      missing -= 1
      if (missing === 0) return stop()
      if (answer.addresses.length === 0) return
      clearTimeout(timer)
      timer = setTimeout(stop, SECOND_FAMILY_MS)
    }
    for (const [index, family] of families.entries())
      family.then(
        addresses => note(index, { addresses }),
        (error: unknown) => note(index, { addresses: [], error }),
      )
  })
}

/**
 * The fault of a look-up without addresses. `isAnswered`: a name server has answered some question since the look-up
 * began.
 */
function faultOfLookup(errors: unknown[], isAnswered: boolean): Fault {
  const codes = errors.map(codeOf)
  const cause = errors.find(error => error !== undefined)
  if (codes.includes('ECANCELLED')) return new Fault('stopped', cause)
  if (codes.includes('ENOMEM')) return new Fault('exhausted', cause)
  // The name is not to blame when the name servers are unreachable, or silent for every name.
  const isOurs = !isAnswered || codes.every(code => code === 'ECONNREFUSED')
  return new Fault(isOurs ? 'resolver' : 'dns', cause)
}
