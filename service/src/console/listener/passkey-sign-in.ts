import type { FastifyInstance } from 'fastify'
import { formIn, queryIn } from '../../http/form.ts'
import { describeCause } from '../../log.ts'
import { noPasskeysFor, optionsToSignIn, signInWithPasskey } from '../operators/passkeys.ts'
import { ownPath } from '../operators/provider-flow.ts'
import { openSession } from '../operators/sign-in.ts'
import { record } from '../screen/record.ts'
import { noPasskeyPage, passkeyRefused, signInWithPasskeyPage } from '../views/passkeys.ts'
import { type ConsoleServer, sendPlain } from './console-server.ts'
import { originOf, setCookie } from './guard.ts'

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
    return sendPlain(server, reply, { status: 200, page })
  })
  app.post(PATH, { config: { takes: 'application/x-www-form-urlencoded' } }, async (request, reply) => {
    const form = formIn(request.body)
    const to = ownPath(form.get('to'))
    const answer = form.get('answer') ?? ''
    // Sent without the script that asks for a passkey, so this is no refusal.
    if (answer === '') return sendPlain(server, reply, { status: 422, page: passkeyRefused('no script', to) })
    const action = 'sign in by passkey'
    const { operator, fault } = await signInWithPasskey(context, originOf(request.headers, address), answer)
    if (!operator || fault !== undefined) {
      const refused = { action, result: 'refused' }
      if (operator) await record({ context, operator, requestId: request.id, address: request.ip }, refused)
      else context.trail.noteRefusal({ partnerId: undefined, credentialId: '', address: request.ip })
      // The message may contain what was sent, so only class and place are logged.
      context.log('console_sign_in_failed', {
        requestid: request.id,
        reason: 'passkey',
        ...describeCause(fault),
      })
      return sendPlain(server, reply, { status: 403, page: passkeyRefused('refused', to) })
    }
    const secret = await openSession(context, operator)
    await record({ context, operator, requestId: request.id, address: request.ip }, { action })
    return reply
      .code(303)
      .header('Set-Cookie', setCookie('session', secret, address))
      .header('Location', to)
      .send()
  })
}
