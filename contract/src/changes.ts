/** The versions of the interface that can be described (interface §9). */
export type InterfaceVersion = '1.0.1' | '1.0.2'

/** One version of the interface and how it differs from the one before. */
export type InterfaceChange = {
  readonly version: InterfaceVersion
  /** The day since which the service describes this version, `YYYY-MM-DD`. */
  readonly describedsince: string
  readonly changes: readonly string[]
}

/** The versions of the interface, the newest first (interface §9, contract §13). */
export const interfaceChanges: readonly InterfaceChange[] = [
  {
    version: '1.0.2',
    describedsince: '2026-11-20',
    changes: [
      'Get Benefits With Status answers with `swapeffectiveattimestamp` and `swapexpiresattimestamp`.',
      'Each webhook delivery carries `Idempotency-Key`, the same on every attempt for one event.',
      'Partner operations take the header `x-api-key`.',
    ],
  },
  {
    version: '1.0.1',
    describedsince: '2026-11-20',
    changes: ['The first version that is described.'],
  },
]

/** A change since the last release of the description. */
export type UnreleasedChange = {
  readonly text: string
  /** What it affects: ids of operations, names of schemas and events, as in the description. */
  readonly names: readonly string[]
  /** True when a program that was correct before may fail after it. */
  readonly breaking?: true
}

/**
 * The changes since the description in contract/released.json. A test fails for a name of which that description and today's
 * say something else without an entry here, and where oasdiff finds a breaking change whose entry does not say so. `node
 * scripts/release-description.mjs` starts a new list.
 */
export const unreleasedChanges: readonly UnreleasedChange[] = [
  {
    text: 'Get User tells with `include: ["insurer"]` what each insurer was told of a benefit and the member number that it gave; events `benefit_insurer_accepted` and `benefit_insurer_refused` when it answers.',
    names: [
      'GetUser',
      'HeldBenefit',
      'BenefitInsurer',
      'WebhookEvent',
      'NewWebhook',
      'UpdateWebhook',
      'listEvents',
    ],
  },
  {
    text: 'A link that names a benefit that the catalogue does not know is 400 `benefit_unknown`.',
    names: ['createLinkToken'],
  },
  {
    text: 'A first offer that is still to start is the `pendingoffer` of its user, a planned end that an update moves is a line of the timeline, and a preview holds for 15 minutes of real time, in a sandbox, too.',
    names: [],
  },
  {
    text: 'The timeline of a user has the newest 500 changes, and a user has at most 1,000 enrollments, past ones included: a change that would add one more is 400 `bad_request`.',
    names: [],
  },
  {
    text: '`POST /user/linktoken/result` also takes a `sessionid`, and knows the outcomes `undone`, which was `changed` before, and `challengefailed`. A link for a cancelled user, other than to register, is 409 `user_cancelled`.',
    names: [],
  },
  {
    text: 'The operations that need no token declare 400 `duplicate_header`: a header sent twice is refused there, too.',
    names: ['getMetadata', 'getHealth', 'getReadiness', 'getOpenapiJson', 'getOpenapiYaml', 'getChangelog'],
  },
  {
    text: "`moredetails` of a user: the partner's own facts by name, given with create and update, and answered by create, update and get.",
    names: ['CreateUser', 'UpdateUser', 'User', 'ReinstatedUser', 'MoreDetails', 'MoreDetailsChange'],
    breaking: true,
  },
  {
    text: 'Beneficiaries are named by the member on the page only: the operation to propose them is gone, with the scope `beneficiaries:write` and the members `proposed`, `status` and `decidedattimestamp`.',
    names: [
      'proposeBeneficiaries',
      'ProposeBeneficiaries',
      'ProposedBeneficiary',
      'BenefitBeneficiaries',
      'Designation',
    ],
    breaking: true,
  },
  {
    text: '`GET /users` lists the users of a partner, all or those changed since an instant.',
    names: ['listUsers', 'ListedUser', 'UserPage'],
  },
  {
    text: 'The events of an endpoint are always a list, `["all"]` included, in requests and answers; the schema `Webhook` is named `WebhookEndpoint`.',
    names: [
      'NewWebhook',
      'UpdateWebhook',
      'Webhook',
      'WebhookWithSecret',
      'Webhooks',
      'enableWebhook',
      'getWebhook',
      'WantedEvent',
      'WantedEvents',
      'WebhookEndpoint',
    ],
    breaking: true,
  },
  {
    text: '`null` in an optional field means not given; descriptions of requests name neither null nor `""` among values. Gender knows `N` and `O`.',
    names: [
      'Address',
      'AddressChange',
      'ChangeOffer',
      'CreateUser',
      'GivenConsent',
      'LinkTokenRequest',
      'Prefill',
      'PreviewOfferChange',
      'ReplayWebhook',
      'UpdateUser',
    ],
    breaking: true,
  },
  {
    text: 'Descriptions say which fields of a request need or exclude each other (`dependentSchemas`, `minProperties`). Nothing else is refused than before.',
    names: ['BulkLine', 'NewWebhook', 'ReplayWebhook', 'ResultRequest', 'UpdateWebhook'],
  },
  {
    text: 'A query parameter that is given and empty is a 400 that names it.',
    names: ['cancelUser'],
    breaking: true,
  },
  {
    text: 'Create and Update User take `partnername`, one of your own names, without effect.',
    names: ['createUser', 'updateUser', 'CreateUser', 'UpdateUser'],
  },
  {
    text: 'Timestamps and dates of answers have the formats `date-time` and `date`, and answers are described as open to fields of later versions.',
    names: [
      'AccessToken',
      'Attempts',
      'AuthorizationServerMetadata',
      'Beneficiaries',
      'Beneficiary',
      'BenefitBeneficiaries',
      'Changelog',
      'DeletedWebhook',
      'Designation',
      'EventBody',
      'EventDetails',
      'EventPage',
      'FieldProblem',
      'Health',
      'LoggedEvent',
      'NotRestored',
      'OAuthError',
      'OfferChanged',
      'Problem',
      'Revoked',
      'SessionResult',
      'TestedWebhook',
      'WebhookEvent',
      'Attempt',
      'AvailableOffer',
      'BenefitWithStatus',
      'Cancelled',
      'ClockAdvanced',
      'Consent',
      'CurrentOfferDetails',
      'EndingBenefit',
      'ErasedUser',
      'HeldBenefit',
      'InterfaceVersion',
      'LinkToken',
      'OfferPreview',
      'OpenDelivery',
      'PendingOffer',
      'Replayed',
      'RequiredAction',
      'RevokedLinkToken',
      'Swap',
      'TimelineEntry',
    ],
  },
  {
    text: '`advanceto` and `changedafter` are described as `date-time` and taken in each of its forms, such as `2026-12-31T17:00:00Z`. Formats of our own are no longer named.',
    names: [
      'AdvanceClock',
      'listUsers',
      'Prefill',
      'CreateUser',
      'UpdateUser',
      'GivenConsent',
      'ReplayWebhook',
    ],
  },
  {
    text: '`/openapi.json` and `/openapi.yaml` take `?webhooks=no`, for tools that stumble over that section.',
    names: ['getOpenapiJson', 'getOpenapiYaml'],
  },
  {
    text: '`GET /statements` and `GET /statements/{month}/lines` tell what each month comes to, under the new scope `statements:read`.',
    names: [
      'listStatements',
      'listStatementLines',
      'Statements',
      'Statement',
      'StatementLines',
      'StatementLine',
    ],
  },
  {
    text: '`POST /user/bulk` takes many writes in one request, as NDJSON, and answers each by a line.',
    names: ['bulk', 'BulkLine', 'BulkAnswer'],
  },
  {
    text: 'An endpoint may have a bearer token or OAuth 2 client credentials in place of Basic ones, headers of its own, a client certificate, and a rate.',
    names: ['NewWebhook', 'UpdateWebhook', 'WebhookEndpoint', 'WebhookWithSecret', 'OwnHeaders'],
  },
  {
    text: 'Events `webhook_failing`, `webhook_disabled` and `webhook_recovered` tell the other endpoints of a partner about one; `data` then has `webhookid` and `since`.',
    names: ['EventPage', 'LoggedEvent', 'EventDetails'],
  },
  {
    text: 'A userid may hold no invisible characters and none that turn the direction of text, because two that look alike would be two users.',
    breaking: true,
    names: [
      'GetUser',
      'ProposeBeneficiaries',
      'listEvents',
      'BenefitsRequest',
      'DeclineRequest',
      'EnrolRequest',
      'GetBeneficiaries',
      'SwapRequest',
      'UseridRequest',
      'undoOfferChange',
      'undoSwap',
    ],
  },
]
