import type {
  createLinkToken,
  exchangeResult,
  LinkTokenRequest,
  revokeLinkToken,
} from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import type { Query } from '../../db/sql.ts'
import type { Handler } from '../../http/mount.ts'
import { badField, fieldError, ServiceError } from '../../http/service-error.ts'
import { runKeyed } from '../../idempotency/keyed.ts'
import type { Reader } from '../../membership/commands/reader.ts'
import { isKnown } from '../../membership/rules/state.ts'
import { partnerOffer } from '../../membership/rules/terms.ts'
import type { Caller } from '../../partners/authenticate.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash, sameHash } from '../../vault/hash.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { makeSecret, parseSecret, type SecretMode } from '../../vault/secret.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { parseDeepLink } from '../session/deep-link.ts'
import { sessionOfSecretId, sessionSecretId } from '../session/secret-id.ts'
import { findSession, insertLink, type PageSessionRow, revokeSession } from '../session/store.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long a link token lives, by the way in which it reaches the user (contract §11). */
export const linkLifetimes = { embed: 15 * minute, hosted: 15 * minute, sms: day, email: 7 * day } as const
const resultLifetime = day

/** What link tokens need from the other parts of the service. */
export type LinkContext = {
  readonly database: Database
  readonly reader: Reader
  readonly keyring: Keyring
  readonly mode: SecretMode
  readonly real: () => Instant
  readonly baseUrl: () => string
}

/**
 * Mints a link token as requested, and commits `alongside` with it. Refuses origins, offers and addresses that are not
 * the partner's, and an unknown user.
 */
export async function mintLinkToken(
  context: LinkContext,
  partner: Partner,
  body: LinkTokenRequest,
  alongside: readonly Query[] = [],
): Promise<{ linktoken: string; linkurl: string | null; sessionid: string; expiresat: string }> {
  const link = await checkLink(context, partner, body)
  const now = context.real()
  const sessionId = uuidv7(now)
  const { text } = makeSecret(
    'lt',
    context.mode,
    sessionSecretId({ partnerId: partner.partnerId, sessionId }),
  )
  const pepper = context.keyring.peppers.current
  const expiresAt = now + linkLifetimes[link.delivery]
  const made = {
    ...link,
    partner_id: partner.partnerId,
    session_id: sessionId,
    userid: body.userid,
    token_pepper_id: pepper.id,
    token_hash: keyedHash(pepper.key, 'link_token', text),
    created_at: now,
    token_expires_at: expiresAt,
  }
  if (alongside.length === 0) await insertLink(context.database, made)
  else
    await context.database.transaction(async tx => {
      await insertLink(tx, made)
      for (const one of alongside) await tx.query(one)
    })
  return {
    linktoken: text,
    linkurl: link.delivery === 'embed' ? null : `${context.baseUrl()}/register/link/${text}`,
    sessionid: sessionId,
    expiresat: formatTimestamp(expiresAt),
  }
}

/** Mints and revokes link tokens, exchanges results (contract §11). */
export function linkTokenHandlers(context: LinkContext) {
  const { database, keyring, real } = context

  const create: Handler<typeof createLinkToken, Caller> = request =>
    mintLinkToken(context, request.caller.partner, request.body)

  const revoke: Handler<typeof revokeLinkToken, Caller> = request =>
    runKeyed(
      {
        request,
        effect: async tx => {
          const { sessionid } = request.params
          const name = { partnerId: request.caller.partner.partnerId, sessionId: sessionid }
          const revokedAt = isUuid(sessionid) ? await revokeSession(tx, name, real()) : undefined
          if (revokedAt === undefined)
            throw new ServiceError(
              'not_found',
              'The sessionid is unknown: send one from POST /user/linktoken.',
            )
          return { sessionid, revokedat: formatTimestamp(revokedAt) }
        },
        // Links outlive every idempotency key, except links that were deleted with their user.
        isErased: async (tx, { sessionid }) => {
          const name = { partnerId: request.caller.partner.partnerId, sessionId: sessionid }
          return (await findSession(tx, name)) === undefined
        },
      },
      { database, real },
    )

  const exchange: Handler<typeof exchangeResult, Caller> = async request => {
    const { resulttoken, sessionid } = request.body
    if (Boolean(resulttoken) === Boolean(sessionid))
      throw badField('resulttoken', 'required', 'or sessionid must be given, and not both')
    const { partnerId } = request.caller.partner
    const session = resulttoken
      ? await sessionOfResult(resulttoken, partnerId)
      : isUuid(sessionid ?? '')
        ? await findSession(database, { partnerId, sessionId: sessionid ?? '' })
        : undefined
    const begunAt = session?.completed_at ?? session?.spent_at ?? 0
    if (!session || real() >= begunAt + resultLifetime)
      throw new ServiceError(
        'not_found',
        resulttoken
          ? 'The result token is unknown, or older than 24 hours.'
          : 'The session is unknown or was never opened, or its result is older than 24 hours.',
      )
    return {
      sessionid: session.session_id,
      userid: session.userid,
      // Without an outcome the person has left without doing anything, or is still on the page. No message of a closing
      // browser could tell the two apart reliably.
      outcome: session.outcome ?? 'exited',
      reference: session.reference,
      completedat: session.completed_at === null ? null : formatTimestamp(session.completed_at),
    }
  }

  /** The session that a result token names, if the token is right and belongs to this partner. */
  const sessionOfResult = async (text: string, partnerId: string): Promise<PageSessionRow | undefined> => {
    const parsed = parseSecret(text)
    const name = parsed?.kind === 'rt' ? sessionOfSecretId(parsed.id) : undefined
    const session = name?.partnerId === partnerId ? await findSession(database, name) : undefined
    const pepper = keyring.pepper(session?.result_pepper_id ?? '')
    const isRight =
      session?.result_hash != null &&
      pepper !== undefined &&
      sameHash(keyedHash(pepper, 'result_token', text), session.result_hash)
    return isRight ? session : undefined
  }

  return { createLinkToken: create, revokeLinkToken: revoke, exchangeResult: exchange }
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

/** The request with the defaults of contract §11. Refuses values that are not the partner's. */
async function checkLink(context: LinkContext, partner: Partner, body: LinkTokenRequest) {
  const purpose = body.purpose || 'registration'
  const delivery = body.delivery || 'hosted'
  if (body.redirecturl && !partner.redirects.includes(body.redirecturl)) {
    throw badField('redirecturl', 'not_registered', 'must equal a registered redirect address exactly')
  }
  const unregistered = (body.origins ?? []).findIndex(origin => !partner.origins.includes(origin))
  if (unregistered >= 0)
    throw badField(`origins[${unregistered}]`, 'not_registered', 'must equal a registered origin exactly')
  if (body.deeplinkdata && !parseDeepLink(body.deeplinkdata)) {
    throw badField(
      'deeplinkdata',
      'format',
      'must be the deeplinkdata of a benefit, as POST /user/benefits gave it',
    )
  }
  if (body.offername && !partnerOffer(await context.reader.termsFor(partner), body.offername)) {
    throw fieldError('offername_unknown', 'offername', 'must be the name of one of your offers')
  }
  const user = (await context.reader.read(partner, body.userid))?.user
  // An erased user can only return by a new prefill or create (contract §7).
  const mayBeUnknown = purpose === 'registration' && user?.status !== 'erased'
  if (!mayBeUnknown && !isKnown(user)) throw new ServiceError('user_not_found')
  // After a membership has ended, only a registration link is possible.
  if (purpose !== 'registration' && user?.status === 'cancelled') throw new ServiceError('user_cancelled')
  return {
    purpose,
    delivery,
    offername: body.offername || null,
    deeplinkdata: body.deeplinkdata || null,
    redirecturl: body.redirecturl || null,
    origins: [...(body.origins ?? partner.origins)],
    locale: body.locale || partner.locale,
  }
}
