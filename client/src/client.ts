import type {
  BenefitsRequest,
  BenefitWithStatus,
  DeclineRequest,
  EnrolRequest,
  Swap,
  SwapRequest,
} from './benefits.ts'
import type {
  Attempts,
  EventDetails,
  EventPage,
  EventRequest,
  ListEvents,
  NewWebhook,
  Replayed,
  ReplayWebhook,
  TestedWebhook,
  UpdateWebhook,
  Webhook,
  WebhookRef,
  Webhooks,
  WebhookWithSecret,
} from './endpoints.ts'
import type { LinkToken, LinkTokenRequest, SessionResult } from './link-tokens.ts'
import type { AvailableOffer, ChangeOffer, OfferChanged, OfferPreview, PreviewOfferChange } from './offers.ts'
import type { CreateUser, Prefill, UpdateUser, UseridRequest } from './person.ts'
import type { Cancelled, CancelUser, ErasedUser, GetUser, HeldBenefit, ReinstatedUser, User } from './user.ts'

/** The request of an operation that takes nothing: `{}`. */
export type NoFields = Record<string, never>

/** What one call may ask for besides its request. */
export type CallOptions = {
  /**
   * 1–255 visible ASCII characters. Left out, each call of a write gets a random one, the same on all its tries.
   * Give your own, kept with your data, when the same write must survive a restart of your process.
   */
  idempotencyKey?: string
  /** The language of texts and of `userMessage`: `en` (the default), `es`, or a browser's `Accept-Language`. */
  acceptLanguage?: string
  /** Ends the call, which then rejects with `signal.reason`; what was sent may have worked. */
  signal?: AbortSignal
  /** How long one try may take, in milliseconds; default: the client's. */
  timeoutMs?: number
}

/**
 * `v2`, the default, is idempotent. `v1` sends no key and is never tried again once it was sent, since each
 * request counts (interface §4.1, contract §4).
 */
export type PrefillOptions =
  | (CallOptions & { version?: 'v2' })
  | (Omit<CallOptions, 'idempotencyKey'> & { version: 'v1' })

/**
 * The operations of the service, one method each. Every method rejects with a `BenefitEnrolmentError`.
 * Besides the codes that a method names, each can meet `bad_request`, `unauthorized`, `invalid_api_key`,
 * `insufficient_scope`, `too_many_requests`, `internal`, `unavailable`, `network`, `timeout` and `protocol`; each
 * write also `idempotency_key_invalid`, `idempotency_key_reused` and, but for {@link Client.eraseUser},
 * `user_erased` (contract §4, §12).
 */
export type Client = {
  /**
   * Stores data that fills the registration page; an entry lives 90 days (interface §4.1, contract §4, §5).
   * Resolves too when the service says that an earlier try of this same call, whose answer was lost, had worked.
   * Refusals: `user_exists` (this key was spent on this request before: nothing is to be done),
   * `prefill_superseded` (so it was, and newer data stays).
   */
  prefillUser(prefill: Prefill, options?: PrefillOptions): Promise<'prefill saved'>
  /**
   * Lists the benefits open to a user, each with its status, at most 200 (interface §4.2, contract §6).
   * Refusals: `user_not_found`, `offername_unknown`, `partnername_not_allowed`.
   */
  getBenefits(request: BenefitsRequest, options?: CallOptions): Promise<BenefitWithStatus[]>
  /**
   * Creates a user from the request and the prefill, `active` at once (contract §7).
   * Refusals: `user_exists`, `offername_required`, `offername_unknown`, `offer_not_available`, `ineligible` (reasons
   * in `errors`), `slots_exceeded`.
   */
  createUser(request: CreateUser, options?: CallOptions): Promise<User>
  /** Fetches a user, or what is left of an erased one (contract §7). Refusal: `user_not_found`. */
  getUser(request: GetUser, options?: CallOptions): Promise<User | ErasedUser>
  /**
   * Changes a user's data; eligibility is judged again (contract §7).
   * Refusals: `user_not_found`, `user_cancelled`.
   */
  updateUser(request: UpdateUser, options?: CallOptions): Promise<User>
  /**
   * Cancels a user, at the end of the period or at once; with `previewonly` it only tells what that would do
   * (contract §7). Refusal: `user_not_found`.
   */
  cancelUser(request: CancelUser, options?: CallOptions): Promise<Cancelled>
  /**
   * Undoes a pending cancel, or restores a user up to 30 days after it took effect (contract §7).
   * Refusals: `user_not_found`, `not_cancelled`, `reinstate_expired`, `ineligible`.
   */
  reinstateUser(request: UseridRequest, options?: CallOptions): Promise<ReinstatedUser>
  /**
   * Ends all cover and destroys the user's personal data, for ever; asked again, the same answer (contract §7).
   * Refusal: `user_not_found`.
   */
  eraseUser(request: UseridRequest, options?: CallOptions): Promise<ErasedUser>
  /**
   * Moves a user to another offer; asking for the current one undoes what is pending (contract §8).
   * Refusals: `user_not_found`, `user_cancelled`, `offername_unknown`, `ineligible`, `direction_mismatch`,
   * `already_on_offer`, `offer_not_available`, `change_locked`, `preview_stale`.
   */
  changeOffer(request: ChangeOffer, options?: CallOptions): Promise<OfferChanged>
  /**
   * Undoes a pending offer change; without one nothing changes (contract §8).
   * Refusals: `user_not_found`, `user_cancelled`, `change_locked`.
   */
  undoOfferChange(request: UseridRequest, options?: CallOptions): Promise<OfferChanged>
  /**
   * Lists the offers a user could move to, with the reasons against (contract §8).
   * Refusals: `user_not_found`, `user_cancelled`.
   */
  listAvailableOffers(request: UseridRequest, options?: CallOptions): Promise<AvailableOffer[]>
  /**
   * Shows what an offer change would do; the preview holds for 15 minutes (contract §8).
   * Refusals: `user_not_found`, `user_cancelled`, `offername_unknown`, `ineligible`, `direction_mismatch`,
   * `already_on_offer`, `offer_not_available`, `change_locked`.
   */
  previewOfferChange(request: PreviewOfferChange, options?: CallOptions): Promise<OfferPreview>
  /**
   * Swaps benefits at the next boundary; both lists empty undo a pending swap (contract §8).
   * Refusals: `user_not_found`, `user_cancelled`, `ineligible`, `slots_exceeded`, `change_locked`.
   */
  swapBenefits(request: SwapRequest, options?: CallOptions): Promise<Swap>
  /**
   * Undoes a pending swap; without one nothing changes (contract §8).
   * Refusals: `user_not_found`, `user_cancelled`, `change_locked`.
   */
  undoSwap(request: UseridRequest, options?: CallOptions): Promise<Swap>
  /**
   * Enrols in one benefit now, in a free slot; one already held stays unchanged (contract §8).
   * Refusals: `user_not_found`, `user_cancelled`, `ineligible`, `slots_exceeded`.
   */
  enrolBenefit(request: EnrolRequest, options?: CallOptions): Promise<HeldBenefit>
  /**
   * Declines a benefit that is not in force (contract §8).
   * Refusals: `user_not_found`, `user_cancelled`, `benefit_in_force`, `change_locked`.
   */
  declineBenefit(request: DeclineRequest, options?: CallOptions): Promise<HeldBenefit>
  /** Lists your webhook endpoints and how they fare (contract §10). */
  listWebhooks(request: NoFields, options?: CallOptions): Promise<Webhooks>
  /**
   * Adds a webhook endpoint, which hears of events from now on (contract §10). The answer is the only place where its
   * signing secret is told; a repeat under the same key leaves it out.
   */
  createWebhook(request: NewWebhook, options?: CallOptions): Promise<WebhookWithSecret>
  /** Shows a webhook endpoint and how it fares (contract §10). Refusal: `webhook_not_found`. */
  getWebhook(request: WebhookRef, options?: CallOptions): Promise<Webhook>
  /**
   * Changes a webhook endpoint; what is left out stays (contract §10). A new secret is told in this answer alone.
   * Refusal: `webhook_not_found`.
   */
  updateWebhook(request: UpdateWebhook, options?: CallOptions): Promise<WebhookWithSecret>
  /** Deletes a webhook endpoint and all that waits for it (contract §10). Refusal: `webhook_not_found`. */
  deleteWebhook(request: WebhookRef, options?: CallOptions): Promise<{ webhookid: string; status: 'deleted' }>
  /** Sends a `webhook_test` to an endpoint, whatever its filter (contract §10). Refusal: `webhook_not_found`. */
  testWebhook(request: WebhookRef, options?: CallOptions): Promise<TestedWebhook>
  /** Enables an endpoint; what it missed is sent, oldest first (contract §10). Refusal: `webhook_not_found`. */
  enableWebhook(request: WebhookRef, options?: CallOptions): Promise<Webhook>
  /**
   * Sends past events to an endpoint again: a range of time, a status or a list (contract §10). With `dryrun` it only
   * counts. Refusal: `webhook_not_found`.
   */
  replayWebhook(request: ReplayWebhook, options?: CallOptions): Promise<Replayed>
  /**
   * Reads the event log, oldest first, 100 a page (contract §10). Give `next` as `after` to go on: no event is missed
   * and none comes twice. The end is an empty page whose `next` is the `after` you gave.
   */
  listEvents(request: ListEvents, options?: CallOptions): Promise<EventPage>
  /** Shows an event, and where it is still to be delivered (contract §10). Refusal: `event_not_found`. */
  getEvent(request: EventRequest, options?: CallOptions): Promise<EventDetails>
  /** Lists the tries of an event, oldest first (contract §10). Refusal: `event_not_found`. */
  listAttempts(request: EventRequest, options?: CallOptions): Promise<Attempts>
  /** Sends an event again to every endpoint that asks for it (contract §10). Refusal: `event_not_found`. */
  replayEvent(request: EventRequest, options?: CallOptions): Promise<Replayed>
  /**
   * Mints a link token that opens the registration page for one user (contract §11).
   * Refusals: `offername_unknown`, `user_not_found`.
   */
  createLinkToken(request: LinkTokenRequest, options?: CallOptions): Promise<LinkToken>
  /** Revokes a link token and its session; again the same answer (contract §11). Refusal: `not_found`. */
  revokeLinkToken(
    request: { sessionid: string },
    options?: CallOptions,
  ): Promise<{ sessionid: string; revokedat: string }>
  /** Exchanges the result token that `onSuccess` got, for 24 hours (contract §11). Refusal: `not_found`. */
  exchangeResult(request: { resulttoken: string }, options?: CallOptions): Promise<SessionResult>
  /**
   * Moves your business clock forward, in a sandbox only (contract §13); `advanceto` and `now` are
   * `YYYY-MM-DDTHH:mm:ss.sssZ`. Elsewhere the operation does not exist: `not_found`.
   */
  advanceClock(request: { advanceto: string }, options?: CallOptions): Promise<{ now: string }>
}
