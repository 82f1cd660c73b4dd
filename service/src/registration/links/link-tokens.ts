import type { LinkTokenRequest } from '@benefit-enrolment/contract'
import { DAY_MS, formatTimestamp, type Instant, MINUTE_MS } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import type { Query } from '../../db/sql.ts'
import { applyDueNow } from '../../membership/commands/apply-due-now.ts'
import type { CommandExecutor } from '../../membership/commands/executor.ts'
import { lockUser } from '../../membership/reading/load.ts'
import type { Reader } from '../../membership/reading/reader.ts'
import { refuseUnknown } from '../../membership/requests/given.ts'
import { isRefusal, type Refusal, refuse, refuseField, unknownOffer } from '../../membership/rules/refusal.ts'
import { isKnown } from '../../membership/rules/state.ts'
import { partnerOffer } from '../../membership/rules/terms.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { makeSecret, type SecretMode } from '../../vault/secret.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { isDeepLink, parseDeepLink } from '../session/deep-link.ts'
import { sessionSecretId } from '../session/session.ts'
import { insertLink } from '../session/store.ts'

/** How long a link token can be used, by the way in which it reaches the user (contract §11). */
const linkLifetimes = {
  embed: 15 * MINUTE_MS,
  hosted: 15 * MINUTE_MS,
  sms: DAY_MS,
  email: 7 * DAY_MS,
} as const

/** What link tokens need from the other parts of the service. */
export type LinkContext = {
  readonly database: Database
  readonly reader: Reader
  readonly executor: Pick<CommandExecutor, 'submit'>
  readonly keyring: Keyring
  readonly mode: SecretMode
  readonly real: () => Instant
  readonly baseUrl: () => string
}

/** A link token, and where it leads; the text of the token is stored nowhere. */
export type LinkToken = {
  readonly linktoken: string
  readonly linkurl: string | null
  readonly sessionid: string
  readonly expiresat: string
}

/**
 * Mints a link token as requested, for the partner or for the operator `made.by`, and commits `made.alongside` with it. Refuses origins, offers and addresses that are not
 * the partner's, an unknown user, and a deep link to an unknown benefit.
 */
export async function mintLinkToken(
  context: LinkContext,
  partner: Partner,
  body: LinkTokenRequest,
  made?: { readonly by: string; readonly alongside: readonly Query[] },
): Promise<LinkToken | Refusal> {
  const link = await checkLink(context, partner, body)
  if (isRefusal(link)) return link
  const now = context.real()
  const name = { partner_id: partner.partnerId, session_id: uuidv7(now) }
  const { text } = makeSecret('lt', context.mode, sessionSecretId(name))
  const pepper = context.keyring.peppers.current
  const expiresAt = now + linkLifetimes[link.delivery]
  const row = {
    ...link,
    ...name,
    userid: body.userid,
    token_pepper_id: pepper.id,
    token_hash: keyedHash(pepper.key, 'link_token', text),
    created_at: now,
    token_expires_at: expiresAt,
    made_by: made?.by ?? null,
  }
  const refused = await context.database.transaction(async tx => {
    // An erasure or a cancel ends the links that it finds, so neither may happen between the check and the new link.
    const status = await lockUser(tx, { partnerId: partner.partnerId, userid: body.userid })
    if (link.isThere && status === undefined) return refuse('user_not_found')
    if (link.purpose !== 'registration' && status === 'cancelled') return refuse('user_cancelled')
    await insertLink(tx, row)
    for (const one of made?.alongside ?? []) await tx.query(one)
    return undefined
  })
  if (refused) return refused
  return {
    linktoken: text,
    linkurl: link.delivery === 'embed' ? null : `${context.baseUrl()}/register/link/${text}`,
    sessionid: name.session_id,
    expiresat: formatTimestamp(expiresAt),
  }
}

/** The request with the defaults of contract §11. Refuses values that are not the partner's. */
async function checkLink(context: LinkContext, partner: Partner, body: LinkTokenRequest) {
  const purpose = body.purpose || 'registration'
  const delivery = body.delivery || 'hosted'
  if (body.redirecturl && !partner.redirects.includes(body.redirecturl))
    return refuseField('redirecturl', 'not_registered', 'must equal a registered redirect address exactly')
  const unregistered = (body.origins ?? []).findIndex(origin => !partner.origins.includes(origin))
  if (unregistered >= 0)
    return refuseField(`origins[${unregistered}]`, 'not_registered', 'must equal a registered origin exactly')
  const deepLink = parseDeepLink(body.deeplinkdata ?? '')
  if (body.deeplinkdata && !isDeepLink(body.deeplinkdata))
    return refuseField(
      'deeplinkdata',
      'format',
      'must be the deeplinkdata of a benefit, as POST /user/benefits gave it',
    )
  const terms = await context.reader.termsFor(partner)
  if (body.offername && !partnerOffer(terms, body.offername)) return unknownOffer
  const { user, dueChanges = [] } = (await context.reader.read(partner, body.userid)) ?? {}
  // A cancel that is due ends all links when it is applied, and must not end one that was minted after it.
  if (dueChanges.length > 0) await applyDueNow(context.executor, partner, { userid: body.userid })
  // An erased user can only return by a new prefill or create (contract §7).
  const mayBeUnknown = purpose === 'registration' && user?.status !== 'erased'
  if (!mayBeUnknown && !isKnown(user)) return refuse('user_not_found')
  const named = deepLink ? [{ field: 'deeplinkdata', name: deepLink.productname }] : []
  const unknown = refuseUnknown(named, { user, terms })
  if (unknown) return unknown
  // After a membership has ended, only a registration link is possible.
  if (purpose !== 'registration' && user?.status === 'cancelled') return refuse('user_cancelled')
  return {
    isThere: user !== undefined,
    purpose,
    delivery,
    offername: body.offername || null,
    deeplinkdata: body.deeplinkdata || null,
    redirecturl: body.redirecturl || null,
    origins: [...(body.origins ?? partner.origins)],
    locale: body.locale || null,
  }
}
