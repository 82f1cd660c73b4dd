import type { Locale } from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { formIn, queryIn } from '../http/form.ts'
import { localeNamed, localeOf } from '../http/locale.ts'
import { ServiceError } from '../http/service-error.ts'
import { sendView, setPageHeaders } from './answer-view.ts'
import { linkAgain, mountLinks } from './links/open-link.ts'
import { touchSession } from './session/activity.ts'
import { endedView, problemView } from './session/anonymous.ts'
import { credentialOf, setCookie } from './session/credentials.ts'
import type { PageRoutes } from './session/page-context.ts'
import { checkSender, describeFailure } from './session/request-guard.ts'
import { visitOf } from './session/request-visit.ts'
import { type ActiveSession, findOwn, noteShown, sessionNameOf, wayBackFrom } from './session/session.ts'
import { setLocale, signOut } from './session/store.ts'
import { formTag, rootOf, type Visit } from './session/visit.ts'
import { changeAppearance } from './steps/appearance.ts'
import { isChallenged, meetChallenge, openChallenge } from './steps/challenge.ts'
import { sendCopy } from './steps/copies.ts'
import { isRedirect, type Typed } from './steps/step.ts'
import { entryOf, pathOfView, stepAt } from './steps/steps.ts'
import { endedKinds } from './views/model.ts'

/** One exchange with a browser. */
type Exchange = { readonly reply: FastifyReply; readonly path: string }

/** Mounts the registration page (docs/page-protocol.md): views for people, never problem documents. */
export function mountPages(app: FastifyInstance, routes: PageRoutes): void {
  const { context } = routes
  const root = rootOf(context)
  const takesForm = { config: { takes: 'application/x-www-form-urlencoded' } } as const
  void app.register(async scope => {
    scope.addHook('onRequest', async (request, reply) => {
      setPageHeaders(reply)
      checkSender(request, new URL(context.baseUrl()).origin)
    })
    scope.setErrorHandler((error, _, reply) => sendFailure(routes, error, reply))
    mountLinks(scope, routes)
    scope.post(`${root}/appearance`, { config: { takes: 'application/json' } }, (_, reply) =>
      answerAppearance(routes, reply),
    )
    scope.get(root, (_, reply) => answerGet(routes, { reply, path: '' }))
    scope.get(`${root}/*`, (request, reply) =>
      answerGet(routes, { reply, path: (request.params as { '*': string })['*'] }),
    )
    scope.post(`${root}/*`, takesForm, (request, reply) =>
      answerPost(routes, { reply, path: (request.params as { '*': string })['*'] }),
    )
  })
}

async function answerGet(routes: PageRoutes, exchange: Exchange): Promise<FastifyReply> {
  const found = await visitOf(routes, exchange.reply)
  if ('answered' in found) return found.answered
  const { visit, active } = found
  const { path, reply } = exchange
  const detour = detourOf(visit, active, path)
  if (detour !== undefined) return redirect(routes, reply, detour)
  if (path === 'challenge') return sendChallenge(routes, reply, visit)
  if (path === '') return redirect(routes, reply, entryOf(visit))
  if (path.startsWith('copy/') && (await sendCopy(visit, path.slice('copy/'.length), reply))) return reply
  return show(routes, exchange, { visit, typed: { form: queryIn(reply.request.url), isPosted: false } })
}

/** The path where this person must go first; `undefined` when they may see the requested path. */
function detourOf(visit: Visit, active: ActiveSession, path: string): string | undefined {
  if (active.isOver) return path === 'done' ? undefined : 'done'
  if (isChallenged(visit)) return path === 'challenge' ? undefined : 'challenge'
  return path === 'challenge' ? '' : undefined
}

async function answerPost(routes: PageRoutes, exchange: Exchange): Promise<FastifyReply> {
  const { context } = routes
  const { reply, path } = exchange
  const { request } = reply
  const form = formIn(request.body)
  const language = localeNamed(form.get('language'))
  if (path === 'language' && form.get('view') === 'LINK_ENDED' && language) {
    const { shell, handle } = credentialOf(request.headers, context)
    const kind = endedKinds.find(known => known === form.get('kind')) ?? 'link'
    const own = kind === 'link' ? undefined : await findOwn(context, handle)
    const anonymous = { shell, locale: language, partner: own?.partner }
    return sendView(reply, await endedView(routes, anonymous, { kind, ...wayBackFrom(own) }))
  }
  if (path === 'leave') return answerLeave(routes, reply)
  const found = await visitOf(routes, exchange.reply)
  if ('answered' in found) return found.answered
  const { active } = found
  if (path === 'stay') {
    await touchSession(context.database, sessionNameOf(active.row), context.clock.real())
    return reply.code(204).send()
  }
  const visit = language ? await switchLanguage(found.visit, language) : found.visit
  if (path === 'language') return redirect(routes, reply, pathOfView(form.get('view') ?? ''))
  const detour = detourOf(visit, active, path)
  if (detour !== undefined) return redirect(routes, reply, detour)
  if (path === 'challenge') return answerChallenge(routes, reply, { visit, form, isLanguage: !!language })
  if (language) return show(routes, exchange, { visit, typed: { form, isPosted: true } })
  return handlePost(routes, exchange, { visit, form })
}

/** Gives a posted form to its step, and sends the result. */
async function handlePost(
  routes: PageRoutes,
  exchange: Exchange,
  { visit, form }: { visit: Visit; form: URLSearchParams },
): Promise<FastifyReply> {
  const step = stepAt(exchange.path, visit)
  if (!step?.post) return showNotFound(routes, exchange.reply, visit)
  const isTheirs = !form.has('draft') || form.get('draft')?.startsWith(`${formTag(visit)}-`)
  const posted = isTheirs ? await step.post(visit, form) : 'conflict'
  if (posted === 'gone') return sendEnd(routes, exchange.reply)
  if (posted === 'conflict') return showNewest(routes, exchange)
  if (posted === 'again') return show(routes, exchange, { visit, typed: { form, isPosted: true } })
  if ('to' in posted) return redirect(routes, exchange.reply, posted.to)
  const typed = { form, isPosted: true, errors: posted.errors }
  return show(routes, exchange, { visit, typed, status: 422 })
}

/**
 * Shows the newest form to a person whose form was made from something that has changed since, or the view that takes its
 * place.
 */
async function showNewest(routes: PageRoutes, exchange: Exchange): Promise<FastifyReply> {
  const found = await visitOf(routes, exchange.reply)
  if ('answered' in found) return found.answered
  const { visit } = found
  const typed = { form: formIn(exchange.reply.request.body), isPosted: false, conflict: true }
  const shown = await stepAt(exchange.path, visit)?.show(visit, typed)
  if (!shown || !isRedirect(shown) || !stepAt(shown.to, visit))
    return show(routes, exchange, { visit, typed, status: 409 })
  typed.form = new URLSearchParams()
  return show(routes, { ...exchange, path: shown.to }, { visit, typed, status: 409 })
}

async function show(
  routes: PageRoutes,
  exchange: Exchange,
  shown: { visit: Visit; typed: Typed; status?: number },
): Promise<FastifyReply> {
  const { visit, typed, status } = shown
  const step = stepAt(exchange.path, visit)
  if (!step) return showNotFound(routes, exchange.reply, visit)
  const view = await step.show(visit, typed)
  if (isRedirect(view)) return redirect(routes, exchange.reply, view.to)
  await noteShown(routes.context, visit.session, view.view)
  const page = typed.conflict ? { ...view.page, conflict: true } : view.page
  const whole = { ...view, page, errors: typed.errors }
  return sendView(exchange.reply, whole, status)
}

async function answerChallenge(
  routes: PageRoutes,
  reply: FastifyReply,
  asked: { visit: Visit; form: URLSearchParams; isLanguage: boolean },
): Promise<FastifyReply> {
  const { visit, form, isLanguage } = asked
  const kept = Object.fromEntries(form)
  if (isLanguage) return sendChallenge(routes, reply, visit, { kept })
  const met = await meetChallenge(visit, form)
  if (met === 'passed') return redirect(routes, reply, '')
  return met === 'ended' ? sendEnd(routes, reply) : sendChallenge(routes, reply, visit, { kept, ...met })
}

/** Asks the birth date, or says that no attempt is left. */
async function sendChallenge(
  routes: PageRoutes,
  reply: FastifyReply,
  visit: Visit,
  wrong: Parameters<typeof openChallenge>[1] = {},
): Promise<FastifyReply> {
  const view = await openChallenge(visit, wrong)
  if (view === 'ended') return sendEnd(routes, reply)
  await noteShown(routes.context, visit.session, view.view)
  return sendView(reply, view, wrong.errors && 422)
}

/** Shows that a session has ended; where the session continues, leads to its first view. */
async function sendEnd(routes: PageRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const found = await visitOf(routes, reply)
  return 'answered' in found ? found.answered : redirect(routes, reply, '')
}

/** Ends the session of this browser and says so; a browser without a session gets the same answer. */
async function answerLeave(routes: PageRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = routes
  const { request } = reply
  const { shell, handle } = credentialOf(request.headers, context)
  const own = await findOwn(context, handle)
  if (own) await signOut(context.database, sessionNameOf(own.row), context.clock.real())
  if (shell === 'hosted') reply.header('Set-Cookie', setCookie('session', undefined, context))
  const locale = own?.row.locale ?? localeOf(request.headers['accept-language'])
  const ended = { kind: 'signedout', ...wayBackFrom(own) } as const
  const view = await endedView(routes, { shell, locale, partner: own?.partner }, ended)
  return sendView(reply, view)
}

async function answerAppearance(routes: PageRoutes, reply: FastifyReply): Promise<FastifyReply> {
  const found = await visitOf(routes, reply)
  if ('answered' in found) return found.answered
  const { appearance } = (reply.request.body ?? {}) as { appearance?: unknown }
  const changed = await changeAppearance(found.visit, appearance)
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(changed))
}

/** Switches this session to another language. */
async function switchLanguage(visit: Visit, locale: Locale): Promise<Visit> {
  await setLocale(visit.context.database, sessionNameOf(visit.session), locale)
  return { ...visit, locale, session: { ...visit.session, locale } }
}

function redirect({ context }: PageRoutes, reply: FastifyReply, path: string): FastifyReply {
  return reply
    .code(303)
    .header('Location', path === '' ? rootOf(context) : `${rootOf(context)}/${path}`)
    .send()
}

async function showNotFound(routes: PageRoutes, reply: FastifyReply, visit: Visit): Promise<FastifyReply> {
  const problem = { kind: 'notfound', requestid: reply.request.id, retry: rootOf(routes.context) } as const
  return sendView(reply, await problemView(routes, visit, problem), 404)
}

/** A failure as a page that tells the person what to do; only the log says what went wrong. */
async function sendFailure(routes: PageRoutes, error: unknown, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = routes
  const { request } = reply
  const { status, kind } = describeFailure(context, error, request)
  const { shell } = credentialOf(request.headers, context)
  const anonymous = { shell, locale: localeOf(request.headers['accept-language']) }
  const link = kind === 'busy' || kind === 'internal' ? linkAgain(context, reply) : undefined
  const retry = kind === 'notfound' ? {} : { retry: link ?? rootOf(context) }
  const problem = { kind, requestid: request.id, ...retry }
  const view = await problemView(routes, anonymous, problem).catch(() => undefined)
  // Without the browser's files no page can be shown: the operator has to build them.
  if (!view) return reply.code(500).type('text/plain; charset=utf-8').send(`Request ${request.id} failed.\n`)
  if (error instanceof ServiceError)
    for (const [name, value] of Object.entries(error.headers)) reply.header(name, value)
  if (status === 503 && !reply.hasHeader('Retry-After')) reply.header('Retry-After', '1')
  return sendView(reply, view, status)
}
