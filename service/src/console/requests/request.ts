import type { Query } from '../../db/sql.ts'
import type { Slot } from '../../http/html.ts'
import type { Role } from '../../operators/operator.ts'
import type { Partner } from '../../partners/partner.ts'
import { seal, unseal } from '../../vault/seal.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import type { ButtonColor } from '../views/parts.ts'
import type { SecondPersonAction } from './second-person.ts'
import type { RequestRow } from './store.ts'

/** The content of a request to a second person. */
export type Asked = {
  readonly action: SecondPersonAction
  readonly partner: Partner
  /** `undefined`: it is about the partner. */
  readonly serviceId: string | undefined
  readonly reason: string
  /** The data needed to do it, as JSON. */
  readonly payload: Readonly<Record<string, unknown>>
  /** Its effect when it was requested; it is done only while the effect is the same. */
  readonly effect: string
}

/** A request with its id and the operator who asked. */
export type SecondPersonRequest = Asked & {
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
  /** The lowest role that may confirm or refuse it. */
  readonly role: Role
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

type Content = Pick<Asked, 'reason' | 'payload' | 'effect'>

/** Seals the request and its reason with the partner's key. */
export function sealRequest({ partner, serviceId, reason, payload, effect }: Asked): Buffer {
  const text = JSON.stringify({ reason, payload, effect } satisfies Content)
  return seal(partner.key.key, text, bindingOf(partner, serviceId))
}

/** Opens what `sealRequest` sealed; `undefined` when the user was erased since, which empties it. */
export function openedRequest(partner: Partner, row: RequestRow): SecondPersonRequest | undefined {
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

function bindingOf({ partnerId }: Partner, serviceId: string | undefined) {
  const of = { purpose: 'operator_requests.sealed', partnerId }
  return serviceId === undefined ? of : { ...of, serviceId }
}
