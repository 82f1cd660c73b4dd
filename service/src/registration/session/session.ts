import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../calendar/calendar.ts'
import type { Language } from '../../catalogue/model.ts'
import { cookieHeader, cookieIn } from '../../http/cookies.ts'
import { languageAsked, languageNamed } from '../../http/locale.ts'
import type { Reading } from '../../membership/reading/reader.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash, sameHash } from '../../vault/hash.ts'
import { decodeUuid, encodeUuid, makeSecret, parseSecret, secretFrom } from '../../vault/secret.ts'
import type { PageContext } from './page-context.ts'
import {
  findSession,
  languageOf,
  type PageSessionRow,
  type SessionName,
  setLastView,
  spendToken,
  touchSession,
} from './store.ts'

/** How long a session stays open (contract §11): without activity, and in all. */
export const sessionLifetimes = { idle: HOUR_MS, whole: DAY_MS } as const
/** For how long the browser that used a link may press its button again and join the session that it made. */
const JOIN_WITHIN_MS = MINUTE_MS
/** The time of the last activity is written at most this often. */
const TOUCH_AFTER_MS = 15_000

/** A session, open or not, and the partner to whose user it belongs. */
export type OwnSession = { readonly partner: Partner; readonly session: PageSessionRow }

/** A link whose token is right, whether it can still be used or not. */
export type Link = OwnSession & { readonly token: string }

/** A session that is open. `isOver`: its own cancel has closed it, so that only the confirmation may be seen. */
export type ActiveSession = OwnSession & { readonly isOver: boolean }

/** The result of using a token: the session's handle, and in the frame its result token. */
export type Opened = { readonly handle: string; readonly resultToken: string | undefined }

/** Finds the link of a token; `undefined` when the service never made the token or its partner is gone. */
export async function findLink(context: PageContext, token: string): Promise<Link | undefined> {
  const row = await rowOf(context, 'lt', token)
  const pepper = context.keyring.pepper(row?.token_pepper_id ?? '')
  if (!row || !pepper || !sameHash(keyedHash(pepper, 'link_token', token), row.token_hash)) return undefined
  const partner = await livePartner(context, row)
  return partner && { partner, session: row, token }
}

/** The partner that the beginning of a link token names, whatever the rest of it: a dead link is shown in its look. */
export async function partnerOfToken(
  { directory }: PageContext,
  token: string,
): Promise<Partner | undefined> {
  const [, id] = /^enr_lt_(?:sandbox|live)_([\dA-Za-z]{22})/.exec(token) ?? []
  const partnerId = id && decodeUuid(id)
  return partnerId ? livePartner({ directory }, { partner_id: partnerId }) : undefined
}

/** Whether a link can still be used. */
export function isFresh({ session }: Link, now: Instant): boolean {
  return session.spent_at === null && session.revoked_at === null && session.token_expires_at > now
}

/**
 * The language of a link that is opened (contract §11): its own, then what the person chose last, then the browser's, then the
 * partner's.
 */
export async function localeFor(
  { database, languages }: Pick<PageContext, 'database' | 'languages'>,
  { partner, session }: OwnSession,
  header: string | undefined,
): Promise<Language> {
  if (session.locale) return session.locale
  // A draft that was chosen may be switched off by now.
  const chosen = languageNamed(await languageOf(database, session), languages)
  return chosen ?? languageAsked(header, languages) ?? partner.locale
}

/** Records the view that a session shows, so that operators see where a person stopped. */
export async function noteShown(
  { database, clock }: PageContext,
  session: PageSessionRow,
  view: string,
): Promise<void> {
  if (session.last_view === view) return
  await setLastView(database, session, { view, at: clock.real() })
}

/**
 * Whether a cancel has taken effect that the schedule has not applied yet. The schedule will revoke the links and sessions
 * of its user; until then they must not work either, because nobody may notice a late schedule (contract §2).
 */
export async function isEndedByDueCancel(
  { reader }: PageContext,
  { partner, session }: OwnSession,
): Promise<boolean> {
  return hasDueCancel(await reader.read(partner, session.userid))
}

/** Whether the link is that of somebody who is enrolled already, so that there is nothing to set up. */
export async function belongsToMember(
  { reader }: PageContext,
  { partner, session }: OwnSession,
): Promise<boolean> {
  return (await reader.read(partner, session.userid))?.user.status === 'active'
}

function hasDueCancel(reading: Reading | undefined): boolean {
  return reading?.dueChanges.some(({ after }) => after.status === 'cancelled') ?? false
}

/**
 * Uses a link, exactly once. `opener` names the browser that was shown the link: if it presses the button again within
 * a minute, it gets the same session. `undefined`: used, revoked or expired.
 */
export async function spendLink(
  context: PageContext,
  link: Link,
  input: {
    opener: string
    locale: Language
    deeplinkdata?: string | undefined
    withResult: boolean
    request: Pick<FastifyRequest, 'id' | 'ip'>
  },
): Promise<Opened | undefined> {
  const { database, keyring, mode, clock } = context
  const reading = await context.reader.read(link.partner, link.session.userid)
  if (hasDueCancel(reading)) return undefined
  const pepper = keyring.peppers.current
  const handle = handleOf(context, link, { opener: input.opener, pepper: pepper.key })
  const resultToken = input.withResult
    ? makeSecret('rt', mode, sessionSecretId(link.session)).text
    : undefined
  const isSpent = await spendToken(database, link.session, {
    at: clock.real(),
    pepperId: pepper.id,
    handleHash: keyedHash(pepper.key, 'session_handle', handle),
    resultHash: resultToken === undefined ? null : keyedHash(pepper.key, 'result_token', resultToken),
    locale: input.locale,
    deeplinkdata: input.deeplinkdata ?? null,
  })
  // The session is bound to its user only after this, so the user comes from the reading.
  if (isSpent) {
    const { partner_id: partnerId, session_id: sessionId } = link.session
    context.noteOpened(input.request, { partnerId, sessionId, serviceId: reading?.user.serviceId })
  }
  return isSpent ? { handle, resultToken } : joined(context, link, input.opener)
}

async function joined(context: PageContext, link: Link, opener: string): Promise<Opened | undefined> {
  const row = await findSession(context.database, link.session)
  if (!row?.handle_hash || row.spent_at === null || row.revoked_at !== null) return undefined
  if (context.clock.real() >= row.spent_at + JOIN_WITHIN_MS) return undefined
  const pepper = context.keyring.pepper(row.handle_pepper_id ?? '')
  const handle = pepper && handleOf(context, link, { opener, pepper })
  const isSame = pepper && handle && sameHash(keyedHash(pepper, 'session_handle', handle), row.handle_hash)
  return isSame ? { handle, resultToken: undefined } : undefined
}

/**
 * A handle that is derived from values which only this browser and this link have, so that the same browser gets the
 * same handle again.
 */
function handleOf(context: PageContext, link: Link, by: { opener: string; pepper: Buffer }): string {
  return secretFrom(
    { kind: 'sh', mode: context.mode, id: sessionSecretId(link.session) },
    keyedHash(by.pepper, 'session_handle_of_opener', link.token, by.opener),
  )
}

/** A new name for a browser that is shown a link. */
export function newOpener(): string {
  return randomBytes(24).toString('base64url')
}

/**
 * The session of a handle, whether it is open or not. `undefined`: the service never made the handle, or its partner is
 * gone.
 */
export async function findOwn(
  context: PageContext,
  handle: string | undefined,
): Promise<OwnSession | undefined> {
  const session = handle === undefined ? undefined : await rowOfHandle(context, handle)
  const partner = session && (await livePartner(context, session))
  return partner && { partner, session }
}

/** The address that leads back to the partner: the one that the link names, if the partner still has it registered. */
export function wayBack({ partner, session }: OwnSession): string | undefined {
  return partner.redirects.find(address => address === session.redirecturl)
}

/** The session if it is open. `undefined`: revoked, signed out, inactive for too long, or a day old. */
export async function findActive(context: PageContext, own: OwnSession): Promise<ActiveSession | undefined> {
  const { session: row } = own
  const now = context.clock.real()
  const isAlive =
    now < (row.last_seen_at ?? 0) + sessionLifetimes.idle &&
    now < (row.spent_at ?? 0) + sessionLifetimes.whole
  // A cancel closes all sessions of its user; the session that requested it may still show the confirmation.
  const isOver = row.revoked_at !== null || (await isEndedByDueCancel(context, own))
  if (!isAlive || row.signed_out_at !== null || (isOver && row.outcome !== 'cancelled')) return undefined
  if (now >= (row.last_seen_at ?? 0) + TOUCH_AFTER_MS) await touchSession(context.database, row, now)
  return { ...own, isOver }
}

/** Why a session is no longer open. */
export function endOf(row: PageSessionRow): 'challenge' | 'signedout' | 'closed' | 'session' {
  if (row.signed_out_at !== null) return 'signedout'
  if (row.outcome === 'challengefailed') return 'challenge'
  // A session that was active within its last hour did not end for lack of activity: its day was over.
  const isWhole =
    (row.last_seen_at ?? 0) + sessionLifetimes.idle > (row.spent_at ?? 0) + sessionLifetimes.whole
  return row.revoked_at === null && !isWhole ? 'session' : 'closed'
}

/**
 * Whether the service never made this handle. The handle of a session that has ended is known, and no sign of guessing.
 */
export async function isUnknownHandle(context: PageContext, handle: string): Promise<boolean> {
  return (await rowOfHandle(context, handle)) === undefined
}

async function rowOfHandle(context: PageContext, handle: string): Promise<PageSessionRow | undefined> {
  const row = await rowOf(context, 'sh', handle)
  const pepper = context.keyring.pepper(row?.handle_pepper_id ?? '')
  if (!row?.handle_hash || !pepper) return undefined
  return sameHash(keyedHash(pepper, 'session_handle', handle), row.handle_hash) ? row : undefined
}

/** The row that a secret names, whether or not the secret is right. */
async function rowOf(
  { database, directory, mode }: PageContext,
  kind: 'lt' | 'sh',
  secret: string,
): Promise<PageSessionRow | undefined> {
  const parsed = parseSecret(secret)
  const name = parsed?.kind === kind && parsed.mode === mode ? sessionOfSecretId(parsed.id) : undefined
  // The cell of a partner that is not there cannot be asked.
  if (!name || !(await directory.partner(name.partner_id))) return undefined
  return findSession(database, name)
}

async function livePartner(
  { directory }: Pick<PageContext, 'directory'>,
  row: Pick<PageSessionRow, 'partner_id'>,
): Promise<Partner | undefined> {
  const partner = await directory.partner(row.partner_id)
  return partner?.disabledAt === undefined ? partner : undefined
}

/**
 * The author of what a session does. An operator's link is told apart, because the operator may have opened it: only the
 * partner knows that its own link reached the person.
 */
export function authorOf({ made_by }: Pick<PageSessionRow, 'made_by'>): 'user' | 'operatorlink' {
  return made_by === null ? 'user' : 'operatorlink'
}

/**
 * The credential by which a request names its session: the cookie on the hosted page, or the handle in the frame, never
 * both.
 */
export type Credential = { readonly shell: 'hosted' | 'frame'; readonly handle: string | undefined }

/** What decides the form of a cookie. */
type Site = Pick<PageContext, 'mode' | 'baseUrl'>

/** The two cookies: one of a browser that is shown a link, one of a browser that has opened it. */
type CookieName = 'session' | 'opener'

/**
 * Reads the credential of a request. A request with `Authorization` comes from the frame, and its cookies are ignored.
 */
export function credentialOf(headers: IncomingHttpHeaders, site: Site): Credential {
  const { authorization } = headers
  if (authorization !== undefined) {
    return { shell: 'frame', handle: /^Session ([\w]+)$/.exec(authorization)?.[1] }
  }
  return { shell: 'hosted', handle: readCookie(headers, 'session', site) }
}

/** The value of one of our cookies, or `undefined`. */
export function readCookie(headers: IncomingHttpHeaders, name: CookieName, site: Site): string | undefined {
  return cookieIn(headers, cookieNameOf(name, site))
}

/** The header that sets one of our cookies until the browser is closed, or deletes it when there is no value. */
export function setCookie(name: CookieName, value: string | undefined, site: Site): string {
  return cookieHeader(cookieNameOf(name, site), value, { isSecure: !isPlainSandbox(site) })
}

function cookieNameOf(name: CookieName, site: Site): string {
  const plain = name === 'session' ? 'enrolment' : 'enrolment-opener'
  return isPlainSandbox(site) ? `${plain}-sandbox` : `__Host-${plain}`
}

/**
 * A sandbox uses plain http on loopback. There not every browser keeps a Secure cookie, which the `__Host-` prefix
 * requires.
 */
function isPlainSandbox({ mode, baseUrl }: Site): boolean {
  return mode === 'sandbox' && baseUrl().startsWith('http:')
}

/** The id in a link token, a session handle and a result token: the partner's and the session's. */
export function sessionSecretId(name: SessionName): string {
  return encodeUuid(name.partner_id) + encodeUuid(name.session_id)
}

/** The session that such an id names, or `undefined`. */
export function sessionOfSecretId(id: string): SessionName | undefined {
  const partner_id = decodeUuid(id.slice(0, 22))
  const session_id = decodeUuid(id.slice(22))
  return partner_id && session_id ? { partner_id, session_id } : undefined
}
