import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noPartner } from '../../audit/entries.ts'
import { queryIn } from '../../http/form.ts'
import { html } from '../../http/html.ts'
import { describeCause } from '../../log.ts'
import type { Operator } from '../../operators/operator.ts'
import { type Provider, ProviderError, type ProviderFailure } from '../../operators/provider.ts'
import { afterSignIn, beginFlow, endFlow, FLOW_LIFETIME_MS } from '../../operators/provider-flow.ts'
import { admit } from '../../operators/provider-sign-in.ts'
import { linkOf } from '../../operators/sign-in.ts'
import { spendLink } from '../../operators/store.ts'
import { record } from '../screen/record.ts'
import type { ConsolePage } from '../screen/screen.ts'
import {
  type ConsoleServer,
  noteRefused,
  originOf,
  readCookie,
  sendPage,
  setCookie,
  signIn,
  signingIn,
  takesForm,
} from './console-server.ts'

/** Mounts signing in by a single-use link: opening it shows a button, and pressing the button uses it up. */
export function mountSignIn(app: FastifyInstance, server: ConsoleServer): void {
  const { context } = server
  const path = '/sign-in/:token'
  app.get(path, async (request, reply) => {
    const link = await linkOf(context, (request.params as { token: string }).token)
    // Programs that fetch addresses in advance, such as mail scanners, use up nothing.
    return sendPage(server, reply, link ? signInWithLink(link.operator) : linkEnded())
  })
  app.post(path, takesForm, async (request, reply) => {
    const link = await linkOf(context, (request.params as { token: string }).token)
    if (link && (await spendLink(context.database, link.linkId, context.real())))
      return signIn(server, reply, { operator: link.operator, action: 'sign in', to: '/' })
    noteRefused(server, request)
    return sendPage(server, reply, linkEnded())
  })
}

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

/** The page behind a valid sign-in link. */
export function signInWithLink({ name, role }: Operator): ConsolePage {
  return {
    title: 'Sign in',
    body: html`<p>This link signs you in as <strong>${name}</strong> (${role}), once.</p>
<form method="post"><button class="primary">Sign in</button></form>
<p class="hint">You stay signed in for 8 hours. What you look at and do is put on record.</p>`,
  }
}

/** The page behind a sign-in link that no longer works; its words are the same for every reason. */
export function linkEnded(): ConsolePage {
  return {
    title: 'This link has ended',
    status: 410,
    body: html`<p>A sign-in link works once, for 24 hours, until a newer one is made.</p>
<p>Whoever runs the service makes a new one:</p>
<pre><code>enrolment operator link NAME</code></pre>`,
  }
}

/** The identity provider at which operators sign in, with the path that leads there. */
export type WayIn = { readonly name: string; readonly path: string }

/** The page at every address for somebody without a session. */
export function signedOut(wasSignedIn: boolean, provider: WayIn | undefined): ConsolePage {
  return {
    title: wasSignedIn ? 'You are signed out' : 'Sign in',
    body: html`${!wasSignedIn && html`<p>You are not signed in, or your 8 hours are over.</p>`}
${provider && html`<p><a class="button" href="${provider.path}">Sign in at ${provider.name}</a></p>`}
<p>${
      provider ? 'If you have a sign-in link, open that instead.' : 'Open your sign-in link.'
    } Whoever runs the service makes a new one:</p>
<pre><code>enrolment operator link NAME</code></pre>`,
  }
}

/** The page for a session that has ended here, on the way to ending the provider's session too. */
export function signingOutOf(name: string, address: string): ConsolePage {
  return {
    title: 'You are signed out here',
    body: html`<p>Next you are signed out at ${name}. If nothing happens:
<a href="${address}">sign out at ${name}</a>.</p>`,
  }
}

/** Why the provider, or the service, signs nobody in. */
type Failure = ProviderFailure | 'ended' | 'no role' | 'disabled'

/** Why the sign-in at the identity provider failed, and what helps. */
export function notSignedIn(why: Failure, name: string): ConsolePage {
  const [status, words] = reasonsAt(name)[why]
  return {
    title: 'You are not signed in',
    status,
    body: html`<p>${words}</p>
${why !== 'disabled' && html`<p><a class="button" href="/sign-in/provider">Try again</a></p>`}`,
  }
}

function reasonsAt(name: string): Readonly<Record<Failure, readonly [status: number, words: string]>> {
  return {
    ended: [400, 'This sign-in was begun in another browser, or more than 10 minutes ago. Begin again.'],
    used: [400, 'This sign-in was used before, or took too long. Begin again.'],
    declined: [403, `${name} did not sign you in, or you broke it off there.`],
    away: [503, `${name} does not answer. Try again in some minutes; who has a sign-in link can use that.`],
    clocks: [
      502,
      `The clock of ${name} and that of this service differ. Whoever runs the service has to set one right.`,
    ],
    wrong: [
      502,
      `The answer of ${name} was not what it should be, so it was not believed. If it happens twice, tell whoever runs the service: the log says why.`,
    ],
    'no role': [
      403,
      `You are signed in at ${name}, but none of your groups there has a role here. Whoever looks after the groups can add you; then try again.`,
    ],
    disabled: [403, 'Your access to the console was ended. Whoever runs the service can give it back.'],
  }
}
