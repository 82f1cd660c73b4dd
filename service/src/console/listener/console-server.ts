import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieHeader, cookieIn } from '../../http/cookies.ts'
import { formIn, queryIn } from '../../http/form.ts'
import { hasRight, type Operator, type Right } from '../../operators/operator.ts'
import type { Provider } from '../../operators/provider.ts'
import { isOwnForm, openSession, sessionOf } from '../../operators/sign-in.ts'
import type { ConsoleContext } from '../console-context.ts'
import { readOwnPartners, seenPartners } from '../partners.ts'
import { countWaiting } from '../requests/store.ts'
import type { ConsoleFiles } from '../screen/console-files.ts'
import { record } from '../screen/record.ts'
import { type ConsolePage, ConsoleRefusal, type OperatorVisit } from '../screen/screen.ts'
import { consoleDocument, plainDocument } from '../views/layout.ts'

/** The context for every answer of the console. */
export type ConsoleServer = {
  readonly context: ConsoleContext
  readonly address: ConsoleAddress
  readonly files: ConsoleFiles
  /** The OpenID Connect provider at which operators sign in; absent: they use only links. */
  readonly provider: Provider | undefined
  /** The files that are being sent; those that are read page by page. */
  readonly sending: Set<Readable>
}

/** What Fastify knows of an address that takes a form. */
export const takesForm = { config: { takes: 'application/x-www-form-urlencoded' } } as const

/** Sends a page: without navigation to somebody who is not signed in. */
export function sendPage(
  { files }: ConsoleServer,
  reply: FastifyReply,
  page: ConsolePage,
  visit?: OperatorVisit,
): FastifyReply {
  const document = visit ? consoleDocument(visit, files, page) : plainDocument(files, page)
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(document)
}

/** Signs an operator in who has proved their identity, on record, and leads to a page of the console. */
export async function signIn(
  { context, address }: ConsoleServer,
  reply: FastifyReply,
  { operator, action, to }: { operator: Signing; action: string; to: string },
): Promise<FastifyReply> {
  const secret = await openSession(context, operator)
  await record(signingIn(context, reply.request, operator), { action })
  return reply
    .code(303)
    .header('Set-Cookie', setCookie('session', secret, address))
    .header('Location', to)
    .send()
}

type Signing = Pick<Operator, 'operatorId'>

/** A request as the audit log needs it of an operator who has no session yet. */
export function signingIn(context: ConsoleContext, request: FastifyRequest, operator: Signing) {
  return { context, operator, requestId: request.id, address: request.ip }
}

/** Counts a sign-in of somebody who is no operator. */
export function noteRefused({ context }: ConsoleServer, request: FastifyRequest): void {
  context.trail.noteRefusal({ partnerId: undefined, credentialId: '', address: request.ip })
}

/** The address of the console, as needed for its cookies and its checks of Host and Origin. */
export type ConsoleAddress = {
  /** `https://console.example.com`, or `undefined` on loopback. */
  readonly consoleUrl: string | undefined
  /** The port it listens on. */
  readonly port: number
}

/**
 * Whether the Host of a request is one of the console's own: that of its base URL, or loopback with its port. Another
 * name that points to this machine is refused, so that no page of another site reaches the console through a browser
 * (DNS rebinding).
 */
export function isOwnHost(host: string | undefined, { consoleUrl, port }: ConsoleAddress): boolean {
  if (host === undefined) return false
  if (consoleUrl !== undefined) return host.toLowerCase() === new URL(consoleUrl).host
  const [, name = '', given = '80'] = /^(.*?)(?::(\d+))?$/.exec(host) ?? []
  // Whole addresses only: `127.example.com` begins like one, and is a name that anybody may own.
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(name)
  return isLoopback && given === String(port)
}

/** The address of the console on this machine, where no other is set for operators. */
export function ownUrlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Whether a page of the console sent the form: browsers send the page's origin with every POST. */
export function isOwnOrigin(headers: IncomingHttpHeaders, address: ConsoleAddress): boolean {
  const site = headers['sec-fetch-site']
  return headers.origin === originOf(headers, address) && (site === undefined || site === 'same-origin')
}

/** Whether browsers reach the console over TLS. */
export function isSecure({ consoleUrl }: ConsoleAddress): boolean {
  return consoleUrl?.startsWith('https:') ?? false
}

/** The console's own address in the request's browser, from a Host that has been checked. */
export function originOf(headers: IncomingHttpHeaders, address: ConsoleAddress): string {
  return `${isSecure(address) ? 'https' : 'http'}://${headers.host ?? ''}`
}

/** The cookies of the console: the session, or a sign-in at the identity provider. */
type CookieKind = 'session' | 'flow'

/** The content of a cookie of the console. */
export function readCookie(
  headers: IncomingHttpHeaders,
  kind: CookieKind,
  address: ConsoleAddress,
): string | undefined {
  return cookieIn(headers, cookieName(address, kind))
}

/**
 * The header that gives a browser a cookie of the console, for `seconds` or until the browser is closed; without a text
 * it deletes the cookie.
 */
export function setCookie(
  kind: CookieKind,
  text: string | undefined,
  address: ConsoleAddress,
  seconds?: number,
): string {
  return cookieHeader(cookieName(address, kind), text, { isSecure: isSecure(address), seconds })
}

function cookieName(address: ConsoleAddress, kind: CookieKind): string {
  const name = kind === 'session' ? 'enrolment-console' : 'enrolment-console-flow'
  return isSecure(address) ? `__Host-${name}` : name
}

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
  const may = (right: Right) => hasRight(session.operator, right)
  return {
    context,
    session,
    path,
    operator: session.operator,
    ...own,
    waiting: may('support')
      ? await countWaiting(context, session.operator, seenPartners({ ...own, operator: session.operator }))
      : 0,
    may,
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
