import { DAY_MS, HOUR_MS, type Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { keyedHash, sameHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { decodeUuid, encodeUuid, makeSecret, parseSecret, type SecretMode } from '../vault/secret.ts'
import { uuidv7 } from '../vault/uuid.ts'
import type { Operator } from './operator.ts'
import {
  findLink,
  findOperatorSession,
  type Hashed,
  insertLink,
  insertOperatorSession,
  type OpenLink,
  type OperatorSession,
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
export async function mintLink(context: SignInContext, { operatorId }: Operator): Promise<string> {
  const at = context.real()
  const { id: linkId, text, ...hashed } = newSecret(context, 'ol', at)
  await insertLink(context.database, { ...hashed, operatorId, linkId, at, expiresAt: at + LINK_LIFETIME_MS })
  return text
}

/** The link of a token; `undefined` when the token is wrong, used or expired, or its operator is disabled. */
export function linkOf(context: SignInContext, token: string): Promise<OpenLink | undefined> {
  return openedBy(context, { text: token, kind: 'ol', find: findLink })
}

/** Opens a session of an operator who has proved their identity; returns the session's secret. */
export async function openSession(
  context: SignInContext,
  { operatorId }: Pick<Operator, 'operatorId'>,
): Promise<string> {
  const at = context.real()
  const { id: sessionId, text, ...hashed } = newSecret(context, 'os', at)
  const expiresAt = at + SESSION_LIFETIME_MS
  await insertOperatorSession(context.database, { ...hashed, operatorId, sessionId, at, expiresAt })
  return text
}

/** A session with the token for its forms. */
export type OpenSession = OperatorSession & { readonly formToken: string }

/**
 * The session of a secret; `undefined` when the secret is wrong, the session has ended or expired, or its operator is
 * disabled.
 */
export async function sessionOf(context: SignInContext, secret: string): Promise<OpenSession | undefined> {
  const session = await openedBy(context, { text: secret, kind: 'os', find: findOperatorSession })
  const pepper = session && context.keyring.pepper(session.pepperId)
  // Derived from the session's secret, so that every page can contain it and none is stored.
  return pepper && { ...session, formToken: keyedHash(pepper, FORM_TOKEN, secret).toString('base64url') }
}

/** Whether a form carries the token of the session it was made for. */
export function isOwnForm({ formToken }: OpenSession, sent: string): boolean {
  return sameHash(Buffer.from(formToken), Buffer.from(sent))
}

const FORM_TOKEN = 'operator_sessions.form_token'
const HASHES = { ol: 'operator_links.hash', os: 'operator_sessions.hash' } as const
type Kind = keyof typeof HASHES

function newSecret({ keyring, mode }: SignInContext, kind: Kind, at: Instant) {
  const id = uuidv7(at)
  const { text } = makeSecret(kind, mode, encodeUuid(id))
  const { id: pepperId, key } = keyring.peppers.current
  return { id, text, pepperId, hash: keyedHash(key, HASHES[kind], text) }
}

/** What is stored of a secret, if it is right. */
async function openedBy<Row extends Hashed>(
  { database, keyring, mode, real }: SignInContext,
  secret: {
    readonly text: string
    readonly kind: Kind
    readonly find: (db: Executor, id: string, at: Instant) => Promise<Row | undefined>
  },
): Promise<Row | undefined> {
  const { text, kind, find } = secret
  const parsed = parseSecret(text)
  const id = parsed?.kind === kind && parsed.mode === mode ? decodeUuid(parsed.id) : undefined
  const row = id && (await find(database, id, real()))
  const pepper = row && keyring.pepper(row.pepperId)
  return pepper && sameHash(keyedHash(pepper, HASHES[kind], text), row.hash) ? row : undefined
}
