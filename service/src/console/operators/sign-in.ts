import { DAY_MS, HOUR_MS, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { decodeUuid, encodeUuid } from '../../vault/base62.ts'
import { keyedHash, sameHash } from '../../vault/hash.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { makeSecret, parseSecret, type SecretKind, type SecretMode } from '../../vault/secret.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { Operator } from './operator.ts'
import {
  findLink,
  findOperatorSession,
  insertLink,
  insertOperatorSession,
  type OpenLink,
  type OperatorSession,
  spendLink,
} from './store.ts'

/** How long an unused sign-in link stays valid. */
export const LINK_LIFETIME_MS = DAY_MS
/** A working day; on the next day operators sign in again. */
const SESSION_LIFETIME_MS = 8 * HOUR_MS

/** What signing in needs from the other parts. */
export type SignInContext = {
  readonly database: Executor
  readonly keyring: Keyring
  readonly mode: SecretMode
  readonly real: () => Instant
}

/** Makes the token of a single-use sign-in link; an earlier one of the same operator no longer works. */
export async function mintLink(context: SignInContext, operator: Operator): Promise<string> {
  const at = context.real()
  const linkId = uuidv7(at)
  const { text } = makeSecret('ol', context.mode, encodeUuid(linkId))
  const { id: pepperId, key } = context.keyring.peppers.current
  await insertLink(context.database, {
    operatorId: operator.operatorId,
    linkId,
    pepperId,
    hash: keyedHash(key, LINK, text),
    at,
    expiresAt: at + LINK_LIFETIME_MS,
  })
  return text
}

/** The link of a token; `undefined` when the token is wrong, used or expired, or its operator is disabled. */
export async function linkOf(context: SignInContext, token: string): Promise<OpenLink | undefined> {
  const id = idOf(context, token, 'ol')
  const link = id && (await findLink(context.database, id, context.real()))
  return link && isRight(context, link, LINK, token) ? link : undefined
}

/**
 * Uses a link and opens a session; returns the session's secret, or `undefined` when another request used the link
 * first.
 */
export async function openSessionBy(context: SignInContext, link: OpenLink): Promise<string | undefined> {
  const isOwn = await spendLink(context.database, link.linkId, context.real())
  return isOwn ? openSession(context, link.operator) : undefined
}

/** Opens a session of an operator who has proved their identity; returns the session's secret. */
export async function openSession(
  context: SignInContext,
  { operatorId }: Pick<Operator, 'operatorId'>,
): Promise<string> {
  const at = context.real()
  const sessionId = uuidv7(at)
  const { text } = makeSecret('os', context.mode, encodeUuid(sessionId))
  const { id: pepperId, key } = context.keyring.peppers.current
  await insertOperatorSession(context.database, {
    sessionId,
    operatorId,
    pepperId,
    hash: keyedHash(key, SESSION, text),
    csrfHash: keyedHash(key, CSRF_HASH, formTokenFrom(key, text)),
    at,
    expiresAt: at + SESSION_LIFETIME_MS,
  })
  return text
}

/** A session with the token for its forms. */
export type OpenSession = OperatorSession & { readonly formToken: string }

/**
 * The session of a secret; `undefined` when the secret is wrong, the session has ended or expired, or its operator is
 * disabled.
 */
export async function sessionOf(context: SignInContext, secret: string): Promise<OpenSession | undefined> {
  const id = idOf(context, secret, 'os')
  const session = id && (await findOperatorSession(context.database, id, context.real()))
  if (!session || !isRight(context, session, SESSION, secret)) return undefined
  const pepper = context.keyring.pepper(session.pepperId)
  return pepper && { ...session, formToken: formTokenFrom(pepper, secret) }
}

/** Whether a form carries the token of the session it was made for. */
export function isOwnForm(context: SignInContext, session: OperatorSession, sent: string): boolean {
  const pepper = context.keyring.pepper(session.pepperId)
  return pepper !== undefined && sameHash(keyedHash(pepper, CSRF_HASH, sent), session.csrfHash)
}

const LINK = 'operator_links.hash'
const SESSION = 'operator_sessions.hash'
const CSRF = 'operator_sessions.form_token'
const CSRF_HASH = 'operator_sessions.csrf_hash'

/** Derived from the session's secret, so that every page can contain it and none is stored. */
function formTokenFrom(pepper: Buffer, secret: string): string {
  return keyedHash(pepper, CSRF, secret).toString('base64url')
}

function idOf(context: SignInContext, text: string, kind: SecretKind): string | undefined {
  const parsed = parseSecret(text)
  return parsed?.kind === kind && parsed.mode === context.mode ? decodeUuid(parsed.id) : undefined
}

function isRight(
  context: SignInContext,
  row: { readonly pepperId: string; readonly hash: Buffer },
  purpose: string,
  text: string,
): boolean {
  const pepper = context.keyring.pepper(row.pepperId)
  return pepper !== undefined && sameHash(keyedHash(pepper, purpose, text), row.hash)
}
