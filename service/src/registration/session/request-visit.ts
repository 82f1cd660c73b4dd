import type { FastifyReply } from 'fastify'
import { localeOf } from '../../http/locale.ts'
import { challenge, sendView } from '../answer-view.ts'
import type { LinkEndedView } from '../views/model.ts'
import { endedView } from './anonymous.ts'
import { areBirthdateAttemptsSpent } from './birthdate-attempts.ts'
import { credentialOf } from './credentials.ts'
import type { PageContext, PageRoutes } from './page-context.ts'
import {
  type ActiveSession,
  endOf,
  findActive,
  findOwn,
  isUnknownHandle,
  sessionNameOf,
  wayBackFrom,
} from './session.ts'
import type { PageSessionRow } from './store.ts'
import { openVisit, type Visit } from './visit.ts'

/** The visit of a request, or an answer that says why there is none. */
export async function visitOf(
  routes: PageRoutes,
  reply: FastifyReply,
): Promise<{ visit: Visit; active: ActiveSession } | { answered: FastifyReply }> {
  const { context } = routes
  const { request } = reply
  const { shell, handle } = credentialOf(request.headers, context)
  const active = await findActive(context, handle)
  if (!active && handle !== undefined && (await isUnknownHandle(context, handle)))
    context.refuseUnknown(request)
  const visit =
    active &&
    (await openVisit(context, active, { shell, files: await routes.files(), requestId: request.id }))
  if (active && visit) {
    request.partnerId = active.partner.partnerId
    return { visit, active }
  }
  const own = active ?? (await findOwn(context, handle))
  const locale = own?.row.locale ?? localeOf(request.headers['accept-language'])
  const kind = own ? await endFor(context, own.row) : 'closed'
  const ended = { kind, ...wayBackFrom(own) }
  const view = await endedView(routes, { shell, locale, partner: own?.partner }, ended)
  return { answered: await sendView(reply.headers(challenge), view, 401) }
}

/** How a session has ended; after too many wrong birth dates, whether another link would open. */
async function endFor(context: PageContext, row: PageSessionRow): Promise<LinkEndedView['kind']> {
  const end = endOf(row)
  if (end !== 'challenge') return end
  const { partnerId } = sessionNameOf(row)
  const isSpent = await areBirthdateAttemptsSpent(
    context.database,
    { partnerId, userid: row.userid },
    context.clock.real(),
  )
  return isSpent ? 'challengelimit' : end
}
