import { type ClientOptions, createClient, type Prefill } from '../src/index.ts'

/** A person whose values must show up in no error. */
export const ada = {
  userid: 'u-canary-1001',
  firstname: 'Canarya',
  dob: '1990-03-27',
  phone: '3055550142',
} as const satisfies Prefill

/** A client of a test's server, with credentials that must show up in no error. */
export function connect(baseUrl: string, options: Partial<ClientOptions> = {}) {
  return createClient({
    baseUrl,
    clientId: 'canary-id',
    clientSecret: 'canary-secret',
    apiKey: 'canary-key',
    ...options,
  })
}
