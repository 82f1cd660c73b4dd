import type { Instant, Zone } from '../../calendar/calendar.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import type { RefusedCreate } from '../../membership/saving/refused-creates.ts'
import type { LinkRow } from '../user-data/store.ts'
import { counted, writeDay } from '../views/parts.ts'
import { refusalSentence } from '../views/refused.ts'
import { viewWords } from './link-fate.ts'

/** What last kept somebody from enrolling, and whether a new link helps. */
export type Cause = { readonly at: Instant; readonly words: string; readonly wantsLink: boolean }

type CauseFacts = {
  readonly links: readonly LinkRow[]
  readonly refused: readonly RefusedCreate[]
  readonly catalogue: Catalogue
  readonly zone: Zone
  /** The real time: links do not follow the clock of a sandbox. */
  readonly real: Instant
}

/** The newest cause among the person's links and the refused attempts; `undefined` if nothing was ever tried. */
export function newestCause(found: CauseFacts): Cause | undefined {
  const { links, refused, zone, catalogue } = found
  const attempt = refused.at(-1)
  const causes = [
    ...links.map(link => causeOfLink(link, found)),
    attempt && {
      at: attempt.at,
      words: `an attempt to enroll was refused on ${writeDay(attempt.at, zone)}: ${refusalSentence(attempt, catalogue)}`,
      wantsLink: false,
    },
  ]
  return causes.filter(one => one !== undefined).sort((a, b) => b.at - a.at)[0]
}

function causeOfLink(link: LinkRow, { real, zone }: CauseFacts): Cause | undefined {
  const { spent_at, revoked_at, token_expires_at, dead_link_at, outcome, birthdate_tries } = link
  if (spent_at === null) {
    if (revoked_at !== null) return undefined
    if (token_expires_at > real)
      return {
        at: link.created_at,
        words: `the link of ${writeDay(link.created_at, zone)} is not opened yet`,
        wantsLink: false,
      }
    const again = dead_link_at === null ? '' : `, and was opened too late on ${writeDay(dead_link_at, zone)}`
    return {
      at: Math.max(token_expires_at, dead_link_at ?? 0),
      words: `the link expired unused on ${writeDay(token_expires_at, zone)}${again}`,
      wantsLink: true,
    }
  }
  const at = Math.max(link.last_seen_at ?? spent_at, dead_link_at ?? 0)
  if (outcome === 'challengefailed')
    return {
      at,
      words: `locked out on ${writeDay(at, zone)} by ${counted(birthdate_tries, 'wrong birth date')}`,
      wantsLink: true,
    }
  if (outcome !== null) return undefined
  const view = viewWords(link.last_view)
  return { at, words: `stopped at ${view} on ${writeDay(at, zone)}`, wantsLink: true }
}
