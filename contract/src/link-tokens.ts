import { OptionalTimestamp, optionalText, Timestamp, Userid } from './fields.ts'
import { keyedErrors, operation, partnerErrors } from './operation.ts'
import { described, orNull, parameters, refusedWith, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'

/** What a link is for (contract §11). */
export const linkPurposes = ['registration', 'benefits', 'swap', 'offerchange'] as const
/** How a link reaches the user (contract §11). */
export const linkDeliveries = ['embed', 'hosted', 'sms', 'email'] as const
/** How a page session ended (contract §11). */
export const outcomes = [
  'enrolled',
  'swapped',
  'changed',
  'cancelled',
  'undone',
  'exited',
  'challengefailed',
] as const
/** How a page session ended. */
export type SessionOutcome = (typeof outcomes)[number]

/** The request of a link token (contract §11). */
export const LinkTokenRequest = shape('LinkTokenRequest', {
  userid: Userid,
  purpose: Type.Optional(
    Type.Enum([...linkPurposes, ''], { 'x-rule': `must be one of ${linkPurposes.join(', ')}` }),
  ),
  offername: optionalText(64),
  deeplinkdata: optionalText(500, {
    'x-rule': 'must be the deeplinkdata of a benefit, as POST /user/benefits gave it',
  }),
  redirecturl: optionalText(2048, { 'x-rule': 'must equal a registered redirect address exactly' }),
  origins: Type.Optional(
    Type.Array(
      Type.String({ minLength: 1, maxLength: 300, 'x-rule': 'must equal a registered origin exactly' }),
      { minItems: 1, maxItems: 20, uniqueItems: true, 'x-rule': 'must be a list of registered origins' },
    ),
  ),
  locale: Type.Optional(Type.Enum(['en', 'es', ''], { 'x-rule': 'must be en or es' })),
  delivery: Type.Optional(
    Type.Enum([...linkDeliveries, ''], { 'x-rule': `must be one of ${linkDeliveries.join(', ')}` }),
  ),
})
/** The shape of {@link LinkTokenRequest}. */
export type LinkTokenRequest = Static<typeof LinkTokenRequest>

const exampleSession = '019abc12-3456-7def-8123-456789abcdea'

const shared = {
  caller: 'partner',
  scope: 'linktokens:create',
  idempotency: 'ignored',
  tag: 'Link tokens',
  section: 'contract §11',
} as const

/** Mints a link token (interface §1, contract §11). No answer is stored, so an idempotency key has no effect. */
export const createLinkToken = operation({
  ...shared,
  id: 'createLinkToken',
  method: 'POST',
  path: '/user/linktoken',
  summary: 'Mint a short-lived single-use token that opens the registration page for one user',
  description:
    'Lives 15 minutes (embed, hosted), 24 hours (sms) or 7 days (email). For embed, linkurl is null: give the token ' +
    'to the drop-in script. Send the user to linkurl otherwise; we send nothing ourselves. A user whose cancel is in ' +
    'effect gets links of the purpose registration only. A link by sms or email asks for the birth date if it is ' +
    'known: five attempts for each link, ten for each user in 30 days.',
  body: LinkTokenRequest,
  reply: shape('LinkToken', {
    linktoken: string('Give it to the embed; it works once'),
    linkurl: described(orNull(Type.String()), 'The address of the page, or null for the embed'),
    sessionid: Type.String(),
    expiresat: Timestamp,
  }),
  errors: [...partnerErrors, 'offername_unknown', 'benefit_unknown', 'user_not_found', 'user_cancelled'],
  example: {
    body: { userid: 'u-1001', purpose: 'registration', delivery: 'hosted', locale: 'en' },
    reply: {
      linktoken: 'enr_lt_sandbox_…',
      linkurl: 'https://benefits.example.com/register/link/enr_lt_sandbox_…',
      sessionid: exampleSession,
      expiresat: '2026-11-20T15:19:05.123Z',
    },
  },
})

/** Revokes a link token and the session it may have started (contract §11); a repeat gets the same answer. */
export const revokeLinkToken = operation({
  ...shared,
  id: 'revokeLinkToken',
  method: 'DELETE',
  path: '/user/linktoken/{sessionid}',
  idempotency: 'keyed',
  summary: 'Revoke a link token and its session',
  params: parameters({ sessionid: Type.String({ maxLength: 64, 'x-rule': 'must be a sessionid' }) }),
  reply: shape('RevokedLinkToken', { sessionid: Type.String(), revokedat: Timestamp }),
  errors: [...partnerErrors, ...keyedErrors, 'not_found'],
  example: { reply: { sessionid: exampleSession, revokedat: '2026-11-20T15:10:00.000Z' } },
})

/** Exchanges the result token of `onSuccess`, or returns the result of a session by its id (contract §11). */
export const exchangeResult = operation({
  ...shared,
  id: 'exchangeResult',
  method: 'POST',
  path: '/user/linktoken/result',
  summary: 'Get the result of a page session, by its result token or its id, for 24 hours',
  description:
    'Send one of the two. `exited`: nothing was done, or not yet. `challengefailed`: a wrong birth date was entered too ' +
    'many times; such a session has no result token.',
  body: shape(
    'ResultRequest',
    {
      resulttoken: optionalText(300, { 'x-rule': 'must be the result token that onSuccess or onExit got' }),
      sessionid: optionalText(64, { 'x-rule': 'must be the sessionid of a link token' }),
    },
    { minProperties: 1, ...refusedWith({ resulttoken: [{ sessionid: {} }] }) },
  ),
  reply: shape('SessionResult', {
    sessionid: Type.String(),
    userid: Type.String(),
    outcome: described(Type.Enum([...outcomes]), 'What the person did last'),
    reference: described(orNull(Type.String()), 'The reference that the page showed to the person, or null'),
    completedat: described(OptionalTimestamp, 'When it was done, or null'),
  }),
  errors: [...partnerErrors, 'not_found'],
  example: {
    body: { resulttoken: 'enr_rt_sandbox_…' },
    reply: {
      sessionid: exampleSession,
      userid: 'u-1001',
      outcome: 'enrolled',
      reference: 'BE-7K3M-92QD',
      completedat: '2026-11-20T15:12:00.000Z',
    },
  },
})
