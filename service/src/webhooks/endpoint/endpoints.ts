/**
 * Endpoints: what partners and operators can do with them, and what the service learns about each one. The rules for
 * retries, the circuit breaker and health are pure functions; `store.ts` has the SQL.
 */
import type { EventName } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { type AddressRules, checkWebhookUrl } from '../egress/address.ts'
import { newWebhookSecret } from '../egress/envelope.ts'
import { closedBreaker } from './breaker.ts'
import type { DisabledReason, EndpointRow, NamedEndpoint } from './endpoint.ts'
import { type EndpointSecrets, openSecrets, ROTATION_MS, type SigningSecret, sealSecrets } from './secrets.ts'
import {
  forgetPairs,
  insertEndpoint,
  type ListedEndpoint,
  listEndpoints,
  lockEndpoint,
  markDeleted,
  markDisabled,
  markEnabled,
  resetHealth,
  updateEndpoint,
} from './store.ts'

/** Why an endpoint is refused: one sentence for each field, which never repeats the value. */
export type EndpointRefusal = {
  readonly refused: readonly { field: string; code: string; message: string }[]
}

/** The request for a new endpoint. */
export type EndpointInput = {
  readonly partner: Partner
  readonly url: string
  readonly username: string
  readonly password: string
  readonly events: readonly EventName[] | 'all'
  readonly ordering?: 'none' | 'user' | undefined
}

/**
 * Checks and stores an endpoint, and returns its signing secret, which is never shown again. Refuses a wrong address or
 * wrong credentials; nothing is stored then.
 */
export async function addEndpoint(
  db: Executor,
  input: EndpointInput,
  context: { rules: AddressRules; real: () => Instant },
): Promise<{ webhookid: string; webhooksecret: string } | EndpointRefusal> {
  const faults = faultsOfEndpoint(input, context.rules)
  if (faults.length > 0) return { refused: faults }
  const { partner, url, username, ordering = 'none' } = input
  const { partnerId, key } = partner
  const now = context.real()
  const endpointId = uuidv7(now)
  const secret = newWebhookSecret()
  const secrets: EndpointSecrets = {
    password: input.password,
    nextPassword: null,
    signing: [{ secret, until: null }],
  }
  const sealed_secrets = sealSecrets({ partnerId, endpointId, key }, secrets)
  const named = { partner_id: partnerId, endpoint_id: endpointId }
  const row = { ...named, url, username, sealed_secrets, ordering, ...subscribedTo(input.events) }
  await insertEndpoint(db, row, now)
  return { webhookid: endpointId, webhooksecret: secret }
}

function subscribedTo(events: readonly EventName[] | 'all'): Pick<EndpointRow, 'events' | 'all_events'> {
  return events === 'all'
    ? { events: [], all_events: true }
    : { events: [...new Set(events)], all_events: false }
}

/** One endpoint, or `undefined` when the partner has none of this id. */
export async function getEndpoint(
  db: Executor,
  partnerId: string,
  endpointId: string,
): Promise<ListedEndpoint | undefined> {
  return (await listEndpoints(db, partnerId, endpointId))[0]
}

/** The changes to an endpoint; absent parts stay. */
export type EndpointChanges = {
  readonly url?: string
  readonly events?: readonly EventName[] | 'all'
  readonly ordering?: 'none' | 'user' | undefined
  /** New credentials, for the newest user name unless another is given: used first from now on, and the present ones after a 401. */
  readonly credentials?: { readonly username?: string; readonly password: string }
  readonly rotateSecret?: boolean
}

/**
 * Changes an endpoint inside a transaction, and returns the new signing secret if one was requested. `undefined` when
 * the partner has no endpoint of this id. Refuses a wrong address or wrong credentials; nothing is changed then.
 */
export async function changeEndpoint(
  tx: Executor,
  input: { partner: Partner; endpointId: string; changes: EndpointChanges },
  context: { rules: AddressRules; real: () => Instant },
): Promise<{ webhooksecret?: string } | EndpointRefusal | undefined> {
  const { partner, endpointId, changes } = input
  const named = { partnerId: partner.partnerId, endpointId }
  const row = await lockEndpoint(tx, named)
  if (!row) return undefined
  const credentials = changes.credentials && {
    username: row.next_username ?? row.username,
    ...changes.credentials,
  }
  const faults = [
    ...(changes.url === undefined ? [] : faultsOfUrl(changes.url, context.rules)),
    ...(credentials ? faultsOfCredentials(credentials) : []),
  ]
  if (faults.length > 0) return { refused: faults }
  const now = context.real()
  const owner = { ...named, key: partner.key }
  const before = openSecrets(owner, row.sealed_secrets)
  const webhooksecret = changes.rotateSecret ? newWebhookSecret() : undefined
  const signing = webhooksecret === undefined ? before.signing : rotated(before.signing, webhooksecret, now)
  const kept = { ...before, signing }
  const pairs = credentials ? withNewPair(row, kept, credentials) : { row, secrets: kept }
  const { url = row.url, ordering = row.ordering, events } = changes
  const sealed_secrets = sealSecrets(owner, pairs.secrets)
  const changed = { ...pairs.row, url, ordering, sealed_secrets, ...(events && subscribedTo(events)) }
  await updateEndpoint(tx, changed, now)
  if (changes.credentials) await forgetPairs(tx, named, row.accepted_pair === null ? null : 'current')
  // The health at another address says nothing about the new one, and refused credentials say nothing about new ones.
  if (url !== row.url || (changes.credentials && row.breaker.open?.by === 'credentials'))
    await resetHealth(tx, named, { ...closedBreaker(), window: 1 })
  return { ...(webhooksecret && { webhooksecret }) }
}

/** Adds a secret: the present one signs for another day, and an even older one ends at once. */
function rotated(signing: readonly SigningSecret[], secret: string, now: Instant): SigningSecret[] {
  const previous = signing.find(({ until }) => until === null)
  return [{ secret, until: null }, ...(previous ? [{ ...previous, until: now + ROTATION_MS }] : [])]
}

/** Adds new credentials beside the present ones, which are the last that the endpoint accepted. */
function withNewPair(
  row: EndpointRow,
  secrets: EndpointSecrets,
  credentials: { username: string; password: string },
): { row: EndpointRow; secrets: EndpointSecrets } {
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

/** Enables an endpoint; held events are sent, the oldest first. False when the partner has no endpoint of this id. */
export async function enableEndpoint(tx: Executor, named: NamedEndpoint, now: Instant): Promise<boolean> {
  if (!(await lockEndpoint(tx, named))) return false
  await markEnabled(tx, named, now)
  return true
}

/** Disables an endpoint; its events are held. False when the partner has no endpoint of this id. */
export async function disableEndpoint(
  tx: Executor,
  named: NamedEndpoint,
  why: { reason: DisabledReason; at: Instant },
): Promise<boolean> {
  if (!(await lockEndpoint(tx, named))) return false
  await markDisabled(tx, named, why)
  return true
}

/** Deletes an endpoint and everything that waits for it. False when the partner has no endpoint of this id. */
export async function removeEndpoint(tx: Executor, named: NamedEndpoint, now: Instant): Promise<boolean> {
  if (!(await lockEndpoint(tx, named))) return false
  await markDeleted(tx, named, now)
  return true
}

type Fault = EndpointRefusal['refused'][number]

/** The reasons for which an endpoint with this address and these credentials would be refused; none: it would not. */
export function faultsOfEndpoint(
  { url, username, password }: { url: string; username: string; password: string },
  rules: AddressRules,
): EndpointRefusal['refused'] {
  return [...faultsOfUrl(url, rules), ...faultsOfCredentials({ username, password })]
}

function faultsOfUrl(text: string, rules: AddressRules): Fault[] {
  const checked = checkWebhookUrl(text, rules)
  return checked.ok ? [] : [{ field: 'url', code: 'address', message: checked.reason }]
}

function faultsOfCredentials({ username, password }: { username: string; password: string }): Fault[] {
  const faults: Fault[] = []
  // By RFC 7617 the first colon ends the user name, and neither part may contain control characters.
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
