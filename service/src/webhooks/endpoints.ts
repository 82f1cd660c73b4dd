import type { EventName } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import type { Partner } from '../partners/partner.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { type AddressRules, checkWebhookUrl } from './address.ts'
import { closedBreaker } from './breaker.ts'
import type { DisabledReason, EndpointRow } from './endpoint.ts'
import { newWebhookSecret } from './envelope.ts'
import { type EndpointSecrets, openSecrets, ROTATION_MS, type SigningSecret, sealSecrets } from './secrets.ts'
import {
  findEndpoints,
  forgetPairs,
  insertEndpoint,
  type ListedEndpoint,
  lockEndpoint,
  markDeleted,
  markDisabled,
  markEnabled,
  resetHealth,
  updateEndpoint,
} from './store.ts'

/** Why an endpoint is not taken: one sentence a field, which never repeats a value. */
export type EndpointRefusal = {
  readonly refused: readonly { field: string; code: string; message: string }[]
}

/** A new endpoint as it is asked for. */
export type EndpointWish = {
  readonly partner: Partner
  readonly url: string
  readonly username: string
  readonly password: string
  readonly events: readonly EventName[] | 'all'
  readonly ordering?: 'none' | 'user'
}

/** Checks and stores an endpoint; the secret is told here and never again. Refuses a wrong address or credentials. */
export const addEndpoint = async (
  db: Executor,
  wish: EndpointWish,
  context: { rules: AddressRules; real: () => Instant },
): Promise<{ webhookid: string; webhooksecret: string } | EndpointRefusal> => {
  const faults = [...faultsOfUrl(wish.url, context.rules), ...faultsOfCredentials(wish)]
  if (faults.length > 0) return { refused: faults }
  const { partner } = wish
  const now = context.real()
  const endpointId = uuidv7(now)
  const secret = newWebhookSecret()
  const secrets: EndpointSecrets = {
    password: wish.password,
    nextPassword: null,
    signing: [{ secret, until: null }],
  }
  await insertEndpoint(db, {
    partnerId: partner.partnerId,
    endpointId,
    url: wish.url,
    username: wish.username,
    sealedSecrets: sealSecrets({ partnerId: partner.partnerId, endpointId, key: partner.key }, secrets),
    events: wish.events === 'all' ? [] : [...new Set(wish.events)],
    allEvents: wish.events === 'all',
    ordering: wish.ordering ?? 'none',
    createdAt: now,
  })
  return { webhookid: endpointId, webhooksecret: secret }
}

/** The endpoints of a partner, oldest first. */
export const listEndpoints = (db: Executor, partnerId: string): Promise<ListedEndpoint[]> =>
  findEndpoints(db, partnerId)

/** One endpoint, or `undefined` when the partner has none of this id. */
export const getEndpoint = async (
  db: Executor,
  partnerId: string,
  endpointId: string,
): Promise<ListedEndpoint | undefined> => (await findEndpoints(db, partnerId, endpointId))[0]

/** What may be changed of an endpoint; what is absent stays. */
export type EndpointChanges = {
  readonly url?: string
  readonly events?: readonly EventName[] | 'all'
  readonly ordering?: 'none' | 'user'
  /** A new pair of credentials: tried first from now on, the present one after a 401. */
  readonly credentials?: { readonly username: string; readonly password: string }
  readonly rotateSecret?: boolean
}

/**
 * Changes an endpoint, inside a transaction; gives the new secret when one was asked for. `undefined` when the partner
 * has none of this id; refuses a wrong address or credentials, and then changes nothing.
 */
export const changeEndpoint = async (
  tx: Executor,
  wish: { partner: Partner; endpointId: string; changes: EndpointChanges },
  context: { rules: AddressRules; real: () => Instant },
): Promise<{ webhooksecret?: string } | EndpointRefusal | undefined> => {
  const { partner, endpointId, changes } = wish
  const named = { partnerId: partner.partnerId, endpointId }
  const row = await lockEndpoint(tx, named)
  if (!row) return undefined
  const faults = [
    ...(changes.url === undefined ? [] : faultsOfUrl(changes.url, context.rules)),
    ...(changes.credentials ? faultsOfCredentials(changes.credentials) : []),
  ]
  if (faults.length > 0) return { refused: faults }
  const now = context.real()
  const owner = { ...named, key: partner.key }
  const before = openSecrets(owner, row.sealed_secrets)
  const webhooksecret = changes.rotateSecret ? newWebhookSecret() : undefined
  const signing = webhooksecret === undefined ? before.signing : rotated(before.signing, webhooksecret, now)
  const kept = { ...before, signing }
  const pairs = changes.credentials ? withNewPair(row, kept, changes.credentials) : { row, secrets: kept }
  const { events } = changes
  await updateEndpoint(
    tx,
    {
      ...pairs.row,
      sealed_secrets: sealSecrets(owner, pairs.secrets),
      ...(changes.url === undefined ? {} : { url: changes.url }),
      ...(events === undefined
        ? {}
        : { events: events === 'all' ? [] : [...new Set(events)], all_events: events === 'all' }),
      ...(changes.ordering === undefined ? {} : { ordering: changes.ordering }),
    },
    now,
  )
  if (changes.credentials) await forgetPairs(tx, named, row.accepted_pair === null ? null : 'current')
  // What was learnt of another address says nothing of this one, and refused credentials nothing of new ones.
  const isOtherEndpoint = changes.url !== undefined && changes.url !== row.url
  if (isOtherEndpoint || (changes.credentials && row.breaker.open?.by === 'credentials'))
    await resetHealth(tx, named, { ...closedBreaker(), window: 1 })
  return webhooksecret === undefined ? {} : { webhooksecret }
}

/** The older secret signs for another day; a still older one goes at once. */
const rotated = (signing: readonly SigningSecret[], secret: string, now: Instant): SigningSecret[] => {
  const previous = signing.find(({ until }) => until === null)
  return [{ secret, until: null }, ...(previous ? [{ ...previous, until: now + ROTATION_MS }] : [])]
}

/** The pair that worked last becomes the present one; the new one stands beside it. */
const withNewPair = (
  row: EndpointRow,
  secrets: EndpointSecrets,
  credentials: { username: string; password: string },
): { row: EndpointRow; secrets: EndpointSecrets } => {
  const { accepted_pair: accepted, next_username: nextUsername } = row
  const { nextPassword } = secrets
  const present =
    accepted === 'next' && nextUsername !== null && nextPassword !== null
      ? { username: nextUsername, password: nextPassword }
      : { username: row.username, password: secrets.password }
  return {
    row: { ...row, username: present.username, next_username: credentials.username },
    secrets: { ...secrets, password: present.password, nextPassword: credentials.password },
  }
}

/** Enables an endpoint: what it missed is sent, oldest first. False when the partner has none of this id. */
export const enableEndpoint = async (
  tx: Executor,
  named: { partnerId: string; endpointId: string },
  now: Instant,
): Promise<boolean> => {
  if (!(await lockEndpoint(tx, named))) return false
  await markEnabled(tx, named, now)
  return true
}

/** Disables an endpoint: its events are held. False when the partner has none of this id. */
export const disableEndpoint = async (
  tx: Executor,
  named: { partnerId: string; endpointId: string },
  why: { reason: DisabledReason; at: Instant },
): Promise<boolean> => {
  if (!(await lockEndpoint(tx, named))) return false
  await markDisabled(tx, named, why)
  return true
}

/** Deletes an endpoint with all that waits for it. False when the partner has none of this id. */
export const removeEndpoint = async (
  tx: Executor,
  named: { partnerId: string; endpointId: string },
  now: Instant,
): Promise<boolean> => {
  if (!(await lockEndpoint(tx, named))) return false
  await markDeleted(tx, named, now)
  return true
}

type Fault = EndpointRefusal['refused'][number]

const faultsOfUrl = (text: string, rules: AddressRules): Fault[] => {
  const checked = checkWebhookUrl(text, rules)
  return checked.ok ? [] : [{ field: 'url', code: 'address', message: checked.reason }]
}

const faultsOfCredentials = ({ username, password }: { username: string; password: string }): Fault[] => {
  const faults: Fault[] = []
  // RFC 7617: the first colon ends the user name, and neither may hold control characters.
  if (!/^[^:\p{Cc}\p{Cs}]{1,255}$/u.test(username))
    faults.push({
      field: 'username',
      code: 'format',
      message: 'username must be 1 to 255 characters without a colon and control characters',
    })
  if (!/^[^\p{Cc}\p{Cs}]{1,255}$/u.test(password))
    faults.push({
      field: 'password',
      code: 'format',
      message: 'password must be 1 to 255 characters without control characters',
    })
  return faults
}
