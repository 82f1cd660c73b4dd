/**
 * The demo that `enrolment dev` starts beside the service: a made-up partner with its site and its webhook. This file
 * creates the partner and keeps its credentials.
 */
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { scopeNames } from '@benefit-enrolment/contract/names'
import type { Database } from '../db/database.ts'
import type { Installation } from '../installation.ts'
import { clientIdOf } from '../oauth/client-credentials.ts'
import { OperatorError } from '../operator-error.ts'
import { changePartner, createPartner } from '../partners/administer.ts'
import { partnerOf } from '../partners/keys.ts'
import type { PartnerSettings } from '../partners/settings.ts'
import { findPartners } from '../partners/store.ts'
import type { Keyring } from '../vault/keyring.ts'
import { createPrivateFile, readPrivateFile } from '../vault/private-file.ts'
import type { AddressRules } from '../webhooks/egress/address.ts'
import { addEndpoint, changeEndpoint } from '../webhooks/endpoint/endpoints.ts'
import { listEndpoints } from '../webhooks/endpoint/store.ts'

/** The demo partner's credentials, stored in a file that only its owner can read. */
export type DemoCredentials = {
  readonly partnerid: string
  readonly clientid: string
  readonly clientsecret: string
  readonly apikey: string
  /** The address of the service on this machine, as of the last start. */
  readonly baseurl?: string
  /** The port and the credentials of its webhook. */
  readonly webhook: { readonly port: number; readonly username: string; readonly password: string }
}

/** The name of the demo partner, which its users see too. */
const platformName = 'Harbor Rides'

/** The demo partner's look and links at the first start; later changes by an operator are kept. */
const firstSettings: PartnerSettings = {
  name: platformName,
  // Named one by one, because beneficiaries are not in the default scopes; so everything in the docs can be tried at
  // once.
  scopes: scopeNames,
  help: {
    phone: '1-800-555-0142',
    email: 'benefits@harborrides.example',
    url: 'https://harborrides.example/help',
  },
  legal: {
    privacyUrl: 'https://harborrides.example/privacy',
    termsUrl: 'https://harborrides.example/terms',
    operatorLine: 'Administered by Tidewater Benefits LLC for the drivers of Harbor Rides.',
    operatorLineEs: 'Administrado por Tidewater Benefits LLC para los conductores de Harbor Rides.',
  },
  look: {
    colors: JSON.stringify({
      light: { accent: '#0b4f8a', background: '#f3f6fa' },
      dark: { accent: '#8ec5ff', onaccent: '#06213a', background: '#0d1620', surface: '#152130' },
    }),
    radius: '14',
  },
}

/**
 * Reads the demo partner's credentials. At the first start, or when the database has no such partner, creates the
 * partner. Throws OperatorError when the file is damaged.
 */
export async function openDemo(
  path: string,
  context: { database: Database; keyring: Keyring; installation: Installation },
): Promise<DemoCredentials> {
  const known = read(path)
  if (known && (await findPartners(context.database, [known.partnerid])).length > 0) return known
  const { row, clientSecret, apiKey } = await createPartner(firstSettings, {
    ...context,
    mode: 'sandbox',
    real: Date.now,
    knownOffers: [],
    by: 'enrolment dev',
  })
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

/** Points the demo partner's webhook at the present address of its receiver. */
export async function sendTo(
  url: string,
  demo: DemoCredentials,
  context: { database: Database; keyring: Keyring; webhookRules: AddressRules },
): Promise<void> {
  const { database, keyring, webhookRules: rules } = context
  const [row] = await findPartners(database, [demo.partnerid])
  if (!row) throw new Error('the demo partner is missing')
  const partner = partnerOf(row, keyring)
  // The people of a sandbox have an endpoint of their own, which fails.
  const known = (await listEndpoints(database, partner.partnerId)).find(one => one.url.endsWith('/webhook'))
  if (!known) {
    const { username, password } = demo.webhook
    await addEndpoint(
      database,
      { partner, url, username, password, events: 'all' },
      { rules, real: Date.now },
    )
  } else if (known.url !== url) {
    const input = { partner, endpointId: known.endpoint_id, changes: { url } }
    await database.transaction(tx => changeEndpoint(tx, input, { rules, real: Date.now }))
  }
}

/** Allows the demo partner's site, at its present port, to embed the page and to be redirected to. */
export async function admitSite(
  port: number,
  demo: DemoCredentials,
  context: { database: Database; keyring: Keyring },
): Promise<void> {
  const origins = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  const redirects = origins.map(origin => `${origin}/demo`)
  await changePartner(
    demo.partnerid,
    { name: platformName, origins, redirects },
    { ...context, mode: 'sandbox', real: Date.now, by: 'enrolment dev', knownOffers: [] },
  )
}

/** Stores the credentials, together with the addresses of the service and of the receiver. */
export async function keep(path: string, credentials: DemoCredentials): Promise<void> {
  const text = `${JSON.stringify(credentials, null, 2)}\n`
  if (readPrivateFile(path) === undefined) createPrivateFile(path, text)
  else await writeFile(path, text, { mode: 0o600 })
}

function read(path: string): DemoCredentials | undefined {
  const text = readPrivateFile(path)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as DemoCredentials
  } catch {
    throw new OperatorError(`${path} is damaged: delete it; the next start creates a new demo partner.`)
  }
}
