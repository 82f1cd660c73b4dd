import type { FastifyInstance, FastifyReply } from 'fastify'
import { formIn, queryIn } from '../http/form.ts'
import { languageAsked, languageNamed } from '../http/locale.ts'
import { ServiceError } from '../http/service-error.ts'
import { linkAgain, mountLinks } from './links/open-link.ts'
import { isChallenged } from './screens/challenge.ts'
import { type Ending, endedKinds, endedView } from './screens/ended.ts'
import { describeFailure, problemView } from './screens/problem.ts'
import { entryOf, pathOfView, stepAt } from './screens.ts'
import { areBirthdateAttemptsSpent } from './session/birthdate-attempts.ts'
import type { Exchange, PageContext, PageRoutes } from './session/page-context.ts'
import { challenge, mountGuarded, sendView } from './session/request-guard.ts'
import {
  credentialOf,
  endOf,
  findActive,
  findOwn,
  isUnknownHandle,
  noteShown,
  setCookie,
} from './session/session.ts'
import { type PageSessionRow, setLocale, signOut, touchSession } from './session/store.ts'
import { formTag, openVisit, rootOf, type Visit } from './session/visit.ts'
import { sendCopy } from './steps/copies.ts'
import { isRedirect, type Typed } from './steps/step.ts'
import { dayText } from './views/format.ts'
import { stateName } from './views/states.ts'
import type { Localized } from './views/surroundings.ts'

/** A request to a path below the page's root. */
type PathExchange = Exchange & { readonly path: string }

/** Mounts the registration page (docs/page-protocol.md): views for people, never problem documents. */
export function mountPages(app: FastifyInstance, routes: PageRoutes): void {
  const root = rootOf(routes.context)
  const below = (reply: FastifyReply): PathExchange => {
    const { '*': path = '' } = reply.request.params as { '*'?: string }
    return { ...routes, reply, path }
  }
  mountGuarded(app, routes, {
    fail: sendFailure,
    mount: scope => {
      mountLinks(scope, routes)
      scope.get(root, (_, reply) => answerGet(below(reply)))
      scope.get(`${root}/*`, (_, reply) => answerGet(below(reply)))
      scope.post(`${root}/*`, { config: { takes: 'application/x-www-form-urlencoded' } }, (_, reply) =>
        answerPost(below(reply)),
      )
    },
  })
}

async function answerGet(exchange: PathExchange): Promise<FastifyReply> {
  const { path, reply } = exchange
  const visit = await visitOf(exchange)
  if (!visit) return reply
  const detour = detourOf(visit, path)
  if (detour !== undefined) return redirect(exchange, detour)
  if (path === '') return redirect(exchange, entryOf(visit))
  if (path.startsWith('copy/') && (await sendCopy(visit, path.slice('copy/'.length), reply))) return reply
  return show(exchange, visit, { form: queryIn(reply.request.url) })
}

/** The path where this person must go first; `undefined` when they may see the requested path. */
function detourOf(visit: Visit, path: string): string | undefined {
  if (visit.isOver) return path === 'done' ? undefined : 'done'
  if (isChallenged(visit)) return path === 'challenge' ? undefined : 'challenge'
  return path === 'challenge' ? '' : undefined
}

async function answerPost(exchange: PathExchange): Promise<FastifyReply> {
  const { context, reply, path } = exchange
  const form = formIn(reply.request.body)
  const language = languageNamed(form.get('language'), context.languages)
  if (path === 'language' && form.get('view') === 'LINK_ENDED' && language) {
    const { shell, handle } = credentialOf(reply.request.headers, context)
    const kind = endedKinds.find(known => known === form.get('kind')) ?? 'link'
    const own = kind === 'link' ? undefined : await findOwn(context, handle)
    return sendView(reply, await endedView(exchange, { shell, kind, own, locale: language }))
  }
  if (path === 'leave') return answerLeave(exchange)
  const found = await visitOf(exchange)
  if (!found) return reply
  if (path === 'stay') {
    await touchSession(context.database, found.session, context.clock.real())
    return reply.code(204).send()
  }
  if (language) await setLocale(context.database, found.session, language)
  const visit = language ? { ...found, locale: language } : found
  if (path === 'language') return redirect(exchange, pathOfView(form.get('view') ?? ''))
  const detour = detourOf(visit, path)
  if (detour !== undefined) return redirect(exchange, detour)
  if (language) return show(exchange, visit, { form, posted: form })
  return handlePost(exchange, visit, form)
}

/** Gives a posted form to its step, and sends the result. */
async function handlePost(
  exchange: PathExchange,
  visit: Visit,
  form: URLSearchParams,
): Promise<FastifyReply> {
  const step = stepAt(exchange.path, visit)
  if (!step?.post) return showNotFound(exchange, visit)
  const isTheirs = !form.has('draft') || form.get('draft')?.startsWith(`${formTag(visit)}-`)
  const posted = isTheirs ? await step.post(visit, form) : 'conflict'
  if (posted === 'gone') return sendEnd(exchange)
  if (posted === 'conflict') return showNewest(exchange, form)
  if (posted === 'again') return show(exchange, visit, { form, posted: form })
  if ('to' in posted) return redirect(exchange, posted.to)
  return show(exchange, visit, { form, posted: form, errors: posted.errors })
}

/**
 * Shows the newest form to a person whose form was made from something that has changed since, or the view that takes its
 * place.
 */
async function showNewest(exchange: PathExchange, form: URLSearchParams): Promise<FastifyReply> {
  const visit = await visitOf(exchange)
  if (!visit) return exchange.reply
  const typed = { form, conflict: form }
  const shown = await stepAt(exchange.path, visit)?.show(visit, typed)
  if (!shown || !isRedirect(shown) || !stepAt(shown.to, visit)) return show(exchange, visit, typed)
  return show({ ...exchange, path: shown.to }, visit, { form: new URLSearchParams(), conflict: form })
}

async function show(exchange: PathExchange, visit: Visit, typed: Typed): Promise<FastifyReply> {
  const view = await stepAt(exchange.path, visit)?.show(visit, typed)
  if (!view) return showNotFound(exchange, visit)
  if (view === 'gone') return sendEnd(exchange)
  if (isRedirect(view)) return redirect(exchange, view.to)
  await noteShown(exchange.context, visit.session, view.view)
  const { errors, conflict } = typed
  const page = conflict ? { ...view.page, replaced: replacedTexts(view.page, conflict) } : view.page
  return sendView(exchange.reply, { ...view, page }, errors ? 422 : conflict ? 409 : 200)
}

/** Shows that a session has ended; where the session continues, leads to its first view. */
async function sendEnd(exchange: Exchange): Promise<FastifyReply> {
  const visit = await visitOf(exchange)
  return visit ? redirect(exchange, '') : exchange.reply
}

/** Ends the session of this browser and says so; a browser without a session gets the same answer. */
async function answerLeave(exchange: Exchange): Promise<FastifyReply> {
  const { context, reply } = exchange
  const { shell, handle } = credentialOf(reply.request.headers, context)
  const own = await findOwn(context, handle)
  if (own) await signOut(context.database, own.session, context.clock.real())
  if (shell === 'hosted') reply.header('Set-Cookie', setCookie('session', undefined, context))
  return sendView(reply, await endedView(exchange, { shell, kind: 'signedout', own }))
}

function redirect({ context, reply }: Exchange, path: string): FastifyReply {
  return reply
    .code(303)
    .header('Location', path === '' ? rootOf(context) : `${rootOf(context)}/${path}`)
    .send()
}

async function showNotFound(exchange: Exchange, visit: Visit): Promise<FastifyReply> {
  const problem = { kind: 'notfound', retry: rootOf(exchange.context) } as const
  return sendView(exchange.reply, await problemView(exchange, visit, problem), 404)
}

/** A failure as a page that tells the person what to do; only the log says what went wrong. */
async function sendFailure(exchange: Exchange, error: unknown): Promise<FastifyReply> {
  const { context, reply } = exchange
  const { request } = reply
  const { status, kind } = describeFailure(context, error, request)
  const { shell } = credentialOf(request.headers, context)
  const viewer = {
    shell,
    locale: languageAsked(request.headers['accept-language'], context.languages) ?? 'en',
  }
  const link = kind === 'busy' || kind === 'internal' ? linkAgain(exchange) : undefined
  const retry = kind === 'notfound' ? {} : { retry: link ?? rootOf(context) }
  const view = await problemView(exchange, viewer, { kind, ...retry }).catch(() => undefined)
  // Without the browser's files no page can be shown: the operator has to build them.
  if (!view) return reply.code(500).type('text/plain; charset=utf-8').send(`Request ${request.id} failed.\n`)
  if (error instanceof ServiceError) reply.headers(error.headers)
  if (status === 503 && !reply.hasHeader('Retry-After')) reply.header('Retry-After', '1')
  return sendView(reply, view, status)
}

/** The visit of a request; `undefined` when there is none, after an answer that says why. */
async function visitOf(exchange: Exchange): Promise<Visit | undefined> {
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
async function endFor(context: PageContext, row: PageSessionRow): Promise<Ending> {
  const end = endOf(row)
  if (end !== 'challenge') return end
  const isSpent = await areBirthdateAttemptsSpent(context.database, row, context.clock.real())
  return isSpent ? 'challengelimit' : end
}

const texts =
  /^(?:firstname|lastname|email|phone|addline[123]|city|zipcode|person\d+\.(?:name|firstname|lastname|contact))$/

/** What a person had typed into a form that was not taken, in words, so that they can type it again. */
function replacedTexts(page: Localized, form: URLSearchParams): readonly string[] {
  const typed = [...form].flatMap(([name, value]) => (texts.test(name) && value.trim() ? [value.trim()] : []))
  const state = form.get('state')
  const parts = ['dobyear', 'dobmonth', 'dobday'].map(name => form.get(name) ?? '')
  const date = parts.map((part, at) => part.padStart(at === 0 ? 4 : 2, '0')).join('-')
  const isDate = parts.every(part => part !== '') && !Number.isNaN(Date.parse(date))
  return [...typed, ...(state ? [stateName(page, state)] : []), ...(isDate ? [dayText(page, date)] : [])]
}
