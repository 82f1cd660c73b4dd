/** The name of one scope (contract §3). */
export type Scope =
  | 'prefill:write'
  | 'benefits:read'
  | 'benefits:write'
  | 'users:read'
  | 'users:write'
  | 'users:cancel'
  | 'offers:write'
  | 'linktokens:create'
  | 'events:read'
  | 'webhooks:write'
  | 'sandbox:control'

/** Where an operation lives and how it treats an `Idempotency-Key` (contract §4). */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly scope: Scope
  readonly idempotency: 'prefill' | 'keyed' | 'ignored'
}

const write = { method: 'POST', idempotency: 'keyed' } as const
const read = { method: 'POST', idempotency: 'ignored' } as const
const get = { method: 'GET', idempotency: 'ignored' } as const
const change = { method: 'PATCH', idempotency: 'keyed' } as const
const remove = { method: 'DELETE', idempotency: 'keyed' } as const

/** Every operation that a partner calls; `drift.ts` does not compile when this differs from the contract. */
export const routes = {
  prefillUser: { method: 'POST', idempotency: 'prefill', path: '/user/prefill', scope: 'prefill:write' },
  getBenefits: { ...read, path: '/user/benefits', scope: 'benefits:read' },
  createUser: { ...write, path: '/user/account/create', scope: 'users:write' },
  getUser: { ...read, path: '/user/account/get', scope: 'users:read' },
  updateUser: { ...write, path: '/user/account/update', scope: 'users:write' },
  cancelUser: { ...remove, path: '/user/account/cancel/{userid}', scope: 'users:cancel' },
  reinstateUser: { ...write, path: '/user/account/reinstate', scope: 'users:cancel' },
  eraseUser: { ...write, path: '/user/account/erase', scope: 'users:cancel' },
  changeOffer: { ...write, path: '/user/offers', scope: 'offers:write' },
  undoOfferChange: { ...remove, path: '/user/offers/pending/{userid}', scope: 'offers:write' },
  listAvailableOffers: { ...read, path: '/user/offers/available', scope: 'offers:write' },
  previewOfferChange: { ...read, path: '/user/offers/preview', scope: 'offers:write' },
  swapBenefits: { ...write, path: '/user/benefits/swap', scope: 'benefits:write' },
  undoSwap: { ...remove, path: '/user/benefits/swap/{userid}', scope: 'benefits:write' },
  enrolBenefit: { ...write, path: '/user/benefits/enrol', scope: 'benefits:write' },
  declineBenefit: { ...write, path: '/user/benefits/decline', scope: 'benefits:write' },
  listWebhooks: { ...get, path: '/webhooks', scope: 'webhooks:write' },
  createWebhook: { ...write, path: '/webhooks', scope: 'webhooks:write' },
  getWebhook: { ...get, path: '/webhooks/{webhookid}', scope: 'webhooks:write' },
  updateWebhook: { ...change, path: '/webhooks/{webhookid}', scope: 'webhooks:write' },
  deleteWebhook: { ...remove, path: '/webhooks/{webhookid}', scope: 'webhooks:write' },
  testWebhook: { ...write, path: '/webhooks/{webhookid}/test', scope: 'webhooks:write' },
  enableWebhook: { ...write, path: '/webhooks/{webhookid}/enable', scope: 'webhooks:write' },
  replayWebhook: { ...write, path: '/webhooks/{webhookid}/replay', scope: 'webhooks:write' },
  listEvents: { ...get, path: '/events', scope: 'events:read' },
  getEvent: { ...get, path: '/events/{eventid}', scope: 'events:read' },
  listAttempts: { ...get, path: '/events/{eventid}/attempts', scope: 'events:read' },
  replayEvent: { ...write, path: '/events/{eventid}/replay', scope: 'webhooks:write' },
  createLinkToken: { ...read, path: '/user/linktoken', scope: 'linktokens:create' },
  revokeLinkToken: { ...remove, path: '/user/linktoken/{sessionid}', scope: 'linktokens:create' },
  exchangeResult: { ...read, path: '/user/linktoken/result', scope: 'linktokens:create' },
  advanceClock: { ...write, path: '/sandbox/clock', scope: 'sandbox:control' },
} as const satisfies Record<string, Route>

/** The name of an operation, which is also the name of the client's method. */
export type OperationName = keyof typeof routes
