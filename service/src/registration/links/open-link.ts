import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Language } from '../../catalogue/model.ts'
import { formIn } from '../../http/form.ts'
import { html } from '../../http/html.ts'
import { languageNamed } from '../../http/locale.ts'
import { endedView } from '../screens/ended.ts'
import { parseDeepLink, readLinkAddress, writeDeepLink } from '../session/deep-link.ts'
import type { Exchange, PageContext, PageRoutes } from '../session/page-context.ts'
import { sendView } from '../session/request-guard.ts'
import {
  belongsToMember,
  findLink,
  isEndedByDueCancel,
  isFresh,
  type Link,
  localeFor,
  newOpener,
  partnerOfToken,
  readCookie,
  setCookie,
  spendLink,
} from '../session/session.ts'
import { rememberLanguage } from '../session/store.ts'
import { beginRegistration, pageFor, rootOf } from '../session/visit.ts'
import { primary } from '../views/fields.ts'
import { emblem, icon } from '../views/icons.ts'
import type { View } from '../views/layout.ts'
import { type Say, sayIn } from '../views/say.ts'
import type { Page } from '../views/surroundings.ts'

/** Mounts the page behind a link: fetching it does not use up the token, pressing its one button does. */
export function mountLinks(scope: FastifyInstance, routes: PageRoutes): void {
  const address = `${rootOf(routes.context)}/link/:linktoken`
  // Programs that shorten or preview addresses may end one with a slash.
  for (const path of [address, `${address}/`]) {
    scope.get(path, { config: { opensFromElsewhere: true } }, (_, reply) => showLink({ ...routes, reply }))
    scope.post(path, { config: { takes: 'application/x-www-form-urlencoded' } }, (_, reply) =>
      pressLink({ ...routes, reply }),
    )
  }
}

/**
 * The address of the link that a failed request was about; `undefined` for another request, and when the link has just
 * begun a session, which the page's root continues.
 */
export function linkAgain({ context, reply }: Exchange): string | undefined {
  const { linktoken } = (reply.request.params ?? {}) as { linktoken?: string }
  const hasBegun = reply.request.method === 'POST' && reply.hasHeader('Set-Cookie')
  return linktoken === undefined || hasBegun ? undefined : linkAddress(context, linktoken)
}

function linkAddress(context: PageContext, linktoken: string): string {
  return `${rootOf(context)}/link/${encodeURIComponent(linktoken)}`
}

async function showLink(exchange: Exchange): Promise<FastifyReply> {
  const { context, reply } = exchange
  const link = await hostedLink(exchange)
  if (!link || !isFresh(link, context.clock.real()) || (await isEndedByDueCancel(context, link)))
    return ended(exchange)
  if (!readCookie(reply.request.headers, 'opener', context))
    reply.header('Set-Cookie', setCookie('opener', newOpener(), context))
  return sendOpen(exchange, link)
}

async function pressLink(exchange: Exchange): Promise<FastifyReply> {
  const { context, reply } = exchange
  const { request } = reply
  const form = formIn(request.body)
  const link = await hostedLink(exchange)
  if (!link) return ended(exchange)
  // A form with `language` asks for a language only, whatever else it contains; the button was not pressed.
  if (form.has('language')) {
    if (!isFresh(link, context.clock.real())) return ended(exchange)
    return sendOpen(exchange, link, languageNamed(form.get('language'), context.languages))
  }
  const opener = readCookie(request.headers, 'opener', context) ?? newOpener()
  const added = addedDeepLink(exchange)
  const usual = await localeFor(context, link, request.headers['accept-language'])
  const locale = languageNamed(form.get('locale'), context.languages) ?? usual
  const input = {
    opener,
    locale,
    deeplinkdata: added && writeDeepLink(added),
    withResult: false,
    request,
  }
  const opened = await spendLink(context, link, input)
  if (!opened) return ended(exchange)
  // The cookie is set before anything else can fail, because the token is used up and cannot open the page again.
  reply.header('Set-Cookie', setCookie('session', opened.handle, context))
  // The page behind the link was shown in the usual language, unless its button chose another.
  if (locale !== usual) await rememberLanguage(context.database, link.session, locale)
  const begun = await beginRegistration(context, link, request.id)
  if (!begun) return ended(exchange)
  return reply.code(303).header('Location', rootOf(context)).send()
}

/** The link that the address names, unless it is an embed link. */
async function hostedLink({ context, reply }: Exchange): Promise<Link | undefined> {
  const { request } = reply
  const { linktoken } = request.params as { linktoken: string }
  const { token } = readLinkAddress(linktoken, request.url)
  const link = await findLink(context, token)
  if (!link) context.refuseUnknown(request)
  if (link) request.partnerId = link.partner.partnerId
  return link?.session.delivery === 'embed' ? undefined : link
}

async function sendOpen(exchange: Exchange, link: Link, chosen?: Language): Promise<FastifyReply> {
  const { partner, session, token } = link
  const page = pageFor(exchange.context, await exchange.files(), {
    shell: 'hosted',
    locale:
      chosen ?? (await localeFor(exchange.context, link, exchange.reply.request.headers['accept-language'])),
    partner,
  })
  const added = addedDeepLink(exchange)
  const isSwap = (parseDeepLink(session.deeplinkdata ?? '') ?? added)?.redirectto === 'swap'
  const isMember = session.purpose === 'registration' && (await belongsToMember(exchange.context, link))
  const purpose = isSwap ? 'swap' : isMember ? 'benefits' : session.purpose
  // Pressing the button carries on what the partner added to the address.
  const action = linkAddress(exchange.context, token) + (added ? `?${writeDeepLink(added)}` : '')
  return sendView(exchange.reply, openView(page, { action, purpose }))
}

/** Used, expired, revoked and unknown links look alike: nothing shown here depends on which it is. */
async function ended(exchange: Exchange): Promise<FastifyReply> {
  const { linktoken } = exchange.reply.request.params as { linktoken: string }
  const partner = await partnerOfToken(exchange.context, linktoken)
  return sendView(exchange.reply, await endedView(exchange, { shell: 'hosted', kind: 'link', partner }), 410)
}

/** What the partner added to the address of the link. */
function addedDeepLink({ reply: { request } }: Exchange) {
  const { linktoken } = request.params as { linktoken: string }
  return readLinkAddress(linktoken, request.url).deepLink
}

/**
 * The page behind a link: one button, whose POST to `action` uses up the token; the purpose of the link decides the words. Its
 * form posts without the script to an address of its own, because the answer is a redirect.
 */
function openView(
  page: Page,
  { action, purpose }: { readonly action: string; readonly purpose: keyof typeof purposes },
): View {
  const say = sayIn(page)
  const partner = page.partner.displayname
  const [title, lead, text] = purposes[purpose](say, partner)
  const content = {
    title,
    body: html`${emblem('shield')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${lead}</p>
<p>${text}</p>
<form id="answers" method="post" action="${action}" data-plain><input type="hidden"
name="locale" value="${page.locale}">${primary(say`Open my benefits`, icon('arrow'))}</form>
<p class="hint">${say`This link works once. Later, open your benefits from ${partner} again or ask for a new link.`}</p>`,
    asks: true,
  }
  return { view: 'OPEN', page, content }
}

type Purpose = (say: Say, partner: string) => readonly [title: string, lead: string, text: string]

/** What is said before the button, by what the link is for. */
const purposes = {
  registration: (say, partner) => [
    say`Set up your benefits`,
    say`${partner} invites you to see the benefits you can get and to enroll.`,
    say`It takes about five minutes. You can stop at any time; we keep your answers.`,
  ],
  benefits: (say, partner) => [
    say`See your benefits`,
    say`Here is what you have through ${partner}, and what else you can get.`,
    say`Looking changes nothing.`,
  ],
  swap: (say, partner) => [
    say`Swap a benefit`,
    say`Exchange a benefit you have through ${partner} for another one. It takes about two minutes.`,
    say`Nothing changes before you confirm it.`,
  ],
  offerchange: (say, partner) => [
    say`Change your plan`,
    say`See the plans you can have through ${partner}, and choose another one. It takes about two minutes.`,
    say`Nothing changes before you confirm it.`,
  ],
} as const satisfies Readonly<Record<string, Purpose>>
