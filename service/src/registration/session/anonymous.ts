import type { Partner } from '../../partners/partner.ts'
import type { BrowserFiles } from '../browser-files.ts'
import type { LinkEndedView, ProblemView } from '../views/model.ts'
import type { Locale, Page } from '../views/surroundings.ts'
import { themeAddress } from './visit.ts'

/** What a page needs when it is shown to somebody unknown, perhaps even without a known partner. */
export type Anonymous = {
  readonly shell: Page['shell']
  readonly locale: Locale
  readonly root: string
  readonly files: Pick<BrowserFiles, 'script' | 'stylesheet' | 'icon'>
  /** The partner, once it is known. */
  readonly partner?: Pick<Partner, 'name' | 'help' | 'legal' | 'look'>
}

/** The page for somebody without a session. */
export function anonymousPage(anonymous: Anonymous): Page {
  return {
    shell: anonymous.shell,
    locale: anonymous.locale,
    partner: { displayname: anonymous.partner?.name ?? '' },
    help: anonymous.partner?.help ?? {},
    ...(anonymous.partner ? { legal: anonymous.partner.legal } : {}),
    zone: 'UTC',
    stylesheets: stylesheetsOf(anonymous),
    script: anonymous.files.script,
    icon: anonymous.files.icon,
    root: anonymous.root,
  }
}

function stylesheetsOf({ files, partner, root }: Anonymous): readonly string[] {
  const basePath = root.slice(0, root.lastIndexOf('/'))
  const theme = partner && themeAddress({ basePath }, partner.look)
  return theme === undefined ? [files.stylesheet] : [files.stylesheet, theme]
}

/** The page of a link or session that has ended or never existed; for links the words are always the same. */
export function endedView(
  anonymous: Anonymous,
  kind: LinkEndedView['kind'],
  redirecturl?: string | null,
): LinkEndedView {
  return {
    view: 'LINK_ENDED',
    page: anonymousPage(anonymous),
    kind,
    ...(redirecturl ? { redirecturl } : {}),
  }
}

/** The page of a failure, with a request id that the person can read out. */
export function problemView(
  anonymous: Anonymous,
  problem: { kind: ProblemView['kind']; requestid: string; retry?: string },
): ProblemView {
  return { view: 'PROBLEM', page: anonymousPage(anonymous), ...problem }
}
