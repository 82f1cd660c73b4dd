/** What fields mean that are named alike in many schemas. */
const common: Readonly<Record<string, string>> = {
  userid: "The partner's identifier of the user",
  serviceid: "The service's own identifier of the user, stable until an erasure",
  offer: 'The name of the offer; `""`: none',
  currentofferdetails:
    'The offer in force, with `offer` `""` before the first and after a cancel took effect',
  pendingoffer: 'The offer that is still to start, or null',
  displayname: 'The name to show, in the language of `Accept-Language`',
  startsattimestamp: 'The first instant of the coverage, or null while it is not known',
  endsattimestamp: 'The first instant without the coverage, or null while no end is set',
  benefits: 'The benefits that this is about',
  dependantid: 'Our id of the dependant, kept until the user is erased',
  dependants: 'The dependants of the member',
  webhookid: 'The id of the endpoint',
  eventid: 'The id of the event: its `Idempotency-Key` and `webhook-id` in every delivery',
  eventname: 'The name of the event; ignore names that you do not know',
  sessionid: 'The id of the page session that the link opens',
  client_id: 'Your client id, unless it is sent by HTTP Basic',
  client_secret: 'Your client secret, unless it is sent by HTTP Basic',
  gained: 'Benefits that the change brings',
  lost: 'Benefits that the change ends',
  kept: 'Benefits that stay',
  add: 'Benefits that come in, each in the place of the one at the same position of `remove`',
  remove: 'Benefits that go out',
}

const dependant = {
  relationship: 'What the dependant is to the member',
  firstname: 'Given name',
  lastname: 'Family name',
}

const user = {
  status: 'The state of the user',
  conditions: 'What is true beside the state: a pending change, an action that is needed',
  benefits: 'The benefits that the user holds, has held or will hold',
  requiredactions: 'What the person or you must still do, and until when',
  consents: 'The consents that the person has given',
  timeline: 'What happened and what is due, oldest first; only with `include: ["timeline"]`',
}

const webhook = {
  url: 'Where deliveries are sent',
  username: 'The user name of the Basic credentials, `""` where there are none; the password is never shown',
  events: 'The names of the events that are sent there, or `all`',
  ordering: '`user`: the events of one user are sent one after the other, in their order',
  status: 'Whether anything is sent there',
  disabledattimestamp: 'Since when it is disabled, or null',
  nextprobeattimestamp: 'When an endpoint that fails is tried again, or null',
}

/** What the other fields mean, by the title of their schema. */
const own: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  TokenRequest: {
    grant_type: 'Always `client_credentials`',
    scope: 'The scopes to ask for, separated by spaces; absent: all that you were given',
  },
  AccessToken: {
    access_token: 'Send it as `Authorization: Bearer …`',
    token_type: 'Always `Bearer`',
  },
  RevokeRequest: { token: 'The access token to end', token_type_hint: 'Ignored: there is only one kind' },
  AuthorizationServerMetadata: {
    issuer: 'The base address of the service',
    token_endpoint: 'Where access tokens are issued',
    token_endpoint_auth_methods_supported: 'How a client may send its secret there',
    revocation_endpoint: 'Where access tokens are ended',
    revocation_endpoint_auth_methods_supported: 'How a client may send its secret there',
    grant_types_supported: 'The grants that the token endpoint knows',
    response_types_supported: 'Empty: nobody signs in here by a browser',
    scopes_supported: 'Every scope',
    service_documentation: 'The address of these docs',
  },
  BenefitWithStatus: {
    description: 'What the benefit is, in the language of `Accept-Language`',
    isselectedforswap: 'Whether a pending swap moves it in or out; null: it cannot be swapped',
    swapeffectiveattimestamp: 'When a pending swap brings it, or null',
    swapexpiresattimestamp: 'When a pending swap ends it, or null',
  },
  User: user,
  ReinstatedUser: user,
  UserPage: { users: 'The users of this page' },
  Statements: { statements: 'Your months, newest first' },
  StatementLines: { lines: 'The lines of this page, user by user' },
  Statement: {
    month: 'The calendar month in your time zone, YYYY-MM',
    status: '`open`: counted each time it is asked for; `final`: it never changes again',
    users: 'How many users have a line',
    personcents: 'The sum of the lines that you take from your users, in cents',
    partnercents: 'The sum of what you pay the operator, in cents',
    finalizedat: 'When it became final, or null',
  },
  StatementLine: {
    userid: 'The partner\'s identifier of the user, today\'s; `""` for an erased user',
    kind: 'A benefit, an offer, or what changed about an earlier month',
    name: 'The benefit; `""` for an offer',
    offer: 'The offer, or the one under which the benefit was held',
    fromdate: 'The first day counted in the month',
    todate: 'The last day counted in the month, as it will be if nothing changes',
    personcents: 'What the person pays, in cents',
    takenby: 'Who takes that from the person, `partner` or `insurer`; `""` where the benefit costs nothing',
    partnercents: 'What you pay the operator, in cents',
    about: 'The month that an adjustment corrects; else `""`',
    moredetails: "The partner's own facts of the user, today's",
  },
  ListedUser: { ...user, updatedat: 'When the user last changed, by anybody or by time alone' },
  ErasedUser: { status: 'Always `erased`' },
  HeldBenefit: { name: 'The code of the benefit', state: 'The state of the enrolment' },
  RequiredAction: {
    code: 'What is needed, such as a consent or a beneficiary',
    name: 'The benefit that waits for it',
    dueattimestamp: 'When the benefit is withdrawn if it is still missing, or null',
  },
  Consent: {
    name: 'What was agreed to: the code of a benefit, or `electronic-records`',
    version: 'The version of the text that the person agreed to',
    locale: 'The language in which the text was shown',
  },
  TimelineEntry: {
    what: 'What changed: the user, the offer, a swap, or a benefit by its code',
    from: 'The state or offer before',
    to: 'The state or offer after',
    who: 'Who changed it: the partner, the person (`user`), the schedule, an operator, or `operatorlink`, somebody on the page by a link that an operator made',
    why: 'The operation or rule that changed it',
  },
  Cancelled: {
    status: 'The state of the user, still `active` while the cancel is pending',
    benefits: 'When each benefit ends',
  },
  EndingBenefit: { name: 'The code of the benefit' },
  NotRestored: {
    name: 'The code of the benefit',
    code: 'The code of the rule that refused it',
    message: 'The reason, in words for the person',
  },
  Beneficiaries: { benefits: 'Each benefit for which people can be named' },
  BenefitBeneficiaries: {
    current: 'The designation in force, or null',
    versions: 'Every designation so far, oldest first; only with `include: ["versions"]`',
  },
  Designation: {
    beneficiaries: 'The people who are named',
  },
  Beneficiary: {
    kind: '`contingent`: only where no primary one can receive it',
    name: 'The full name',
    relationship: 'What the beneficiary is to the person',
    dob: 'Birth date, YYYY-MM-DD; `""`: not known',
    contact: 'How to reach them; `""`: not known',
  },
  Dependant: { ...dependant, dob: 'Birth date, YYYY-MM-DD', benefits: 'What covers the dependant, or will' },
  GivenDependant: dependant,
  DependantCover: { state: '`scheduled`, `covered`, or `endscheduled`: covered until a dated end' },
  SetDependants: {
    version: 'The version that this list was made from; absent: any',
    dependants: 'The whole list: who is missing is no dependant any more',
  },
  DependantList: { version: 'The version of the list, counted from 1' },
  AvailableOffer: {
    offer: 'The name of the offer',
    direction: 'Whether the change would be up or down, by rank',
    reasons: 'Why the user cannot change to it; empty: it is open',
  },
  OfferPreview: { previewid: 'Send it with an immediate downgrade within 15 minutes' },
  Webhooks: { webhooks: 'All your endpoints' },
  WebhookEndpoint: webhook,
  WebhookWithSecret: webhook,
  DeletedWebhook: { status: 'Always `deleted`' },
  TestedWebhook: { eventid: 'The id of the event that is sent, to look up its attempts' },
  Replayed: {
    dryrun: 'Whether deliveries were only counted',
    continuefrom: 'The `from` of the next request while `complete` is false; else null',
  },
  EventPage: { events: 'Oldest first', next: 'The cursor to continue with: send it as `after`' },
  OpenDelivery: {
    status: '`waiting`, or `dead`: given up',
    dueattimestamp: 'When it is attempted next, or null',
  },
  Attempts: { attempts: 'Oldest first' },
  Attempt: {
    attempt: 'Which attempt of this delivery it was, from 1',
    status: 'The HTTP status of your answer, or null without one',
    credentials: 'Which of your credentials were sent, of whichever kind: those in use, or the new ones',
    dnsms: 'Milliseconds until the name was resolved, or null',
    connectms: 'Milliseconds for the connection, or null where an open one was used',
    tlsms: 'Milliseconds for TLS, or null',
    firstbytems: 'Milliseconds until the first byte of your answer, or null',
    totalms: 'Milliseconds in all',
  },
  LinkToken: {
    linktoken: 'Give it to the embed; it works once',
    linkurl: 'The address of the page, or null for the embed',
  },
  SessionResult: {
    outcome: 'What the person did last',
    reference: 'The reference that the page showed to the person, or null',
    completedat: 'When it was done, or null',
  },
  Health: { status: 'Always `ok`: a failure is a problem document' },
  OAuthError: { error: 'The code, in the words of RFC 6749', error_description: 'What to do about it' },
  Problem: {
    title: 'What the code means',
    status: 'The HTTP status again',
    detail: 'What to do about it, for developers',
    code: 'The stable code, by which a program decides',
    requestid: "Names this request in the operator's logs; also the header `Request-Id`",
    errors: 'Each wrong field, or each reason of a refusal',
  },
  OpenAPI: { openapi: 'The version of OpenAPI' },
  Changelog: { versions: 'The newest first' },
  InterfaceVersion: {
    version: 'The version of the interface',
    changes: 'What is different from the version before',
  },
}

/** What a field means whose declaration does not say it; `undefined` when nothing is known of it. */
export function meaningOf(schemaTitle: string | undefined, field: string): string | undefined {
  return own[schemaTitle ?? '']?.[field] ?? common[field]
}
