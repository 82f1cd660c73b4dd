import type { FastifyRequest } from 'fastify'
import { formIn, queryIn } from '../../http/form.ts'
import { hasRole } from '../../operators/operator.ts'
import { isOwnForm, sessionOf } from '../../operators/sign-in.ts'
import { readPartnerNames } from '../partners.ts'
import { ConsoleRefusal, type UploadedFile, type Visit } from '../screen/screen.ts'
import type { ConsoleServer } from './console-server.ts'
import { readCookie } from './guard.ts'

/** Reads who asks, and what for, from a request to the screen of this path; `undefined` without a session. */
export async function openVisit(
  { context, address }: ConsoleServer,
  request: FastifyRequest,
  path?: string,
): Promise<Visit | undefined> {
  const secret = readCookie(request.headers, 'session', address)
  const session = secret === undefined ? undefined : await sessionOf(context, secret)
  if (!session) return undefined
  // Screens name what the catalogue has; in the console's own process nothing else may have read it yet.
  await context.prepareTerms([])
  const query = queryIn(request.url)
  const sent = await readForm(request.body, request.headers['content-type'])
  refuseNul(query, sent.form)
  return {
    context,
    session,
    path,
    operator: session.operator,
    partnerNames: await readPartnerNames(context.database, session.operator),
    isSupport: hasRole(session.operator, 'support'),
    isAdmin: hasRole(session.operator, 'admin'),
    requestId: request.id,
    address: request.ip,
    params: request.params as Record<string, string>,
    query,
    ...sent,
  }
}

/** The content of a posted form. */
type SentForm = { readonly form: URLSearchParams; readonly files: readonly UploadedFile[] }

/**
 * Reads the body of a form, with the files of a `multipart/form-data` body; an empty file field counts as no file.
 * Rejects with a refusal when the body is malformed.
 */
async function readForm(body: unknown, contentType: string | undefined): Promise<SentForm> {
  if (!Buffer.isBuffer(body)) return { form: formIn(body), files: [] }
  const headers = { 'content-type': contentType ?? '' }
  const sent = await new Response(new Uint8Array(body), { headers }).formData().catch(() => {
    throw new ConsoleRefusal(400, 'Not read', 'The form did not arrive whole. Go back and send it again.')
  })
  const form = new URLSearchParams()
  const files: UploadedFile[] = []
  for (const [field, value] of sent) {
    if (typeof value === 'string') form.append(field, value)
    else if (value.name !== '')
      files.push({ field, name: value.name, content: Buffer.from(await value.arrayBuffer()) })
  }
  return { form, files }
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
export function checkForm({ session, form }: Visit, method: string): void {
  if (method !== 'POST' || isOwnForm(session, form.get('token') ?? '')) return
  throw new ConsoleRefusal(
    403,
    'This form is too old',
    'It was made before you signed in. Go back, load the page again, and send it once more.',
  )
}
