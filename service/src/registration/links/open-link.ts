import type { Locale } from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { formIn } from '../../http/form.ts'
import { localeNamed, localeOf } from '../../http/locale.ts'
import { sendView } from '../answer-view.ts'
import { anonymousPage, endedView } from '../session/anonymous.ts'
import { readCookie, setCookie } from '../session/credentials.ts'
import { parseDeepLink } from '../session/deep-link.ts'
import type { PageContext, PageRoutes } from '../session/page-context.ts'
import {
  findLink,
  isEndedByDueCancel,
  isFresh,
  type Link,
  newOpener,
  noteEnded,
  spendLink,
} from '../session/session.ts'
import { beginRegistration, rootOf } from '../session/visit.ts'
import type { OpenView } from '../views/model.ts'

/** Mounts the page behind a link: fetching it does not use up the token, pressing its one button does. */
export function mountLinks(scope: FastifyInstance, routes: PageRoutes): void {
  const address = `${rootOf(routes.context)}/link/:linktoken`
  scope.get(address, { config: { opensFromElsewhere: true } }, (_, reply) => showLink(routes, reply))
  scope.post(address, { config: { takes: 'application/x-www-form-urlencoded' } }, (_, reply) =>
    pressLink(routes, reply),
  )
}

/**
 * The address of the link that a failed request was about; `undefined` for another request, and when the link has just
 * begun a session, which the page's root continues.
 */
export function linkAgain(context: PageContext, reply: FastifyReply): string | undefined {
  const { linktoken } = (reply.request.params ?? {}) as { linktoken?: string }
  const hasBegun = reply.request.method === 'POST' && reply.hasHeader('Set-Cookie')
  return linktoken === undefined || hasBegun ? undefined : linkAddress(context, linktoken)
}

function linkAddress(context: PageContext, linktoken: string): string {
  return `${rootOf(context)}/link/${encodeURIComponent(linktoken)}`
}

async function showLink(routes: PageRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = routes
  const link = await hostedLink(routes, reply.request)
  if (!link || !isFresh(link, context.clock.real())) return ended(routes, reply, link)
  if (await isEndedByDueCancel(context, link)) return ended(routes, reply, link)
  if (!readCookie(reply.request.headers, 'opener', context))
    reply.header('Set-Cookie', setCookie('opener', newOpener(), context))
  return sendOpen(routes, reply, { link, locale: link.row.locale })
}

async function pressLink(routes: PageRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = routes
  const { request } = reply
  const form = formIn(request.body)
  const link = await hostedLink(routes, request)
  if (!link) return ended(routes, reply)
  // A form with `language` asks for a language only, whatever else it contains; the button was not pressed.
  if (form.has('language')) {
    if (!isFresh(link, context.clock.real())) return ended(routes, reply, link)
    return sendOpen(routes, reply, { link, locale: localeNamed(form.get('language')) ?? link.row.locale })
  }
  const opener = readCookie(request.headers, 'opener', context) ?? newOpener()
  const input = { opener, locale: localeNamed(form.get('locale')) ?? null, withResult: false, request }
  const opened = await spendLink(context, link, input)
  if (!opened) return ended(routes, reply, link)
  // The cookie is set before anything else can fail, because the token is used up and cannot open the page again.
  reply.header('Set-Cookie', setCookie('session', opened.handle, context))
  const begun = await beginRegistration(context, { ...link, isOver: false }, request.id)
  if (!begun) return ended(routes, reply)
  return reply.code(303).header('Location', rootOf(context)).send()
}

/** The link that the address names, unless it is an embed link. */
async function hostedLink(routes: PageRoutes, request: FastifyRequest): Promise<Link | undefined> {
  const { linktoken } = request.params as { linktoken: string }
  const link = await findLink(routes.context, linktoken)
  if (!link) routes.context.refuseUnknown(request)
  if (link) request.partnerId = link.partner.partnerId
  return link?.row.delivery === 'embed' ? undefined : link
}

async function sendOpen(
  routes: PageRoutes,
  reply: FastifyReply,
  { link, locale }: { link: Link; locale: Locale },
): Promise<FastifyReply> {
  const page = await anonymousPage(routes, { shell: 'hosted', locale, partner: link.partner })
  const isSwap = parseDeepLink(link.row.deeplinkdata ?? '')?.redirectto === 'swap'
  const purpose = isSwap ? 'swap' : link.row.purpose
  const view: OpenView = { view: 'OPEN', page, action: linkAddress(routes.context, link.token), purpose }
  return sendView(reply, view)
}

/** Used, expired, revoked and unknown links look alike: nothing shown here depends on which it is. */
async function ended(routes: PageRoutes, reply: FastifyReply, link?: Link): Promise<FastifyReply> {
  if (link) await noteEnded(routes.context, link)
  const locale = localeOf(reply.request.headers['accept-language'])
  const view = await endedView(routes, { shell: 'hosted', locale }, { kind: 'link' })
  return sendView(reply, view, 410)
}
