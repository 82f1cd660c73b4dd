import { installationKey } from '../../audit/block-keys.ts'
import { noPartner } from '../../audit/entries.ts'
import { HOUR_MS } from '../../calendar/calendar.ts'
import { failureOf } from '../../db/failure.ts'
import type { Query } from '../../db/sql.ts'
import type { Slot } from '../../http/html.ts'
import type { Right } from '../../operators/operator.ts'
import { findSamePerson } from '../../operators/store.ts'
import type { Partner } from '../../partners/partner.ts'
import { newKey, seal, unseal } from '../../vault/seal.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { recordAlongside } from '../screen/record.ts'
import { type Answer, notHere, type OperatorVisit, reasonOf } from '../screen/screen.ts'
import type { ButtonColor } from '../views/parts.ts'
import {
  ALLOWED_HOURS,
  type Allowance,
  findAllowance,
  insertRequest,
  needsSecond,
  REQUEST_LIFETIME_MS,
  type RequestRow,
  type RequestSubject,
  readPolicy,
  type SecondPersonAction,
  whileLiving,
} from './store.ts'

/** The partner whom a request concerns, or all of them: of people of every partner, such as a run of a feed. */
export type Concerned = Pick<Partner, 'partnerId' | 'name' | 'timezone' | 'key'>

/** All partners, with a key of the installation in place of a partner's. Throws the refusal of a request for who does not work for all. */
export async function allPartners({ context, operator, zone }: OperatorVisit): Promise<Concerned> {
  if (operator.partners !== undefined) throw notHere('request')
  const key = (await installationKey(context.database, context.keyring)) ?? newKey()
  return { partnerId: noPartner, name: 'All partners', timezone: zone, key: { id: 'installation', key } }
}

/** The content of a request to a second person. */
export type ActRequest = {
  readonly action: SecondPersonAction
  readonly partner: Concerned
  /** `undefined`: it is about the partner. */
  readonly serviceId: string | undefined
  readonly reason: string
  /** The data needed to do it, as JSON. */
  readonly payload: Readonly<Record<string, unknown>>
  /** Its effect when it was requested; it is done only while the effect is the same. */
  readonly effect: string
}

/** A request with its id and the operator who asked. */
export type SecondPersonRequest = ActRequest & {
  readonly requestId: string
  readonly askedBy: string
}

/** The effect that a request would have now. */
export type RequestEffect =
  | {
      readonly shown: Slot
      /** The same as one text, which is compared with that of the time of the request. */
      readonly effect: string
    }
  | { readonly refused: string }

/** One kind of request that a second person confirms. */
export type RequestKind = {
  readonly action: SecondPersonAction
  readonly title: string
  /** The color of the button that does it. */
  readonly color: ButtonColor
  /** The right that it takes to confirm or refuse it. */
  readonly right: Right
  /** Its effect on the present state. */
  readonly preview: (visit: OperatorVisit, request: SecondPersonRequest) => Promise<RequestEffect>
  /**
   * Does it and commits `decision` in the same transaction, if its effect is still the requested one. Returns the
   * address of the result, or says why nothing was done; then `decision` was not written either.
   */
  readonly perform: (
    visit: OperatorVisit,
    request: SecondPersonRequest,
    decision: readonly Query[],
  ) => Promise<{ readonly to: string } | { readonly refused: string }>
}

type Content = Pick<ActRequest, 'reason' | 'payload' | 'effect'>

/** Seals the request and its reason with the partner's key. */
export function sealRequest({ partner, serviceId, reason, payload, effect }: ActRequest): Buffer {
  const text = JSON.stringify({ reason, payload, effect } satisfies Content)
  return seal(partner.key.key, text, bindingOf(partner, serviceId))
}

/** Opens what `sealRequest` sealed; `undefined` when the user was erased since, which empties it. */
export function openedRequest(partner: Concerned, row: RequestRow): SecondPersonRequest | undefined {
  if (row.sealed.length === 0) return undefined
  const text = unseal(partner.key.key, row.sealed, bindingOf(partner, row.service_id ?? undefined))
  return {
    ...(JSON.parse(text.toString('utf8')) as Content),
    action: row.action,
    partner,
    serviceId: row.service_id ?? undefined,
    requestId: row.request_id,
    askedBy: row.asked_by,
  }
}

function bindingOf({ partnerId }: Concerned, serviceId: string | undefined) {
  const of = { purpose: 'operator_requests.sealed', partnerId }
  return serviceId === undefined ? of : { ...of, serviceId }
}

/** Whether a second person must confirm an action of the console at present. */
export async function needsSecondPerson(
  { context }: Pick<OperatorVisit, 'context'>,
  action: SecondPersonAction,
): Promise<boolean> {
  return needsSecond(await readPolicy(context.database), action)
}

/** The ids of an operator's account, and of others that are known to be of the same person. */
export async function accountsOf({
  context,
  operator,
}: Pick<OperatorVisit, 'context' | 'operator'>): Promise<string[]> {
  return [...(await findSamePerson(context.database, operator.operatorId))]
}

/**
 * Why the operator needs nobody else for something about a user or the partner: by the policy, or since somebody allowed it.
 * `undefined`: a second person is needed.
 */
export async function allowedAlone(
  visit: OperatorVisit,
  action: SecondPersonAction,
  about: RequestSubject,
): Promise<'by policy' | Allowance | undefined> {
  if (!(await needsSecondPerson(visit, action))) return 'by policy'
  const { database, real } = visit.context
  const since = real() - ALLOWED_HOURS * HOUR_MS
  return findAllowance(database, about, { action, by: await accountsOf(visit), since })
}

/**
 * Stores a request for other operators to confirm instead of doing the action, and records it; answers with the page of
 * the request. Throws the refusal of an unknown user when the user was erased meanwhile.
 */
export async function askSecondPerson(visit: OperatorVisit, asked: ActRequest): Promise<Answer> {
  const { context, operator } = visit
  const { action, partner, serviceId, reason } = asked
  const at = context.real()
  const requestId = uuidv7(at)
  const stored = context.database.commit([
    ...(serviceId === undefined ? [] : [whileLiving(partner.partnerId, serviceId)]),
    insertRequest({
      partner_id: partner.partnerId,
      request_id: requestId,
      action,
      service_id: serviceId ?? null,
      sealed: sealRequest(asked),
      asked_by: operator.operatorId,
      asked_at: at,
      expires_at: at + REQUEST_LIFETIME_MS,
    }),
    recordAlongside(visit, {
      action: `ask for ${action}`,
      result: 'asked',
      reason,
      partner,
      serviceId,
    }),
  ])
  await stored.catch((error: unknown) => {
    throw failureOf(error).lostRace ? notHere('user') : error
  })
  return { to: `/requests/${requestId}` }
}

/** Asks to be allowed to do something alone for some hours, for the reason in the form. */
export function askToBeAllowed(
  visit: OperatorVisit,
  action: SecondPersonAction,
  { partner, serviceId }: { readonly partner: Partner; readonly serviceId?: string },
): Promise<Answer> {
  const asked = { action, partner, serviceId, reason: reasonOf(visit), payload: {}, effect: action }
  return askSecondPerson(visit, asked)
}
