import type { Locale } from '@benefit-enrolment/contract'
import type { Partner } from '../../partners/partner.ts'
import type { LinkEndedView, ProblemView } from '../views/model.ts'
import type { Page } from '../views/surroundings.ts'
import type { PageRoutes } from './page-context.ts'
import { rootOf, themeAddress } from './visit.ts'

/** What is known of somebody without a session; the partner only once it is known. */
type Anonymous = {
  readonly shell: Page['shell']
  readonly locale: Locale
  readonly partner?: Pick<Partner, 'name' | 'help' | 'legal' | 'look'> | undefined
}

/** The page for somebody without a session. Rejects while the browser's files are not built. */
export async function anonymousPage({ context, files }: PageRoutes, anonymous: Anonymous): Promise<Page> {
  const { stylesheet, script, icon } = await files()
  const { shell, locale, partner } = anonymous
  const theme = partner && themeAddress(context, partner.look)
  return {
    shell,
    locale,
    partner: { displayname: partner?.name ?? '' },
    help: partner?.help ?? {},
    legal: partner?.legal,
    zone: 'UTC',
    stylesheets: theme === undefined ? [stylesheet] : [stylesheet, theme],
    script,
    icon,
    root: rootOf(context),
  }
}

/** The page of a link or session that has ended or never existed; for links the words are always the same. */
export async function endedView(
  routes: PageRoutes,
  anonymous: Anonymous,
  ended: Pick<LinkEndedView, 'kind' | 'redirecturl'>,
): Promise<LinkEndedView> {
  return { view: 'LINK_ENDED', page: await anonymousPage(routes, anonymous), ...ended }
}

/** The page of a failure, with a request id that the person can read out. */
export async function problemView(
  routes: PageRoutes,
  anonymous: Anonymous,
  problem: Pick<ProblemView, 'kind' | 'requestid' | 'retry'>,
): Promise<ProblemView> {
  return { view: 'PROBLEM', page: await anonymousPage(routes, anonymous), ...problem }
}
