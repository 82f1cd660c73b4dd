import { errors } from '@benefit-enrolment/contract'
import type { FastifyRequest } from 'fastify'
import { isClientGone } from '../../http/client-gone.ts'
import { html } from '../../http/html.ts'
import { asFailure, ServiceError } from '../../http/service-error.ts'
import { describeCause } from '../../log.ts'
import type { Exchange, PageContext } from '../session/page-context.ts'
import { pageFor, type Viewer } from '../session/visit.ts'
import { emblem } from '../views/icons.ts'
import type { View } from '../views/layout.ts'
import { leave } from '../views/lists.ts'
import { sayIn } from '../views/say.ts'

/**
 * Something failed, in the service (`internal`, `busy`) or elsewhere: `foreign` was sent by another website,
 * `unreadable` is not one of our forms. The person can read out the request id.
 */
type Problem = 'internal' | 'notfound' | 'busy' | 'foreign' | 'unreadable'

/**
 * How each failure is presented to people; a failure that is not listed comes from a request that our pages never make.
 */
const kinds: Partial<Record<ServiceError['code'], Problem>> = {
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
): { status: number; kind: Problem } {
  const known = isClientGone(error, request) ? 'request_timeout' : undefined
  const failure = error instanceof ServiceError ? error : known ? new ServiceError(known) : asFailure(error)
  const { code } = failure
  if (code === 'internal' || (code === 'unavailable' && failure.cause))
    context.log('failure', { requestid: request.id, code, ...describeCause(failure.cause) })
  return { status: errors[code].status, kind: kinds[code] ?? 'unreadable' }
}

/** The page of a failure: what is kept, how to go on (`retry`, where something can be repeated), and the request id to read out. */
export async function problemView(
  exchange: Exchange,
  viewer: Viewer,
  { kind, retry }: { readonly kind: Problem; readonly retry?: string },
): Promise<View> {
  const page = pageFor(exchange.context, await exchange.files(), viewer)
  const requestid = exchange.reply.request.id
  const say = sayIn(page)

  const isOurs = kind === 'internal' || kind === 'busy'
  const [title, text] = {
    internal: [
      say`Something went wrong on our side`,
      say`Your answers up to the last page are kept. Please try again in a moment.`,
    ],
    notfound: [
      say`This page does not exist`,
      say`Your answers are kept. Go back to your benefits to continue.`,
    ],
    busy: [
      say`We’re very busy right now`,
      say`What you saved on earlier pages is kept. Please wait a moment, then try again.`,
    ],
    foreign: [
      say`Nothing was changed`,
      say`We did not accept this because it was sent from another website, not from your benefits page. To go on, open your benefits from here or by your own link.`,
    ],
    unreadable: [
      say`We could not read what was sent`,
      say`Nothing was changed. Your answers up to the last page are kept.`,
    ],
  }[kind]
  const content = {
    title: title ?? '',
    ...(isOurs ? { signals: { error: 'INTERNAL' } } : {}),
    body: html`${emblem('alert')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${text}</p>
${
  retry &&
  html`<p class="actions"><a class="primary" href="${retry}">${
    isOurs ? say`Try again` : say`Open my benefits`
  }</a></p>`
}
<p class="hint">${say`If you ask for help, please give this number:`}</p><p><code class="requestid">${requestid}</code></p>
${leave(page, retry ? { rank: 'secondary' } : {})}`,
  }
  return { view: 'PROBLEM', page, content }
}
