import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Database } from '../db/database.ts'
import type { Installation } from '../installation.ts'
import { clientIdOf } from '../oauth/client-credentials.ts'
import { OperatorError } from '../operator-error.ts'
import { createPartner } from '../partners/manage.ts'
import { findPartners } from '../partners/store.ts'
import type { Keyring } from '../vault/keyring.ts'
import { createPrivateFile, readPrivateFile } from '../vault/private-file.ts'
import type { ReceiverSettings } from './receiver.ts'

/** The demo partner's credentials, kept in a file that only its owner reads. */
export type DemoCredentials = {
  readonly partnerid: string
  readonly clientid: string
  readonly clientsecret: string
  readonly apikey: string
  readonly webhook: ReceiverSettings
}

/** Reads the demo partner's credentials, or makes the partner at the first start. */
export const openDemo = async (
  path: string,
  context: { database: Database; keyring: Keyring; installation: Installation },
): Promise<DemoCredentials> => {
  const known = read(path)
  if (known && (await findPartners(context.database, [known.partnerid])).length > 0) return known
  const { row, clientSecret, apiKey } = await createPartner(
    { name: 'demo' },
    { ...context, mode: 'sandbox', real: Date.now, knownOffers: [] },
  )
  const credentials: DemoCredentials = {
    partnerid: row.partner_id,
    clientid: clientIdOf(row.partner_id),
    clientsecret: clientSecret,
    apikey: apiKey,
    webhook: { port: 0, username: 'demo', password: randomBytes(18).toString('base64url') },
  }
  await keep(path, credentials)
  return credentials
}

/** Keeps the credentials, with the port on which the receiver was found. */
export const keep = async (path: string, credentials: DemoCredentials): Promise<void> => {
  const text = `${JSON.stringify(credentials, null, 2)}\n`
  if (readPrivateFile(path) === undefined) createPrivateFile(path, text)
  else await writeFile(path, text, { mode: 0o600 })
}

const read = (path: string): DemoCredentials | undefined => {
  const text = readPrivateFile(path)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as DemoCredentials
  } catch {
    throw new OperatorError(`${path} is damaged: delete it, and a new demo partner is made.`)
  }
}
