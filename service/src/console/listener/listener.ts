import { Readable } from 'node:stream'
import { type ErrorCode, errors } from '@benefit-enrolment/contract/names'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { failureOf, Unavailable } from '../../db/failure.ts'
import { sendBuiltFile } from '../../http/built-files.ts'
import { isClientGone } from '../../http/client-gone.ts'
import { html } from '../../http/html.ts'
import { describeCause } from '../../log.ts'
import { hasRight, roleWith } from '../../operators/operator.ts'
import { afterSignIn } from '../../operators/provider-flow.ts'
import { endOperatorSession } from '../../operators/store.ts'
import { isQuiet } from '../../quiet.ts'
import type { ConsoleFiles } from '../screen/console-files.ts'
import { record } from '../screen/record.ts'
import { type Answer, ConsoleRefusal, type OperatorVisit, type Screen } from '../screen/screen.ts'
import { screens } from '../screens.ts'
import {
  type ConsoleServer,
  checkForm,
  isOwnHost,
  isOwnOrigin,
  openVisit,
  originOf,
  sendPage,
  setCookie,
  takesForm,
} from './console-server.ts'
import { mountProviderSignIn, mountSignIn, signedOut, signingOutOf, type WayIn } from './sign-in.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Mounts every address of the console behind its guards: those that need a session, and those of signing in. */
export function mountConsole(app: FastifyInstance, server: ConsoleServer): void {
  mountGuards(app, server)
  mountFiles(app, server.files)
  mountSignIn(app, server)
  mountProviderSignIn(app, server)
  for (const screen of screens) mountScreen(app, server, screen)
  mountRest(app, server)
}

/** First of all: sets the security headers, and checks the Host and the origin of forms. */
function mountGuards(app: FastifyInstance, server: ConsoleServer): void {
  app.addHook('onRequest', async (request, reply) => {
    setHeaders(reply)
    if (!isOwnHost(request.headers.host, server.address))
      throw new ConsoleRefusal(421, 'Wrong address', 'The console is not reached by this name.')
    if (request.method === 'POST' && !isOwnOrigin(request.headers, server.address))
      throw new ConsoleRefusal(403, 'Sent from elsewhere', 'This form was not sent by a page of the console.')
  })
  app.addHook('preClose', async () => {
    for (const stream of server.sending) stream.destroy(new ConsoleCloses('the console closes'))
  })
  app.setErrorHandler((error, _, reply) => sendFailure(server, error, reply))
}

function setHeaders(reply: FastifyReply): void {
  reply
    .header('Content-Security-Policy', policy)
    .header('Cross-Origin-Resource-Policy', 'same-origin')
    .header('Cache-Control', 'no-store')
    .header('Referrer-Policy', 'same-origin')
}

function mountFiles(app: FastifyInstance, files: ConsoleFiles): void {
  for (const [address, file] of files.served)
    app.get(address, async (request, reply) => sendBuiltFile(request, reply, { file, cache: 'private' }))
}

function mountScreen(app: FastifyInstance, server: ConsoleServer, screen: Screen): void {
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const visit = await openVisit(server, request, screen.path)
    if (!visit) return sendSignIn(server, reply)
    checkForm(visit, request.method)
    // Signing in leads to the first page, and that of a developer is another one.
    if (screen.path === '/' && !visit.may('look'))
      return reply.code(303).header('Location', '/integration').send()
    await checkRight(visit, screen)
    if (screen.changes && (await isQuiet(server.context.database)))
      throw new ConsoleRefusal(503, 'Nothing can be changed now', 'This copy is quiet. You can still look.')
    return sendAnswer(server, reply, { visit, answer: await screen.answer(visit) })
  }
  if (screen.method === 'GET') app.get(screen.path, handle)
  else app.post(screen.path, takesForm, handle)
}

/** Refuses a screen to roles without its right, and records the refusal. */
async function checkRight(visit: OperatorVisit, screen: Screen): Promise<void> {
  if (hasRight(visit.operator, screen.right)) return
  await record(visit, { action: `${screen.method} ${screen.path}`, result: 'refused' })
  throw new ConsoleRefusal(
    403,
    'Not for your role',
    `This needs the role ${roleWith(screen.right)}, and yours is ${visit.operator.role}. Whoever runs the service gives roles.`,
  )
}

/** Sign-out, and a page for addresses that do not exist. */
function mountRest(app: FastifyInstance, server: ConsoleServer): void {
  const { context, address, provider } = server
  app.post('/sign-out', takesForm, async (request, reply) => {
    const visit = await openVisit(server, request)
    if (visit) {
      checkForm(visit, 'POST')
      await endOperatorSession(context.database, visit.session.sessionId, context.real())
      await record(visit, { action: 'sign out' })
    }
    reply.header('Set-Cookie', setCookie('session', undefined, address))
    const isTheirs = provider !== undefined && visit?.operator.issuer === provider.settings.issuer
    const there = isTheirs
      ? await provider.endSession(`${originOf(request.headers, address)}/signed-out`)
      : undefined
    if (!provider || there === undefined) return sendPage(server, reply, signedOut(true, wayIn(server, '/')))
    // By a header, because the content security policy lets no form lead to another site, not even by a redirect.
    reply.header('Refresh', `0; url=${there}`)
    return sendPage(server, reply, signingOutOf(provider.settings.name, there))
  })
  app.get('/signed-out', async (_request, reply) =>
    sendPage(server, reply, signedOut(true, wayIn(server, '/'))),
  )
  app.get('/*', async (request, reply) => {
    const visit = await openVisit(server, request)
    if (!visit) return sendSignIn(server, reply)
    throw new ConsoleRefusal(404, 'Not found', 'The console has no page of this address.')
  })
}

async function sendAnswer(
  server: ConsoleServer,
  reply: FastifyReply,
  { visit, answer }: { visit: OperatorVisit; answer: Answer },
): Promise<FastifyReply> {
  if ('to' in answer) return reply.code(303).header('Location', answer.to).send()
  if ('file' in answer) {
    reply.type(answer.type).header('Content-Disposition', `attachment; filename="${answer.file}"`)
    return reply.send(
      typeof answer.content === 'string' ? answer.content : fileStream(server, reply, answer.content),
    )
  }
  return sendPage(server, reply, answer, visit)
}

/**
 * A file that is read while it is sent, and no faster than the browser takes it. A failure breaks the transfer off, so
 * that nobody takes a part for the whole.
 */
function fileStream(
  { context, sending }: ConsoleServer,
  { request }: FastifyReply,
  content: AsyncIterable<string>,
) {
  const stream = Readable.from(content, { highWaterMark: 1 })
  sending.add(stream)
  return stream
    .once('close', () => sending.delete(stream))
    .once('error', error => {
      if (!(error instanceof ConsoleCloses))
        context.log('failure', { requestid: request.id, ...describeCause(error) })
    })
}

/** The console closes: the rest of a file is not sent. */
class ConsoleCloses extends Error {
  override name = 'ConsoleCloses'
}

function sendSignIn(server: ConsoleServer, reply: FastifyReply): FastifyReply {
  const { request } = reply
  // After signing in the requested page is shown; a form must be sent again by hand.
  const to = request.method === 'POST' ? '/' : afterSignIn(request.url)
  return sendPage(server, reply, { ...signedOut(false, wayIn(server, to)), status: 401 })
}

function wayIn({ provider }: ConsoleServer, to: string): WayIn | undefined {
  const query = to === '/' ? '' : `?${new URLSearchParams({ to }).toString()}`
  return provider && { name: provider.settings.name, path: `/sign-in/provider${query}` }
}

/** The explanation of a refused request for the operator; `undefined`: the error is a fault of the service. */
function refusalOf(error: unknown, request: FastifyRequest): ConsoleRefusal | undefined {
  if (error instanceof ConsoleRefusal) return error
  if (isClientGone(error, request))
    return new ConsoleRefusal(408, 'Not read', 'The request did not arrive whole.')
  const { code = '', message } = error as { code?: string; message: string }
  if (code === 'body_too_large')
    return new ConsoleRefusal(413, 'Too large', 'Send less at once, or use the command.')
  if (code === 'unsupported_media_type')
    return new ConsoleRefusal(
      415,
      'Not read',
      'This is no form of the console. Load the page and send its form.',
    )
  // What the server refuses before the console sees it, such as two Host headers.
  const status = isErrorCode(code) ? errors[code].status : 500
  return status < 500 ? new ConsoleRefusal(status, 'Not read', message) : undefined
}

/** What the operator is told when the service could not answer; the log has the rest. */
function faultOf(error: unknown, { id }: FastifyRequest) {
  const more = `the log has more under request ${id}.`
  const fault = error instanceof Unavailable ? (error.cause ?? error) : error
  if (!failureOf(fault).unavailable)
    return {
      status: 500,
      heading: 'Something went wrong',
      message: `Try again. If it happens twice, ${more}`,
    }
  const message = `Try again in a minute. If it stays so, ${more}`
  return { status: 503, heading: 'The database does not answer', message }
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errors, code)
}

async function sendFailure(
  server: ConsoleServer,
  error: unknown,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { request } = reply
  const refusal = refusalOf(error, request)
  setHeaders(reply)
  if (!refusal) server.context.log('failure', { requestid: request.id, ...describeCause(error) })
  const { heading, message, status } = refusal ?? faultOf(error, request)
  const visit = await openVisit(server, request).catch(() => undefined)
  return sendPage(server, reply, { title: heading, status, body: html`<p>${message}</p>` }, visit)
}
