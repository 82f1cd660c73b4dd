/**
 * Endpoints: what partners and operators can do with them, and what the service learns about each one. The rules for
 * retries, the circuit breaker and health are pure functions; `store.ts` has the SQL.
 */
import type { EventName } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { AddressRules } from '../egress/address.ts'
import { newWebhookSecret } from '../egress/envelope.ts'
import {
  type Credentials,
  type Fault,
  faultsIn,
  faultsOfUrl,
  type GivenCredentials,
  readCredentials,
  SECRETS,
} from './authorization.ts'
import type { DisabledReason, EndpointRow, NamedEndpoint } from './endpoint.ts'
import { type GatewayInput, NO_GATEWAY, readGateway } from './gateway.ts'
import { raiseNotice } from './notices.ts'
import { type EndpointSecrets, openSecrets, ROTATION_MS, type SigningSecret, sealSecrets } from './secrets.ts'
import {
  changeHealth,
  forgetPace,
  insertEndpoint,
  type ListedEndpoint,
  listEndpoints,
  lockEndpoint,
  markDeleted,
  markDisabled,
  markEnabled,
  updateEndpoint,
} from './store.ts'
import { beginningAnew, type HealthRecord, type Pair } from './verdict.ts'

/** Why an endpoint is refused: one sentence for each field, which never repeats the value. */
export type EndpointRefusal = { readonly refused: readonly Fault[] }

/** The request for a new endpoint. */
export type EndpointInput = GivenCredentials &
  GatewayInput & {
    readonly partner: Partner
    readonly url: string
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
  const now = context.real()
  const { partner, url, ordering = 'none' } = input
  const read = readCredentials(input, undefined, context.rules)
  const gateway = readGateway(input, NO_GATEWAY, now)
  const faults = [...faultsOfUrl('url', url, context.rules), ...faultsIn(read), ...faultsIn(gateway)]
  if ('faults' in read || 'faults' in gateway || faults.length > 0) return { refused: faults }
  const { partnerId, key } = partner
  const endpointId = uuidv7(now)
  const secret = newWebhookSecret()
  const secrets: EndpointSecrets = {
    current: read.credentials,
    next: null,
    signing: [{ secret, until: null }],
    ...gateway.gateway,
  }
  const sealed_secrets = sealSecrets({ partnerId, endpointId, key }, secrets)
  const named = { partner_id: partnerId, endpoint_id: endpointId }
  const rate_limit = input.ratelimit || null
  const row = { ...named, url, sealed_secrets, ordering, rate_limit, ...subscribedTo(input.events) }
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
export type EndpointChanges = GatewayInput & {
  readonly url?: string
  readonly events?: readonly EventName[] | 'all'
  readonly ordering?: 'none' | 'user' | undefined
  /** New credentials, for the newest user name or client unless another is given: used first from now on, and the present ones after a 401. */
  readonly credentials?: GivenCredentials
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
  const now = context.real()
  const owner = { ...named, key: partner.key }
  const before = openSecrets(owner, row.sealed_secrets)
  const isElsewhere = changes.url !== undefined && originOf(changes.url) !== originOf(row.url)
  const newest = isElsewhere ? undefined : (before.next ?? before.current)
  const read = changes.credentials && readCredentials(changes.credentials, newest, context.rules)
  const gateway = readGateway(changes, before, now)
  const wrongUrl = changes.url === undefined ? [] : faultsOfUrl('url', changes.url, context.rules)
  const faults = [
    ...wrongUrl,
    ...(isElsewhere && wrongUrl.length === 0 ? missingAt(changes, before) : []),
    ...(read ? faultsIn(read) : []),
    ...faultsIn(gateway),
  ]
  if ((read && 'faults' in read) || 'faults' in gateway || faults.length > 0) return { refused: faults }
  const webhooksecret = changes.rotateSecret ? newWebhookSecret() : undefined
  const signing = webhooksecret === undefined ? before.signing : rotated(before.signing, webhooksecret, now)
  // The former credentials must not reach another origin, not even after a 401.
  const moved = read && isElsewhere ? { ...before, current: read.credentials, next: null } : undefined
  const pairs = moved ?? (read ? withNewPair(before, read.credentials, row.health.acceptedPair) : before)
  const sealed_secrets = sealSecrets(owner, { ...pairs, signing, ...gateway.gateway })
  const { url = row.url, ordering = row.ordering, events, ratelimit = row.rate_limit } = changes
  const own = { url, ordering, rate_limit: ratelimit || null, sealed_secrets }
  const changed = { ...row, ...own, ...(events && subscribedTo(events)) }
  await updateEndpoint(tx, changed, now)
  if (changed.rate_limit !== row.rate_limit) await forgetPace(tx, named)
  let health: HealthRecord = row.health
  // Earlier successes are not credited to new credentials.
  if (changes.credentials) {
    const acceptedPair = moved || health.acceptedPair === undefined ? undefined : 'current'
    health = { ...health, acceptedPair, nextAcceptedAt: undefined }
  }
  // The health at another address says nothing about the new one, and refused credentials say nothing about new ones.
  const mayBeAccepted = changes.credentials || changes.headers || changes.clientcertificate
  if (url !== row.url || (mayBeAccepted && health.breaker.open?.by === 'credentials'))
    health = beginningAnew(health)
  if (health !== row.health) await changeHealth(tx, named, health)
  return { ...(webhooksecret && { webhooksecret }) }
}

/** Scheme, host and port of an address; `undefined` where it is none, which is refused as such. */
function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined
}

/**
 * What a new origin wants again, so that no secret that was set for the former one reaches it: the credentials, the own
 * headers and the client certificate, where there are such (contract §10).
 */
function missingAt(changes: EndpointChanges, { current, next, headers, client }: EndpointSecrets): Fault[] {
  const wanted = (field: string) => ({
    field,
    code: 'required',
    message: `${field} is required again, because url leads to another origin`,
  })
  return [
    ...(changes.credentials === undefined ? [wanted(SECRETS[(next ?? current).kind])] : []),
    ...(changes.headers === undefined && Object.keys(headers).length > 0 ? [wanted('headers')] : []),
    ...(changes.clientcertificate === undefined && client !== null ? [wanted('clientcertificate')] : []),
  ]
}

/** Adds a secret: the present one signs for another day, and an even older one ends at once. */
function rotated(signing: readonly SigningSecret[], secret: string, now: Instant): SigningSecret[] {
  const previous = signing.find(({ until }) => until === null)
  return [{ secret, until: null }, ...(previous ? [{ ...previous, until: now + ROTATION_MS }] : [])]
}

/** Adds new credentials beside the present ones, which are the last that the endpoint accepted. */
function withNewPair(
  secrets: EndpointSecrets,
  credentials: Credentials,
  accepted: Pair | undefined,
): EndpointSecrets {
  const present = accepted === 'next' && secrets.next !== null ? secrets.next : secrets.current
  return { ...secrets, current: present, next: credentials }
}

/** Enables an endpoint; held events are sent, the oldest first. False when the partner has no endpoint of this id. */
export async function enableEndpoint(tx: Executor, named: NamedEndpoint, now: Instant): Promise<boolean> {
  const row = await lockEndpoint(tx, named)
  if (!row) return false
  await markEnabled(tx, named, { health: row.health, at: now })
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
  await raiseNotice(tx, named, { eventname: 'webhook_disabled', since: why.at, reason: why.reason }, why.at)
  return true
}

/** Deletes an endpoint and everything that waits for it. False when the partner has no endpoint of this id. */
export async function removeEndpoint(tx: Executor, named: NamedEndpoint, now: Instant): Promise<boolean> {
  if (!(await lockEndpoint(tx, named))) return false
  await markDeleted(tx, named, now)
  return true
}

/** The reasons for which an endpoint with this address and these credentials would be refused; none: it would not. */
export function faultsOfEndpoint(
  input: Pick<EndpointInput, 'url' | 'username' | 'password'>,
  rules: AddressRules,
): EndpointRefusal['refused'] {
  return [...faultsOfUrl('url', input.url, rules), ...faultsIn(readCredentials(input, undefined, rules))]
}
