import type { Locale } from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { localeNamed, localeOf } from '../http/locale.ts'
import { ServiceError } from '../http/service-error.ts'
import { isUuid } from '../vault/uuid.ts'
import { challenge, sendView, setFrameHeaders, setPageHeaders } from './answer-view.ts'
import { anonymousPage, endedView, problemView } from './session/anonymous.ts'
import type { PageRoutes } from './session/page-context.ts'
import { checkSender, describeFailure } from './session/request-guard.ts'
import {
  findActive,
  findLink,
  isFresh,
  type Link,
  newOpener,
  noteEnded,
  noteShown,
  type Opened,
  spendLink,
} from './session/session.ts'
import { openVisit, type Visit } from './session/visit.ts'
import { changeAppearance } from './steps/appearance.ts'
import { isRedirect } from './steps/step.ts'
import { entryOf, stepAt } from './steps/steps.ts'
import type { View } from './views/model.ts'
import { renderPage } from './views/page.ts'

/** The body with which the frame exchanges a token; unknown members are ignored. */
type SessionRequest = { linktoken: string; origin: string; locale: Locale | undefined; appearance?: unknown }

/** Mounts the routes that the embed's frame needs besides the views: the frame itself, and the exchange of a token. */
export function mountEmbed(app: FastifyInstance, routes: PageRoutes): void {
  const { context } = routes
  void app.register(async scope => {
    scope.addHook('onRequest', async (request, reply) => {
      setPageHeaders(reply)
      checkSender(request, new URL(context.baseUrl()).origin)
    })
    scope.setErrorHandler((error, _, reply) => sendFailure(routes, error, reply))
    scope.get(`${context.basePath}/embed/frame`, { config: { opensFromElsewhere: true } }, (_, reply) =>
      sendFrame(routes, reply),
    )
    scope.post(`${context.basePath}/embed/session`, { config: { takes: 'application/json' } }, (_, reply) =>
      exchange(routes, reply),
    )
  })
}

/** The empty frame: it contains the origins that may embed it, and no personal data. */
async function sendFrame(routes: PageRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = routes
  const { partner: partnerId, locale } = reply.request.query as { partner?: unknown; locale?: unknown }
  const isId = typeof partnerId === 'string' && isUuid(partnerId)
  const found = isId ? await context.directory.partner(partnerId.toLowerCase()) : undefined
  const partner = found?.disabledAt === undefined ? found : undefined
  const origins = partner?.origins ?? []
  setFrameHeaders(reply, origins)
  const anonymous = { locale: localeNamed(locale) ?? partner?.locale ?? 'en', partner }
  const page = await anonymousPage(routes, { shell: 'frame', ...anonymous })
  const view: View = { view: 'FRAME', page, origins, sessionurl: `${context.basePath}/embed/session` }
  return sendView(reply, view)
}

/** Exchanges a link token for a session and its first view. */
async function exchange(routes: PageRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const { request } = reply
  const { context } = routes
  const asked = readRequest(request.body)
  const send = (status: number, body: object) =>
    reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body))
  const refuse = (body: object) => {
    reply.headers(challenge)
    return send(401, body)
  }
  const link = await findLink(context, asked.linktoken)
  if (!link) context.refuseUnknown(request)
  if (link?.row.delivery !== 'embed') return refuse(await ended(routes, asked, request))
  if (!isFresh(link, context.clock.real())) {
    await noteEnded(context, link)
    return refuse(await ended(routes, asked, request))
  }
  request.partnerId = link.partner.partnerId
  const { origin } = asked
  if (!link.row.origins.includes(origin) || !link.partner.origins.includes(origin))
    return send(403, { code: 'ORIGIN_NOT_ALLOWED' })
  const input = { opener: newOpener(), locale: asked.locale ?? null, withResult: true, request }
  const opened = await spendLink(context, link, input)
  if (!opened) return refuse(await ended(routes, asked, request))
  return send(200, await firstView(routes, { link, opened, asked, requestId: request.id }))
}

async function firstView(
  routes: PageRoutes,
  {
    link,
    opened,
    asked,
    requestId,
  }: { link: Link; opened: Opened; asked: SessionRequest; requestId: string },
): Promise<object> {
  const { context } = routes
  const active = await findActive(context, opened.handle)
  const visit =
    active && (await openVisit(context, active, { shell: 'frame', files: await routes.files(), requestId }))
  if (!visit)
    throw new ServiceError('internal', undefined, { cause: new Error('a new session is not there') })
  const changed = asked.appearance === undefined ? undefined : await changeAppearance(visit, asked.appearance)
  const appearance = changed?.problems.length === 0 ? asked.appearance : visit.session.appearance
  const view = await entryView({ ...visit, session: { ...visit.session, appearance } })
  await noteShown(context, visit.session, view.view)
  return {
    handle: opened.handle,
    sessionid: link.row.session_id,
    resulttoken: opened.resultToken,
    problems: changed?.problems ?? [],
    html: renderPage(view),
  }
}

/** The first view of the session, without the redirects that would lead to it. */
async function entryView(visit: Visit): Promise<View> {
  let path = entryOf(visit)
  for (let leads = 0; leads < 5; leads += 1) {
    const shown = await stepAt(path, visit)?.show(visit, { form: new URLSearchParams(), isPosted: false })
    if (!shown) break
    if (!isRedirect(shown)) return shown
    path = shown.to === '' ? entryOf(visit) : shown.to
  }
  throw new ServiceError('internal', undefined, { cause: new Error('the first view leads nowhere') })
}

async function ended(routes: PageRoutes, asked: SessionRequest, request: FastifyRequest) {
  const locale = asked.locale ?? localeOf(request.headers['accept-language'])
  const view = await endedView(routes, { shell: 'frame', locale }, { kind: 'link' })
  return { code: 'LINK_TOKEN_ENDED', html: renderPage(view) }
}

function readRequest(body: unknown): SessionRequest {
  const { linktoken, origin, locale, appearance } = (body ?? {}) as Record<string, unknown>
  return {
    linktoken: typeof linktoken === 'string' ? linktoken : '',
    origin: typeof origin === 'string' ? origin : '',
    locale: localeNamed(locale),
    ...(appearance === undefined ? {} : { appearance }),
  }
}

/** A failure as JSON, with a page to show to the person. */
async function sendFailure(routes: PageRoutes, error: unknown, reply: FastifyReply): Promise<FastifyReply> {
  const { request } = reply
  const { status, kind } = describeFailure(routes.context, error, request)
  const anonymous = { shell: 'frame', locale: localeOf(request.headers['accept-language']) } as const
  const view = await problemView(routes, anonymous, { kind, requestid: request.id }).catch(() => undefined)
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ code: 'INTERNAL', html: view && renderPage(view) }))
}
