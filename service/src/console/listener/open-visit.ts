import type { FastifyRequest } from 'fastify'
import { failureOf } from '../../db/failure.ts'
import { queryIn } from '../../http/form.ts'
import { isOwnForm, sessionOf } from '../operators/sign-in.ts'
import { touchOperatorSession } from '../operators/store.ts'
import { ConsoleRefusal, type Visit } from '../screen/screen.ts'
import type { ConsoleServer } from './console-server.ts'
import { readForm } from './form.ts'
import { originOf, readCookie } from './guard.ts'

const TOUCH_EVERY_MS = 60_000

/** Reads who asks, and what for, from a request to the screen of this path; `undefined` without a session. */
export async function openVisit(
  { context, address }: ConsoleServer,
  request: FastifyRequest,
  path?: string,
): Promise<Visit | undefined> {
  const secret = readCookie(request.headers, 'session', address)
  const session = secret === undefined ? undefined : await sessionOf(context, secret)
  if (!session) return undefined
  const now = context.real()
  // Screens name what the catalogue has; in the console's own process nothing else may have read it yet.
  await context.prepareTerms([])
  if (now - session.lastSeenAt >= TOUCH_EVERY_MS)
    await touchOperatorSession(context.database, session.sessionId, now).catch(passOverUnavailable)
  const query = queryIn(request.url)
  const sent = await readForm(request.body, request.headers['content-type'])
  refuseNul(query, sent.form)
  return {
    context,
    session,
    path,
    operator: session.operator,
    requestId: request.id,
    address: request.ip,
    origin: originOf(request.headers, address),
    params: request.params as Record<string, string>,
    query,
    ...sent,
  }
}

/** Refuses what PostgreSQL takes in no text, before a statement fails on it. */
function refuseNul(...sent: readonly URLSearchParams[]): void {
  if (sent.some(fields => [...fields.values()].some(value => value.includes('\0'))))
    throw new ConsoleRefusal(
      400,
      'Not read',
      'A field contains a character that nothing here contains. Go back and type it again.',
    )
}

/** Refuses a form that was made for another session, or by somebody who could not read its token. */
export async function checkForm({ context, session, form }: Visit, method: string): Promise<void> {
  if (method !== 'POST' || isOwnForm(context, session, form.get('token') ?? '')) return
  throw new ConsoleRefusal(
    403,
    'This form is too old',
    'It was made before you signed in. Go back, load the page again, and send it once more.',
  )
}

/**
 * A session whose use cannot be written ends early, which harms nobody; on a cluster writing it needs every node, and
 * operators look at the console while one is away.
 */
function passOverUnavailable(error: unknown): void {
  if (!failureOf(error).unavailable) throw error
}
