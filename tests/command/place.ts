import { type Client, createClient } from '../../client/src/index.ts'
import type { DatabaseAddress } from '../../service/src/db/database.ts'
import { freshDatabase } from '../rig.ts'
import { urlOf } from './database-url.ts'
import { newDirectory, type Place, type ServiceProcess } from './process.ts'

/** Where an operator works: a directory and the environment that names a database. */
export type Workplace = Place & { readonly cwd: string; readonly env: Readonly<Record<string, string>> }

/** Makes a fresh database and a fresh directory; `remove` removes both, once nothing runs there any more. */
export const newWorkplace = async (
  env: Readonly<Record<string, string>> = {},
): Promise<{ place: Workplace; address: DatabaseAddress; remove: () => Promise<void> }> => {
  const { address, drop } = await freshDatabase()
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

/** A partner as `partner create` shows it once. */
export type Created = { partnerid: string; clientid: string; clientsecret: string; apikey: string }

/** A client of a service with a partner's credentials, as the operator hands them over; it tries once. */
export const clientOf = (
  service: ServiceProcess,
  { clientid: clientId, clientsecret: clientSecret, apikey: apiKey }: Omit<Created, 'partnerid'>,
): Client => createClient({ baseUrl: service.address, clientId, clientSecret, apiKey, tries: 1, ...patient })

/** They only catch a hang. */
const patient = { timeoutMs: 60_000, deadlineMs: 60_000 }

/** The code with which a call is refused, ` replayed` behind it where it was the earlier answer; empty when it is not. */
export const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => '',
    (error: { code: string; replayed?: boolean }) => error.code + (error.replayed ? ' replayed' : ''),
  )
