// Names for parts of the generated types that programs often pass around separately.
import type {
  BenefitsRequest,
  Client,
  CurrentOfferDetails,
  EventName,
  HeldBenefit,
  Prefill,
  User,
} from './generated.ts'

/** USPS two-letter codes: states, DC, territories, military (contract §5). */
export type State = BenefitsRequest['state']
/** The data of a person (interface §2.1, contract §5); every field may be left out, `""` means not given. */
export type PersonFields = Omit<Prefill, 'userid'>
/** The states of an enrolment (contract §9); cover is in force in `enrolled` and `endscheduled`. */
export type EnrolmentState = HeldBenefit['state']
/** The conditions that may accompany a user's status (contract §9). */
export type Condition = User['conditions'][number]
/** Identifies one of your endpoints. */
export type WebhookRef = Parameters<Client['getWebhook']>[0]
/** Identifies one event. */
export type EventRequest = Parameters<Client['getEvent']>[0]

/** The body of a delivery (interface §2.5): the state right after the change. */
export type WebhookEvent = {
  /** Your identifier of the user; `webhook-test` in a `webhook_test`. */
  userid: string
  /** One of {@link EventName}, or a name that was added after this version: ignore names that you do not know. */
  eventname: EventName | (string & {})
  currentofferdetails: CurrentOfferDetails
}
