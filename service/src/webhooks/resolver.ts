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

/** A resolver that asks name servers by itself, since `getaddrinfo` would block the four threads that files share. */
export function createResolver({ servers, timeoutMs = 3000 }: ResolverOptions = {}): NameResolver {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  return {
    async resolve(name) {
      if (isLoopbackName(name)) return ['127.0.0.1', '::1']
      const families = [resolver.resolve4(name), resolver.resolve6(name)]
      const answers = await gather(families, timeoutMs)
      const addresses = answers.flatMap(answer => answer.addresses)
      if (addresses.length === 0) throw faultOfLookup(answers.map(answer => answer.error))
      return addresses
    },
    close: () => resolver.cancel(),
  }
}

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

function faultOfLookup(errors: unknown[]): Fault {
  const codes = errors.map(codeOf)
  const cause = errors.find(error => error !== undefined)
  if (codes.includes('ECANCELLED')) return new Fault('stopped', cause)
  // c-ares says so when no name server can be reached at all: the name is not to blame.
  if (codes.every(code => code === 'ECONNREFUSED')) return new Fault('resolver', cause)
  if (codes.includes('ENOMEM')) return new Fault('exhausted', cause)
  return new Fault('dns', cause)
}
