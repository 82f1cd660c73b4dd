import type {
  createLinkToken,
  exchangeResult,
  LinkTokenRequest,
  revokeLinkToken,
} from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import type { Handler } from '../http/mount.ts'
import { badField, ServiceError } from '../http/service-error.ts'
import { runKeyed } from '../idempotency/keyed.ts'
import type { Reader } from '../membership/reader.ts'
import { isKnown } from '../membership/state.ts'
import { partnerOffer } from '../membership/terms.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Partner } from '../partners/partner.ts'
import { decodeUuid, encodeUuid } from '../vault/base62.ts'
import { keyedHash, sameHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { makeSecret, parseSecret, type SecretMode } from '../vault/secret.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { parseDeepLink } from './deep-link.ts'
import { findSession, insertLink, revokeSession, type SessionName } from './store.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long a link token lives, by how it reaches the user (contract §11). */
export const linkLifetimes = { embed: 15 * minute, hosted: 15 * minute, sms: day, email: 7 * day } as const
const resultLifetime = day

/** What link tokens need of their surroundings. */
export type LinkContext = {
  readonly database: Database
  readonly reader: Reader
  readonly keyring: Keyring
  readonly mode: SecretMode
  readonly real: () => Instant
  readonly baseUrl: () => string
}

/** The id in a link token, a session handle and a result token: the partner's and the session's. */
export const sessionSecretId = (name: SessionName): string =>
  encodeUuid(name.partnerId) + encodeUuid(name.sessionId)

/** The session that such an id names, or `undefined`. */
export const sessionOfSecretId = (id: string): SessionName | undefined => {
  const partnerId = decodeUuid(id.slice(0, 22))
  const sessionId = decodeUuid(id.slice(22))
  return partnerId && sessionId ? { partnerId, sessionId } : undefined
}

/** Mints and revokes link tokens, exchanges results (contract §11). */
export const linkTokenHandlers = (context: LinkContext) => {
  const { database, keyring, mode, real } = context

  const create: Handler<typeof createLinkToken, Caller> = async request => {
    const { partner } = request.caller
    const { body } = request
    const link = await checkLink(context, partner, body)
    const now = real()
    const sessionId = uuidv7(now)
    const { text } = makeSecret('lt', mode, sessionSecretId({ partnerId: partner.partnerId, sessionId }))
    const pepper = keyring.peppers.current
    const expiresAt = now + linkLifetimes[link.delivery]
    await insertLink(database, {
      ...link,
      partner_id: partner.partnerId,
      session_id: sessionId,
      userid: body.userid,
      token_pepper_id: pepper.id,
      token_hash: keyedHash(pepper.key, 'link_token', text),
      created_at: now,
      token_expires_at: expiresAt,
    })
    return {
      linktoken: text,
      linkurl: link.delivery === 'embed' ? null : `${context.baseUrl()}/register/link/${text}`,
      sessionid: sessionId,
      expiresat: formatTimestamp(expiresAt),
    }
  }

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
        // Links outlive every key, but for those that went with their user.
        isErased: async (tx, { sessionid }) => {
          const name = { partnerId: request.caller.partner.partnerId, sessionId: sessionid }
          return (await findSession(tx, name)) === undefined
        },
      },
      { database, real },
    )

  const exchange: Handler<typeof exchangeResult, Caller> = async request => {
    const text = request.body.resulttoken
    const parsed = parseSecret(text)
    const name = parsed?.kind === 'rt' ? sessionOfSecretId(parsed.id) : undefined
    const isOwn = name?.partnerId === request.caller.partner.partnerId
    const session = name && isOwn ? await findSession(database, name) : undefined
    const pepper = keyring.pepper(session?.result_pepper_id ?? '')
    const isRight =
      session?.result_hash != null &&
      pepper !== undefined &&
      sameHash(keyedHash(pepper, 'result_token', text), session.result_hash)
    const begunAt = session?.completed_at ?? session?.spent_at ?? 0
    if (!session || !isRight || real() >= begunAt + resultLifetime)
      throw new ServiceError('not_found', 'The result token is unknown, or older than 24 hours.')
    return {
      sessionid: session.session_id,
      userid: session.userid,
      // An undone change is a change: the wire has no word of its own for it. Without an outcome the person has left
      // with nothing done, or is still there: which of the two, no message of a closing browser would tell for sure.
      outcome: session.outcome === 'undone' ? 'changed' : (session.outcome ?? 'exited'),
      reference: session.reference,
      completedat: session.completed_at === null ? null : formatTimestamp(session.completed_at),
    }
  }

  return { createLinkToken: create, revokeLinkToken: revoke, exchangeResult: exchange }
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

/** What a request asks for, with the defaults of contract §11. Refuses what is not the partner's. */
const checkLink = async (context: LinkContext, partner: Partner, body: LinkTokenRequest) => {
  const purpose = body.purpose || 'registration'
  const delivery = body.delivery || 'hosted'
  if (body.redirecturl && !partner.redirects.includes(body.redirecturl)) {
    throw badField('redirecturl', 'not_registered', 'must equal a registered redirect address exactly')
  }
  const stranger = (body.origins ?? []).findIndex(origin => !partner.origins.includes(origin))
  if (stranger >= 0)
    throw badField(`origins[${stranger}]`, 'not_registered', 'must equal a registered origin exactly')
  if (body.deeplinkdata && !parseDeepLink(body.deeplinkdata)) {
    throw badField(
      'deeplinkdata',
      'format',
      'must be the deeplinkdata of a benefit, as POST /user/benefits gave it',
    )
  }
  if (body.offername && !partnerOffer(await context.reader.termsFor(partner), body.offername)) {
    throw new ServiceError('offername_unknown')
  }
  const user = (await context.reader.read(partner, body.userid))?.user
  // Who was erased comes back by a prefill or a create alone (contract §7).
  const mayBeUnknown = purpose === 'registration' && user?.status !== 'erased'
  if (!mayBeUnknown && !isKnown(user)) throw new ServiceError('user_not_found')
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
