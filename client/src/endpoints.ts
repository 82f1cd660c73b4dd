import type { EventName } from './events.ts'
import type { CurrentOfferDetails } from './user.ts'

// All timestamps are `YYYY-MM-DDTHH:mm:ss.sssZ`.

/** A new webhook endpoint (contract §10). */
export type NewWebhook = {
  /** A public https address of at most 2,048 characters, without user info and fragment. */
  url: string
  /** The Basic credentials that deliveries will carry; no colon in the user name. */
  username: string
  password: string
  /** Default: `offer_activiation_successful` only; `all` includes names that are added later. */
  events?: EventName[] | 'all' | ''
  /** `user` keeps one user's events in order there; default `none`. */
  ordering?: 'none' | 'user' | ''
}

/** Names one of your endpoints. */
export type WebhookRef = { webhookid: string }

/** A change of an endpoint; what is left out stays (contract §10). */
export type UpdateWebhook = WebhookRef & {
  url?: string
  events?: EventName[] | 'all' | ''
  ordering?: 'none' | 'user' | ''
  /** Needs `password`; left out, a new password goes with the present user name. */
  username?: string
  /** New credentials are tried first; after a 401 the present ones at once. */
  password?: string
  /** Makes a new signing secret; both sign for 24 h. */
  rotatesecret?: boolean
}

/** An endpoint and how it fares (contract §10). */
export type Webhook = {
  webhookid: string
  url: string
  username: string
  events: string[] | 'all'
  ordering: 'none' | 'user'
  status: 'enabled' | 'disabled'
  /** `gone`: it answered 410; `failing`: 72 h without a success. */
  disabledreason: 'operator' | 'gone' | 'failing' | null
  disabledattimestamp: string | null
  /** When the first try after the last success failed. */
  failingsincetimestamp: string | null
  /** When it will be disabled unless a try succeeds before. */
  disablesattimestamp: string | null
  /** `open`: nothing is sent until `nextprobeattimestamp`; `probing`: one try decides. */
  breaker: 'closed' | 'open' | 'probing'
  nextprobeattimestamp: string | null
  /** Until when its Retry-After keeps us away. */
  pauseduntiltimestamp: string | null
  /** The last tries were answered 401 or 403. */
  credentialsrejected: boolean
  /** User name of the credentials that are to replace the present ones. */
  nextusername: string | null
  /** Which pair the last success was with. */
  acceptedcredentials: 'current' | 'next' | null
  /** Until when the previous secret still signs too. */
  oldsecretuntiltimestamp: string | null
  /** Deliveries that wait; 10000 means at least so many. */
  waiting: number
  /** Deliveries given up; 10000 means at least so many. */
  dead: number
  createdat: string
  updatedat: string
}

/** Your endpoints, oldest first. */
export type Webhooks = { webhooks: Webhook[] }

/** An endpoint with the signing secret that was just made, `whsec_` and base64: it is told this once. */
export type WebhookWithSecret = Webhook & { webhooksecret?: string }

/** The test event that was raised; see its attempts. */
export type TestedWebhook = { eventid: string }

/** What to send to an endpoint again: `from` and `to`, or `status`, or `ids` (contract §10). */
export type ReplayWebhook = WebhookRef & {
  from?: string
  to?: string
  /** `dead`: all that was given up there; `waiting`: all that waits for a later try, at once. */
  status?: 'dead' | 'waiting' | ''
  /** 1 to 1,000 event ids. */
  ids?: string[]
  /** Only counts. */
  dryrun?: boolean
}

/** What a replay queued, or would (contract §10). */
export type Replayed = {
  count: number
  dryrun: boolean
  /** False when there are more than the 10,000 that one request takes. */
  complete: boolean
  /** Where a range goes on: send it as `from`. */
  continuefrom: string | null
}

/** Which part of the event log to read (contract §10). */
export type ListEvents = {
  /** The `next` of an earlier answer. */
  after?: string
  userid?: string
  eventname?: EventName
}

/** An event of the log (contract §10). */
export type LoggedEvent = {
  eventid: string
  /** One of {@link EventName}, or a name that was added later. */
  eventname: string
  userid: string
  createdat: string
  /** What a delivery has no field for: the `name` of the single benefit it is about. */
  data: { name?: string }
  /** The body of every delivery of this event. */
  body: { userid: string; eventname: string; currentofferdetails: CurrentOfferDetails }
}

/** A page of the event log; `next` is a cursor also at the end. */
export type EventPage = { events: LoggedEvent[]; next: string }

/** Names one event. */
export type EventRequest = { eventid: string }

/** An event, and where it is still to be delivered or was given up. */
export type EventDetails = LoggedEvent & {
  deliveries: {
    webhookid: string
    status: 'waiting' | 'dead'
    /** Tries that were spent. */
    attempts: number
    dueattimestamp: string | null
  }[]
}

/** The tries of one event, oldest first; kept for 30 days (contract §10). */
export type Attempts = {
  attempts: {
    webhookid: string
    attempt: number
    startedat: string
    /** `null` when no status came; then `error` says why. */
    status: number | null
    error: string | null
    credentials: 'current' | 'next'
    /** The IP address that was used. */
    address: string | null
    dnsms: number | null
    connectms: number | null
    tlsms: number | null
    firstbytems: number | null
    totalms: number
    /** The first 1 KiB of your answer; what cannot be printed is escaped. */
    answer: string | null
  }[]
}
