import { challenge, sendView } from '../answer-view.ts'
import type { LinkEndedView } from '../views/model.ts'
import { endedView } from './anonymous.ts'
import { areBirthdateAttemptsSpent } from './birthdate-attempts.ts'
import { credentialOf } from './credentials.ts'
import type { Exchange, PageContext } from './page-context.ts'
import { endOf, findActive, findOwn, isUnknownHandle } from './session.ts'
import type { PageSessionRow } from './store.ts'
import { openVisit, type Visit } from './visit.ts'

/** The visit of a request; `undefined` when there is none, after an answer that says why. */
export async function visitOf(exchange: Exchange): Promise<Visit | undefined> {
  const { context, reply } = exchange
  const { request } = reply
  const { shell, handle } = credentialOf(request.headers, context)
  const own = await findOwn(context, handle)
  if (!own && handle !== undefined && (await isUnknownHandle(context, handle))) context.refuseUnknown(request)
  const active = own && (await findActive(context, own))
  const files = await exchange.files()
  const visit = active && (await openVisit(context, active, { shell, files, requestId: request.id }))
  if (visit) {
    request.partnerId = visit.partner.partnerId
    return visit
  }
  const kind = own ? await endFor(context, own.session) : 'closed'
  await sendView(reply.headers(challenge), await endedView(exchange, { shell, kind, own }), 401)
  return undefined
}

/** How a session has ended; after too many wrong birth dates, whether another link would open. */
async function endFor(context: PageContext, row: PageSessionRow): Promise<LinkEndedView['kind']> {
  const end = endOf(row)
  if (end !== 'challenge') return end
  const isSpent = await areBirthdateAttemptsSpent(context.database, row, context.clock.real())
  return isSpent ? 'challengelimit' : end
}
