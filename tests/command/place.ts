import { type Client, createClient } from '../../client/src/index.ts'
import type { DatabaseAddress } from '../../service/src/db/database.ts'
import { freshDatabase } from '../rig.ts'
import { urlOf } from './database-url.ts'
import { newDirectory, type Place } from './process.ts'

/** Where an operator works: a directory and the environment that names a database. */
export type Workplace = Place & { readonly cwd: string; readonly env: Readonly<Record<string, string>> }

/**
 * Creates a new database, migrated or empty, and a new directory; `remove` removes both when nothing uses them any
 * more.
 */
export async function newWorkplace(
  env: Readonly<Record<string, string>> = {},
  options: { empty?: boolean } = {},
): Promise<{ place: Workplace; address: DatabaseAddress; remove: () => Promise<void> }> {
  const { address, drop } = await freshDatabase(options)
  const { path: cwd, remove } = await newDirectory()
  return {
    place: { cwd, env: { DATABASE_URL: urlOf(address), ...env } },
    address,
    remove: async () => {
      await drop()
      await remove()
    },
  }
}

/** A partner as `partner create` prints it once. */
export type Created = { partnerid: string; clientid: string; clientsecret: string; apikey: string }

/** A client of a service with a partner's credentials, as the operator hands them over; it makes only one attempt. */
export function clientOf(
  service: { readonly address: string },
  { clientid: clientId, clientsecret: clientSecret, apikey: apiKey }: Omit<Created, 'partnerid'>,
  limits: { timeoutMs?: number; deadlineMs?: number } = patient,
): Client {
  return createClient({ baseUrl: service.address, clientId, clientSecret, apiKey, tries: 1, ...limits })
}

/** These limits only catch a hang. */
const patient = { timeoutMs: 60_000, deadlineMs: 60_000 }

/**
 * The code with which a call is refused, followed by ` replayed` if it was the earlier answer; empty when the call
 * succeeds.
 */
export function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => '',
    (error: { code: string; replayed?: boolean }) => error.code + (error.replayed ? ' replayed' : ''),
  )
}

/** The words that give a new partner an endpoint. */
export function hookAt(
  url: string,
  { username = 'hook', password = 'very:secret', events = 'all' } = {},
): readonly string[] {
  const credentials = ['--webhook-username', username, '--webhook-password', password]
  return ['--webhook-url', url, ...credentials, '--events', events]
}
