import type { FastifyRequest } from 'fastify'
import { formIn, queryIn } from '../../http/form.ts'
import { hasRole } from '../../operators/operator.ts'
import { isOwnForm, sessionOf } from '../../operators/sign-in.ts'
import { readOwnPartners } from '../partners.ts'
import { countWaiting } from '../requests/store.ts'
import { ConsoleRefusal, type OperatorVisit } from '../screen/screen.ts'
import type { ConsoleServer } from './console-server.ts'
import { readCookie } from './guard.ts'

/** Reads who asks, and what for, from a request to the screen of this path; `undefined` without a session. */
export async function openVisit(
  { context, address }: ConsoleServer,
  request: FastifyRequest,
  path?: string,
): Promise<OperatorVisit | undefined> {
  const secret = readCookie(request.headers, 'session', address)
  const session = secret === undefined ? undefined : await sessionOf(context, secret)
  if (!session) return undefined
  // Screens name what the catalogue has; in the console's own process nothing else may have read it yet.
  await context.prepareTerms([])
  const query = queryIn(request.url)
  const form = formIn(request.body)
  refuseNul(query, form)
  const own = await readOwnPartners(context.database, session.operator)
  const isSupport = hasRole(session.operator, 'support')
  return {
    context,
    session,
    path,
    operator: session.operator,
    ...own,
    waiting: isSupport ? await countWaiting(context, session.operator, [...own.partnerNames.keys()]) : 0,
    isSupport,
    isAdmin: hasRole(session.operator, 'admin'),
    requestId: request.id,
    address: request.ip,
    params: request.params as Record<string, string>,
    query,
    form,
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
export function checkForm({ session, form }: OperatorVisit, method: string): void {
  if (method !== 'POST' || isOwnForm(session, form.get('token') ?? '')) return
  throw new ConsoleRefusal(
    403,
    'This form is too old',
    'It was made before you signed in. Go back, load the page again, and send it once more.',
  )
}
