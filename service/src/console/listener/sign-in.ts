import type { FastifyInstance } from 'fastify'
import { linkOf, openSessionBy } from '../operators/sign-in.ts'
import { record } from '../screen/record.ts'
import { linkEnded, signInWithLink } from '../views/sign-in.ts'
import { type ConsoleServer, sendPlain } from './console-server.ts'
import { setCookie } from './guard.ts'

/** Mounts signing in by a single-use link: opening it shows a button, and pressing the button uses it up. */
export function mountSignIn(app: FastifyInstance, server: ConsoleServer): void {
  const { context, address } = server
  const path = '/sign-in/:token'
  app.get(path, async (request, reply) => {
    const link = await linkOf(context, (request.params as { token: string }).token)
    // Programs that fetch addresses in advance, such as mail scanners, use up nothing.
    return sendPlain(
      server,
      reply,
      link ? { status: 200, page: signInWithLink(link.operator) } : { status: 410, page: linkEnded() },
    )
  })
  app.post(path, { config: { takes: 'application/x-www-form-urlencoded' } }, async (request, reply) => {
    const link = await linkOf(context, (request.params as { token: string }).token)
    const secret = link && (await openSessionBy(context, link))
    if (!link || !secret) {
      context.trail.noteRefusal({ partnerId: undefined, credentialId: '', address: request.ip })
      return sendPlain(server, reply, { status: 410, page: linkEnded() })
    }
    await record(
      { context, operator: link.operator, requestId: request.id, address: request.ip },
      { action: 'sign in' },
    )
    return reply
      .code(303)
      .header('Set-Cookie', setCookie('session', secret, address))
      .header('Location', '/')
      .send()
  })
}
