import { eventNames } from './event-names.ts'
import { shape } from './shape.ts'
import { type Static, Type } from './typebox.ts'
import { CurrentOfferDetails, exampleUser } from './user.ts'

/** The body of every delivery, exactly as promised (interface §2.5, §4.3). */
export const WebhookEvent = shape('WebhookEvent', {
  userid: Type.String(),
  // Open, with the names as examples: a reader made from a list of today's would refuse the event of a later version.
  eventname: Type.String({ examples: eventNames }),
  currentofferdetails: CurrentOfferDetails,
})
/** The shape of {@link WebhookEvent}. */
export type WebhookEvent = Static<typeof WebhookEvent>

/** A realistic delivery for examples. */
export const exampleEvent = {
  userid: 'u-1001',
  eventname: 'offer_activiation_successful',
  currentofferdetails: exampleUser.currentofferdetails,
} as const
