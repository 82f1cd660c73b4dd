import type { FastifyInstance } from 'fastify'
import { linkOf } from '../../operators/sign-in.ts'
import { spendLink } from '../../operators/store.ts'
import { linkEnded, signInWithLink } from '../views/sign-in.ts'
import { type ConsoleServer, noteRefused, sendPage, signIn, takesForm } from './console-server.ts'

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
