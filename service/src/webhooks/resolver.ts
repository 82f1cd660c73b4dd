import { Resolver } from 'node:dns/promises'
import { isLoopbackName } from './address.ts'
import { codeOf, Fault } from './outcome.ts'

/** Looks names up for webhooks. */
export interface NameResolver {
  /** All addresses of a name, IPv4 first; one at least. Throws a Fault `dns`, or one of our own kinds. */
  resolve(name: string): Promise<readonly string[]>
  /** Ends every look-up under way, with the Fault `stopped`. */
  close(): void
}

export interface ResolverOptions {
  /** Name servers as `address:port`; the system's when absent. */
  servers?: readonly string[]
  /** The longest that one look-up may take. */
  timeoutMs?: number
}

/**
 * How long the second family may come after the first: some name servers never answer for IPv6,
 * and their partners should not pay the whole time-out on each connection.
 */
const SECOND_FAMILY_MS = 300

/**
 * A resolver that asks name servers by itself, since `getaddrinfo` would block the four threads that files share.
 *
 * Silence has two reasons: nobody answers for the name, which is the endpoint's fault, or our name servers are away,
 * which is ours. So a look-up that is slow asks them for the root as well, which no endpoint can keep from answering.
 */
export function createResolver({ servers, timeoutMs = 3000 }: ResolverOptions = {}): NameResolver {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  let answeredAt = Number.NEGATIVE_INFINITY
  let isAskingForRoot = false

  /** Notes when a name server said something, be it that there is no such name. */
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

/** What c-ares reports when an answer came. */
const SERVER_SAID: ReadonlySet<string> = new Set([
  'ENODATA',
  'ENOTFOUND',
  'ESERVFAIL',
  'EREFUSED',
  'EFORMERR',
  'ENOTIMP',
  'EBADRESP',
])

interface Answer {
  addresses: string[]
  error?: unknown
}

/** Every answer that came in time, in the order asked; the rest are left to the resolver's own time-out. */
function gather(families: Promise<string[]>[], timeoutMs: number): Promise<Answer[]> {
  return new Promise(resolve => {
    const answers: Answer[] = families.map(() => ({ addresses: [] }))
    let missing = families.length
    const stop = () => {
      missing = 0
      clearTimeout(timer)
      resolve(answers)
    }
    let timer = setTimeout(stop, timeoutMs)
    const note = (index: number, answer: Answer) => {
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

/** `isAnswered`: a name server answered something while the look-up was under way. */
function faultOfLookup(errors: unknown[], isAnswered: boolean): Fault {
  const codes = errors.map(codeOf)
  const cause = errors.find(error => error !== undefined)
  if (codes.includes('ECANCELLED')) return new Fault('stopped', cause)
  if (codes.includes('ENOMEM')) return new Fault('exhausted', cause)
  // Unreachable, or silent for every name: this one is not to blame.
  const isOurs = !isAnswered || codes.every(code => code === 'ECONNREFUSED')
  return new Fault(isOurs ? 'resolver' : 'dns', cause)
}
