import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Database } from '../db/database.ts'
import type { Installation } from '../installation.ts'
import { clientIdOf } from '../oauth/client-credentials.ts'
import { OperatorError } from '../operator-error.ts'
import { partnerOf } from '../partners/keys.ts'
import { changePartner, createPartner } from '../partners/manage.ts'
import { findPartners } from '../partners/store.ts'
import type { Keyring } from '../vault/keyring.ts'
import { createPrivateFile, readPrivateFile } from '../vault/private-file.ts'
import type { AddressRules } from '../webhooks/address.ts'
import { addEndpoint, changeEndpoint, listEndpoints } from '../webhooks/endpoints.ts'
import type { ReceiverSettings } from './receiver.ts'

/** The demo partner's credentials, kept in a file that only its owner reads. */
export type DemoCredentials = {
  readonly partnerid: string
  readonly clientid: string
  readonly clientsecret: string
  readonly apikey: string
  readonly webhook: ReceiverSettings
}

/** What the demo partner calls itself, to its users too. */
const platformName = 'Harbor Rides'

/** Reads the demo partner's credentials, or makes the partner at the first start. */
export const openDemo = async (
  path: string,
  context: { database: Database; keyring: Keyring; installation: Installation },
): Promise<DemoCredentials> => {
  const known = read(path)
  if (known && (await findPartners(context.database, [known.partnerid])).length > 0) return known
  const { row, clientSecret, apiKey } = await createPartner(
    { name: platformName },
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

/** Sees to it that the demo partner's webhook leads to where its receiver listens now. */
export const sendTo = async (
  url: string,
  demo: DemoCredentials,
  context: { database: Database; keyring: Keyring; webhookRules: AddressRules },
): Promise<void> => {
  const { database, keyring, webhookRules: rules } = context
  const [row] = await findPartners(database, [demo.partnerid])
  if (!row) throw new Error('the demo partner is missing')
  const partner = partnerOf(row, keyring)
  const [known] = await listEndpoints(database, partner.partnerId)
  if (!known) {
    const { username, password } = demo.webhook
    await addEndpoint(
      database,
      { partner, url, username, password, events: 'all' },
      { rules, real: Date.now },
    )
  } else if (known.url !== url) {
    const wish = { partner, endpointId: known.endpoint_id, changes: { url } }
    await database.transaction(tx => changeEndpoint(tx, wish, { rules, real: Date.now }))
  }
}

/** Sees to it that the demo partner's site may hold the embed, and be come back to, where it listens now. */
export const admitSite = async (
  port: number,
  demo: DemoCredentials,
  context: { database: Database; keyring: Keyring },
): Promise<void> => {
  const origins = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  const redirects = origins.map(origin => `${origin}/demo`)
  await changePartner(
    demo.partnerid,
    { name: platformName, origins, redirects },
    { ...context, mode: 'sandbox', real: Date.now, knownOffers: [] },
  )
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
