import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noPartner } from '../../audit/entries.ts'
import { queryIn } from '../../http/form.ts'
import { describeCause } from '../../log.ts'
import { type Provider, ProviderError } from '../../operators/provider.ts'
import { afterSignIn, beginFlow, endFlow, FLOW_LIFETIME_MS } from '../../operators/provider-flow.ts'
import { admit } from '../../operators/provider-sign-in.ts'
import { record } from '../screen/record.ts'
import { notSignedIn } from '../views/sign-in.ts'
import { type ConsoleServer, noteRefused, sendPage, signIn, signingIn } from './console-server.ts'
import { originOf, readCookie, setCookie } from './guard.ts'

const BACK = '/sign-in/provider/return'

/** Mounts signing in at the identity provider: the way there, and the way back. */
export function mountProviderSignIn(app: FastifyInstance, server: ConsoleServer): void {
  const { context, address, provider } = server
  if (!provider) return
  app.get('/sign-in/provider', async (request, reply) => {
    const query = queryIn(request.url)
    const { flow, cookie } = beginFlow(context.keyring, context.real(), afterSignIn(query.get('to')))
    try {
      const there = await provider.begin(flow, originOf(request.headers, address) + BACK)
      const header = setCookie('flow', cookie, address, FLOW_LIFETIME_MS / 1000)
      return reply.code(303).header('Set-Cookie', header).header('Location', there).send()
    } catch (error) {
      return sendFailure(server, error, reply)
    }
  })
  app.get(BACK, (_, reply) => comeBack(server, provider, reply))
}

async function comeBack(
  server: ConsoleServer,
  provider: Provider,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { request } = reply
  const { context, address } = server
  const came = new URL(request.url, originOf(request.headers, address))
  const cookie = readCookie(request.headers, 'flow', address)
  const flow = endFlow(context.keyring, context.real(), { cookie, state: came.searchParams.get('state') })
  reply.header('Set-Cookie', setCookie('flow', undefined, address))
  if (!flow) {
    noteRefused(server, request)
    return sendPage(server, reply, notSignedIn('ended', provider.settings.name))
  }
  try {
    const identity = await provider.complete(flow, came)
    const { operator, refused } = await admit(context, provider.settings, identity)
    const action = 'sign in by provider'
    if (refused === undefined) return await signIn(server, reply, { operator, action, to: flow.to })
    if (operator) await record(signingIn(context, request, operator), { action, result: 'refused' })
    else noteStranger(server, request)
    context.log('console_sign_in_failed', { requestid: request.id, reason: refused })
    return sendPage(server, reply, notSignedIn(refused, provider.settings.name))
  } catch (error) {
    if (error instanceof ProviderError) noteStranger(server, request)
    return sendFailure(server, error, reply)
  }
}

/** A person whom the provider or the groups did not admit, and who is no operator. */
function noteStranger({ context }: ConsoleServer, request: FastifyRequest): void {
  context.trail.note({
    partnerId: noPartner,
    actorKind: 'nobody',
    actor: '',
    action: 'sign in by provider',
    result: 'refused',
    requestId: request.id,
    address: request.ip,
  })
}

function sendFailure(server: ConsoleServer, error: unknown, reply: FastifyReply): FastifyReply {
  if (!(error instanceof ProviderError) || !server.provider) throw error
  // The cause's message and the address may contain a token or a name, so only class, code and place are logged.
  server.context.log('console_sign_in_failed', {
    requestid: reply.request.id,
    reason: error.failure,
    ...describeCause(error.cause),
  })
  return sendPage(server, reply, notSignedIn(error.failure, server.provider.settings.name))
}
