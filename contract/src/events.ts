import { type Static, Type } from 'typebox'
import { eventNames } from './event-names.ts'
import { CurrentOfferDetails, exampleUser } from './user.ts'

/** The body of every delivery, exactly as promised (interface §2.5, §4.3). */
export const WebhookEvent = Type.Object(
  {
    userid: Type.String(),
    eventname: Type.Enum(eventNames),
    currentofferdetails: CurrentOfferDetails,
  },
  { additionalProperties: false, title: 'WebhookEvent' },
)
/** The shape of {@link WebhookEvent}. */
export type WebhookEvent = Static<typeof WebhookEvent>

/** A realistic delivery for examples. */
export const exampleEvent = {
  userid: 'u-1001',
  eventname: 'offer_activiation_successful',
  currentofferdetails: exampleUser.currentofferdetails,
} as const
