import type { Client, ResponseInfo } from '../../client/src/index.ts'
import type { TestPartner } from '../rig.ts'

/** A client of a partner, with the answers that its observer got. */
export type Listener = {
  readonly client: Client
  /** The observer's last answer. Throws when there was none. */
  readonly last: () => ResponseInfo
  /** All answers of the observer, in order. */
  readonly told: readonly ResponseInfo[]
}

/** Opens a client whose answers are observed, as a partner does with `onResponse`. */
export function listenTo(
  partner: TestPartner,
  options: Parameters<TestPartner['connect']>[0] = {},
): Listener {
  const told: ResponseInfo[] = []
  return {
    client: partner.connect({ ...options, onResponse: info => told.push(info) }),
    last: () => {
      const info = told.at(-1)
      if (!info) throw new Error('there was no answer')
      return info
    },
    told,
  }
}

/** A fetch for a client that keeps the whole text of every answer, of which the client returns only parts. */
export function keepTexts(fetch: typeof globalThis.fetch) {
  const texts: string[] = []
  return {
    texts,
    fetch: async (...request: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(...request)
      texts.push(await response.clone().text())
      return response
    },
  }
}

/**
 * A fetch for a client that loses the first answer from each address except the token endpoint's: the service has
 * answered, and the connection breaks. `meanwhile` runs before the client can try again.
 */
export function loseAnswers(fetch: typeof globalThis.fetch, meanwhile = async (): Promise<void> => {}) {
  const lost = new Set<string>()
  return async (...request: Parameters<typeof fetch>): Promise<Response> => {
    const answer = await fetch(...request)
    const address = String(request[0])
    if (lost.has(address) || address.endsWith('/oauth2/token')) return answer
    lost.add(address)
    await meanwhile()
    throw new TypeError('fetch failed')
  }
}
