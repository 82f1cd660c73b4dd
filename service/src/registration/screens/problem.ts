import { errors } from '@benefit-enrolment/contract'
import type { FastifyRequest } from 'fastify'
import { isClientGone } from '../../http/client-gone.ts'
import { html } from '../../http/html.ts'
import { asFailure, ServiceError } from '../../http/service-error.ts'
import { describeCause } from '../../log.ts'
import type { Exchange, PageContext } from '../session/page-context.ts'
import { pageFor, type Viewer } from '../session/visit.ts'
import { emblem } from '../views/icons.ts'
import type { Content } from '../views/layout.ts'
import { leave } from '../views/lists.ts'
import { inBoth, type ViewOf } from '../views/surroundings.ts'
import { textsOf } from '../views/texts.ts'

/**
 * Something failed, in the service (`internal`, `busy`) or elsewhere: `foreign` was sent by another website,
 * `unreadable` is not one of our forms. The person can read out the request id.
 */
export type ProblemView = ViewOf<'PROBLEM'> & {
  readonly kind: 'internal' | 'notfound' | 'busy' | 'foreign' | 'unreadable'
  readonly requestid: string
  /** The address at which to try again; absent when nothing can be repeated. */
  readonly retry?: string
}

/** The page of a failure, with a request id that the person can read out. */
export async function problemView(
  exchange: Exchange,
  viewer: Viewer,
  problem: Pick<ProblemView, 'kind' | 'retry'>,
): Promise<ProblemView> {
  const page = pageFor(exchange.context, await exchange.files(), viewer)
  return { view: 'PROBLEM', page, requestid: exchange.reply.request.id, ...problem }
}

/**
 * How each failure is presented to people; a failure that is not listed comes from a request that our pages never make.
 */
const kinds: Partial<Record<ServiceError['code'], ProblemView['kind']>> = {
  internal: 'internal',
  unavailable: 'busy',
  too_many_requests: 'busy',
  not_found: 'notfound',
  insufficient_scope: 'foreign',
}

/** The status of a failure and how it is presented to people; a failure that is not a refusal is logged in full. */
export function describeFailure(
  context: Pick<PageContext, 'log'>,
  error: unknown,
  request: FastifyRequest,
): { status: number; kind: ProblemView['kind'] } {
  const known = isClientGone(error, request) ? 'request_timeout' : undefined
  const failure = error instanceof ServiceError ? error : known ? new ServiceError(known) : asFailure(error)
  const { code } = failure
  if (code === 'internal' || (code === 'unavailable' && failure.cause))
    context.log('failure', { requestid: request.id, code, ...describeCause(failure.cause) })
  return { status: errors[code].status, kind: kinds[code] ?? 'unreadable' }
}

/** The words of each failure. */
export const problemWords = inBoth({
  en: {
    title: 'Something went wrong on our side',
    text: 'Your answers up to the last page are kept. Please try again in a moment.',
    notfoundtitle: 'This page does not exist',
    notfoundtext: 'Your answers are kept. Go back to your benefits to continue.',
    busytitle: 'We’re very busy right now',
    busytext: 'What you saved on earlier pages is kept. Please wait a moment, then try again.',
    foreigntitle: 'Nothing was changed',
    foreigntext:
      'We did not accept this because it was sent from another website, not from your benefits page. To go on, open your benefits from here or by your own link.',
    unreadabletitle: 'We could not read what was sent',
    unreadabletext: 'Nothing was changed. Your answers up to the last page are kept.',
    request: 'If you ask for help, please give this number:',
  },
  es: {
    title: 'Algo falló de nuestro lado',
    text: 'Sus respuestas hasta la última página están guardadas. Vuelva a intentarlo en un momento.',
    notfoundtitle: 'Esta página no existe',
    notfoundtext: 'Sus respuestas están guardadas. Vuelva a sus beneficios para continuar.',
    busytitle: 'Estamos muy ocupados en este momento',
    busytext: 'Lo que guardó en páginas anteriores se conserva. Espere un momento y vuelva a intentarlo.',
    foreigntitle: 'No se cambió nada',
    foreigntext:
      'No lo aceptamos porque se envió desde otro sitio web, no desde su página de beneficios. Para continuar, abra sus beneficios desde aquí o con su propio enlace.',
    unreadabletitle: 'No pudimos leer lo que se envió',
    unreadabletext: 'No se cambió nada. Sus respuestas hasta la última página están guardadas.',
    request: 'Si pide ayuda, dé este número:',
  },
})

/** Something failed: what is kept, how to go on, and the request id to read out. */
export function drawProblem(view: ProblemView): Content {
  const { page, kind, requestid, retry } = view
  const texts = textsOf(page)
  const words = problemWords[page.locale]
  const isOurs = kind === 'internal' || kind === 'busy'
  const [title, text] = {
    internal: [words.title, words.text],
    notfound: [words.notfoundtitle, words.notfoundtext],
    busy: [words.busytitle, words.busytext],
    foreign: [words.foreigntitle, words.foreigntext],
    unreadable: [words.unreadabletitle, words.unreadabletext],
  }[kind]
  return {
    title: title ?? '',
    ...(isOurs ? { signals: { error: 'INTERNAL' } } : {}),
    body: html`${emblem('alert')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${text}</p>
${
  retry &&
  html`<p class="actions"><a class="primary" href="${retry}">${
    isOurs ? texts.shell.tryagain : texts.shell.open
  }</a></p>`
}
<p class="hint">${words.request}</p><p><code class="requestid">${requestid}</code></p>
${leave(page, retry ? { rank: 'secondary' } : {})}`,
  }
}
