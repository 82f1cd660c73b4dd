import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Language } from '../catalogue/model.ts'
import { html } from '../http/html.ts'
import { languageAsked, languageNamed } from '../http/locale.ts'
import { ServiceError } from '../http/service-error.ts'
import { isUuid } from '../vault/uuid.ts'
import { endedView } from './screens/ended.ts'
import { describeFailure, problemView } from './screens/problem.ts'
import { entryOf, stepAt } from './screens.ts'
import type { Exchange, PageRoutes } from './session/page-context.ts'
import { challenge, mountGuarded, sendView, setFrameHeaders } from './session/request-guard.ts'
import {
  findActive,
  findLink,
  findOwn,
  isFresh,
  localeFor,
  newOpener,
  noteShown,
  type Opened,
  partnerOfToken,
  spendLink,
} from './session/session.ts'
import { openVisit, pageFor, type Visit } from './session/visit.ts'
import { isRedirect } from './steps/step.ts'
import { document, type View } from './views/layout.ts'
import { sayIn } from './views/say.ts'
import type { Page } from './views/surroundings.ts'

/** The body with which the frame exchanges a token; other members are ignored. */
type SessionRequest = { linktoken: string; origin: string; locale: Language | undefined }

/** Mounts the routes that the embed's frame needs besides the views: the frame itself, and the exchange of a token. */
export function mountEmbed(app: FastifyInstance, routes: PageRoutes): void {
  const root = `${routes.context.basePath}/embed`
  mountGuarded(app, routes, {
    fail: sendFailure,
    mount: scope => {
      scope.get(`${root}/frame`, { config: { opensFromElsewhere: true } }, (_, reply) =>
        sendFrame({ ...routes, reply }),
      )
      scope.post(`${root}/session`, { config: { takes: 'application/json' } }, (_, reply) =>
        exchangeToken({ ...routes, reply }),
      )
    },
  })
}

/** The empty frame: it contains the origins that may embed it, and no personal data. */
async function sendFrame(exchange: Exchange): Promise<FastifyReply> {
  const { context, reply } = exchange
  const { partner: partnerId, locale } = reply.request.query as { partner?: unknown; locale?: unknown }
  const isId = typeof partnerId === 'string' && isUuid(partnerId)
  const found = isId ? await context.directory.partner(partnerId.toLowerCase()) : undefined
  const partner = found?.disabledAt === undefined ? found : undefined
  const origins = partner?.origins ?? []
  setFrameHeaders(reply, origins)
  const viewer = {
    locale:
      languageNamed(locale, context.languages) ??
      languageAsked(reply.request.headers['accept-language'], context.languages) ??
      partner?.locale ??
      'en',
    partner,
  }
  const page = pageFor(context, await exchange.files(), { shell: 'frame', ...viewer })
  return sendView(reply, frameView(page, { origins, sessionurl: `${context.basePath}/embed/session` }))
}

/** Exchanges a link token for a session and its first view. */
async function exchangeToken(exchange: Exchange): Promise<FastifyReply> {
  const { context, reply } = exchange
  const { request } = reply
  const asked = readRequest(request.body, context.languages)
  const refuse = async () => {
    const partner = await partnerOfToken(context, asked.linktoken)
    const view = await endedView(exchange, { shell: 'frame', kind: 'link', locale: asked.locale, partner })
    return send(reply.headers(challenge), 401, { code: 'LINK_TOKEN_ENDED', html: document(view) })
  }
  const link = await findLink(context, asked.linktoken)
  if (!link) context.refuseUnknown(request)
  if (link?.session.delivery !== 'embed') return refuse()
  if (!isFresh(link, context.clock.real())) return refuse()
  request.partnerId = link.partner.partnerId
  const { origin } = asked
  if (!link.session.origins.includes(origin) || !link.partner.origins.includes(origin))
    return send(reply, 403, { code: 'ORIGIN_NOT_ALLOWED' })
  const named = link.session.locale ?? asked.locale
  const locale = named ?? (await localeFor(context, link, request.headers['accept-language']))
  const input = { opener: newOpener(), locale, withResult: true, request }
  const opened = await spendLink(context, link, input)
  return opened ? send(reply, 200, await firstView(exchange, opened)) : refuse()
}

async function firstView(exchange: Exchange, opened: Opened): Promise<object> {
  const { context, reply } = exchange
  const own = await findOwn(context, opened.handle)
  const active = own && (await findActive(context, own))
  const shown = { shell: 'frame', files: await exchange.files(), requestId: reply.request.id } as const
  const visit = active && (await openVisit(context, active, shown))
  if (!visit)
    throw new ServiceError('internal', undefined, { cause: new Error('a new session is not there') })
  const view = await entryView(visit)
  await noteShown(context, visit.session, view.view)
  return {
    handle: opened.handle,
    sessionid: visit.session.session_id,
    resulttoken: opened.resultToken,
    html: document(view),
  }
}

/** The first view of the session, without the redirects that would lead to it. */
async function entryView(visit: Visit): Promise<View> {
  let path = entryOf(visit)
  for (let leads = 0; leads < 5; leads += 1) {
    const shown = await stepAt(path, visit)?.show(visit, { form: new URLSearchParams() })
    if (!shown || shown === 'gone') break
    if (!isRedirect(shown)) return shown
    path = shown.to === '' ? entryOf(visit) : shown.to
  }
  throw new ServiceError('internal', undefined, { cause: new Error('the first view leads nowhere') })
}

function readRequest(body: unknown, languages: readonly Language[]): SessionRequest {
  const { linktoken, origin, locale } = (body ?? {}) as Record<string, unknown>
  return {
    linktoken: typeof linktoken === 'string' ? linktoken : '',
    origin: typeof origin === 'string' ? origin : '',
    locale: languageNamed(locale, languages),
  }
}

/** A failure as JSON, with a page to show to the person. */
async function sendFailure(exchange: Exchange, error: unknown): Promise<FastifyReply> {
  const { request } = exchange.reply
  const { status, kind } = describeFailure(exchange.context, error, request)
  const viewer = {
    shell: 'frame',
    locale: languageAsked(request.headers['accept-language'], exchange.context.languages) ?? 'en',
  } as const
  const view = await problemView(exchange, viewer, { kind }).catch(() => undefined)
  return send(exchange.reply, status, { code: 'INTERNAL', html: view && document(view) })
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

/**
 * The empty frame, as shown until the host has answered: the origins that may embed it, and the address at which it exchanges a
 * link token for a session.
 */
function frameView(
  page: Page,
  { origins, sessionurl }: { readonly origins: readonly string[]; readonly sessionurl: string },
): View {
  const say = sayIn(page)
  const content = {
    title: say`Your benefits`,
    body: html`<h1 class="unseen" tabindex="-1">${say`Loading…`}</h1>
<div class="waiting" aria-hidden="true"><span></span><span></span><span></span></div>
<noscript><p>${say`This window needs JavaScript. Ask for a link to open the page on its own instead.`}</p></noscript>`,
    signals: { origins: origins.join(' '), session: sessionurl },
  }
  return { view: 'FRAME', page, content }
}
