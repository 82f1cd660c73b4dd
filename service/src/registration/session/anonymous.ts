import type { Locale } from '@benefit-enrolment/contract'
import { localeOf } from '../../http/locale.ts'
import type { Partner } from '../../partners/partner.ts'
import type { LinkEndedView, ProblemView } from '../views/model.ts'
import type { Page } from '../views/surroundings.ts'
import type { Exchange, PageRoutes } from './page-context.ts'
import { type OwnSession, wayBack } from './session.ts'
import { pageFor, type Viewer } from './visit.ts'

/** The page for somebody without a session. Rejects while the browser's files are not built. */
export async function anonymousPage({ context, files }: PageRoutes, viewer: Viewer): Promise<Page> {
  return pageFor(context, await files(), viewer)
}

/**
 * The page of a link or session that has ended or never existed; for links the words are always the same. Its language is
 * the given one, else that of the session, else the browser's.
 */
export async function endedView(
  exchange: Exchange,
  ended: Pick<LinkEndedView, 'kind'> & {
    readonly shell: Page['shell']
    readonly own?: OwnSession | undefined
    readonly locale?: Locale | undefined
    /** Of a link that has no session any more, or never had one. */
    readonly partner?: Partner | undefined
  },
): Promise<LinkEndedView> {
  const { shell, kind, own } = ended
  const { headers } = exchange.reply.request
  const locale = ended.locale ?? own?.session.locale ?? localeOf(headers['accept-language'])
  const page = await anonymousPage(exchange, { shell, locale, partner: own?.partner ?? ended.partner })
  return { view: 'LINK_ENDED', page, kind, redirecturl: own && wayBack(own) }
}

/** The page of a failure, with a request id that the person can read out. */
export async function problemView(
  exchange: Exchange,
  viewer: Viewer,
  problem: Pick<ProblemView, 'kind' | 'retry'>,
): Promise<ProblemView> {
  const page = await anonymousPage(exchange, viewer)
  return { view: 'PROBLEM', page, requestid: exchange.reply.request.id, ...problem }
}
