import type { Partner } from '../partners/partner.ts'
import type { BrowserFiles } from './browser-files.ts'
import type { LinkEndedView, ProblemView } from './views/model.ts'
import type { Locale, Page } from './views/surroundings.ts'

/** What a page needs that is shown to somebody of whom nothing is known, not even the partner. */
export type Stranger = {
  readonly shell: Page['shell']
  readonly locale: Locale
  readonly root: string
  readonly files: Pick<BrowserFiles, 'script' | 'stylesheet' | 'icon'>
  /** The partner, once it is known. */
  readonly partner?: Pick<Partner, 'name' | 'help'>
}

/** The page of somebody without a session. */
export const strangerPage = (stranger: Stranger): Page => ({
  shell: stranger.shell,
  locale: stranger.locale,
  partner: { displayname: stranger.partner?.name ?? '' },
  help: stranger.partner?.help ?? {},
  zone: 'UTC',
  stylesheets: [stranger.files.stylesheet],
  script: stranger.files.script,
  icon: stranger.files.icon,
  root: stranger.root,
})

/** A link or session that has ended, or never was: the same words for all. */
export const endedView = (
  stranger: Stranger,
  kind: LinkEndedView['kind'],
  redirecturl?: string | null,
): LinkEndedView => ({
  view: 'LINK_ENDED',
  page: strangerPage(stranger),
  kind,
  ...(redirecturl ? { redirecturl } : {}),
})

/** Something failed: the request id can be read out. */
export const problemView = (
  stranger: Stranger,
  problem: { kind: ProblemView['kind']; requestid: string; retry?: string },
): ProblemView => ({ view: 'PROBLEM', page: strangerPage(stranger), ...problem })
