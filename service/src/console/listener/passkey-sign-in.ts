import type { FastifyInstance } from 'fastify'
import { formIn, queryIn } from '../../http/form.ts'
import { describeCause } from '../../log.ts'
import { noPasskeysFor, optionsToSignIn, signInWithPasskey } from '../../operators/passkeys.ts'
import { ownPath } from '../../operators/provider-flow.ts'
import { record } from '../screen/record.ts'
import { noPasskeyPage, passkeyRefused, signInWithPasskeyPage } from '../views/passkeys.ts'
import { type ConsoleServer, noteRefused, sendPage, signIn, signingIn, takesForm } from './console-server.ts'
import { originOf } from './guard.ts'

const PATH = '/sign-in/passkey'

/** Mounts signing in with a passkey: a page that asks for it, and the route that checks the answer. */
export function mountPasskeySignIn(app: FastifyInstance, server: ConsoleServer): void {
  const { context, address } = server
  app.get(PATH, async (request, reply) => {
    const origin = originOf(request.headers, address)
    const query = queryIn(request.url)
    const page =
      noPasskeysFor(origin) === undefined
        ? signInWithPasskeyPage(optionsToSignIn(context, origin), ownPath(query.get('to')))
        : noPasskeyPage(origin, address.port)
    return sendPage(server, reply, page)
  })
  app.post(PATH, takesForm, async (request, reply) => {
    const form = formIn(request.body)
    const to = ownPath(form.get('to'))
    const answer = form.get('answer') ?? ''
    // Sent without the script that asks for a passkey, so this is no refusal.
    if (answer === '') return sendPage(server, reply, passkeyRefused('no script', to))
    const action = 'sign in by passkey'
    const { operator, fault } = await signInWithPasskey(context, originOf(request.headers, address), answer)
    if (operator && fault === undefined) return signIn(server, reply, { operator, action, to })
    if (operator) await record(signingIn(context, request, operator), { action, result: 'refused' })
    else noteRefused(server, request)
    // The message may contain what was sent, so only class and place are logged.
    context.log('console_sign_in_failed', {
      requestid: request.id,
      reason: 'passkey',
      ...describeCause(fault),
    })
    return sendPage(server, reply, passkeyRefused('refused', to))
  })
}
