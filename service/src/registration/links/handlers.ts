import type { createLinkToken, exchangeResult, revokeLinkToken } from '@benefit-enrolment/contract'
import { DAY_MS, formatTimestamp } from '../../calendar/calendar.ts'
import type { Handler } from '../../http/mount.ts'
import { badField, ServiceError } from '../../http/service-error.ts'
import { runKeyed } from '../../idempotency/keyed.ts'
import { accepted } from '../../membership/requests/account-command.ts'
import type { Caller } from '../../partners/authenticate.ts'
import { keyedHash, sameHash } from '../../vault/hash.ts'
import { parseSecret } from '../../vault/secret.ts'
import { isUuid } from '../../vault/uuid.ts'
import { sessionOfSecretId } from '../session/session.ts'
import { findSession, type PageSessionRow, revokeSession } from '../session/store.ts'
import { type LinkContext, mintLinkToken } from './link-tokens.ts'

/** Mints and revokes link tokens, exchanges results (contract §11). */
export function linkTokenHandlers(context: LinkContext) {
  const { database, keyring, real } = context

  const create: Handler<typeof createLinkToken, Caller> = async request =>
    accepted(await mintLinkToken(context, request.caller.partner, request.body), request)

  const revoke: Handler<typeof revokeLinkToken, Caller> = request =>
    runKeyed(
      {
        request,
        effect: async tx => {
          const { sessionid } = request.params
          const name = { partner_id: request.caller.partner.partnerId, session_id: sessionid }
          const revokedAt = isUuid(sessionid) ? await revokeSession(tx, name, real()) : undefined
          if (revokedAt === undefined)
            throw new ServiceError(
              'not_found',
              'The sessionid is unknown: send one from POST /user/linktoken.',
            )
          return { sessionid, revokedat: formatTimestamp(revokedAt) }
        },
        // Links are kept for longer than idempotency keys, so a missing one was deleted with its user.
        isErased: async (tx, { sessionid }) => {
          const name = { partner_id: request.caller.partner.partnerId, session_id: sessionid }
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
        ? await findSession(database, { partner_id: partnerId, session_id: sessionid ?? '' })
        : undefined
    const begunAt = session?.completed_at ?? session?.spent_at ?? 0
    if (!session || real() >= begunAt + DAY_MS)
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
    const session = name?.partner_id === partnerId ? await findSession(database, name) : undefined
    const pepper = keyring.pepper(session?.result_pepper_id ?? '')
    const isRight =
      session?.result_hash != null &&
      pepper !== undefined &&
      sameHash(keyedHash(pepper, 'result_token', text), session.result_hash)
    return isRight ? session : undefined
  }

  return { createLinkToken: create, revokeLinkToken: revoke, exchangeResult: exchange }
}
