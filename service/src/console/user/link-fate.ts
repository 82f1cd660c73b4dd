import type { Instant, Zone } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import type { LinkRow } from '../user-data/store.ts'
import { counted, tag, when, writeInstant } from '../views/parts.ts'

/** One thing that happened to a link, as markup and as text for a file. */
type LinkNote = { readonly shown: Slot; readonly text: string }

/** What became of a link: opened, abandoned at which view, completed, expired, opened again when it was dead. */
export function describeLink(link: LinkRow, { zone, real }: { zone: Zone; real: Instant }): LinkNote[] {
  const since = (words: string, at: Instant): LinkNote => ({
    shown: html`${words} ${when(at, zone)}`,
    text: `${words} ${writeInstant(at, zone)}`,
  })
  const tagged = (word: string, tone: 'good' | 'bad' | 'wait' | 'plain', more?: LinkNote): LinkNote => ({
    shown: html`${tag(word, tone)}${more && html` ${more.shown}`}`,
    text: more ? `${word} ${more.text}` : word,
  })
  const at = (instant: Instant): LinkNote => ({
    shown: when(instant, zone),
    text: writeInstant(instant, zone),
  })
  const notes: LinkNote[] = []
  if (link.spent_at === null) {
    if (link.revoked_at !== null) notes.push(tagged('revoked', 'plain', at(link.revoked_at)))
    else if (link.token_expires_at <= real) notes.push(tagged('expired unopened', 'bad'))
    else notes.push(tagged('not opened yet', 'wait', since('until', link.token_expires_at)))
  } else {
    notes.push(since('opened', link.spent_at))
    if (link.outcome !== null) {
      const reference = link.reference === null ? undefined : coded(link.reference)
      const isFailure = link.outcome === 'challengefailed'
      notes.push(tagged(OUTCOMES[link.outcome] ?? link.outcome, isFailure ? 'bad' : 'good', reference))
    } else if (link.signed_out_at !== null) notes.push(since('signed out', link.signed_out_at))
    else if (link.last_seen_at !== null)
      notes.push(since(`last seen${lastViewWords(link)}`, link.last_seen_at))
    if (link.birthdate_tries > 0 && link.birthdate_passed_at === null)
      notes.push(plain(counted(link.birthdate_tries, 'wrong birth date')))
  }
  if (link.dead_link_at !== null) notes.push(since('opened when it no longer worked,', link.dead_link_at))
  return notes
}

/** The outcomes of a page session whose names are not plain words. */
const OUTCOMES: Readonly<Record<string, string>> = {
  challengefailed: 'closed after too many wrong birth dates',
  undone: 'a planned change called off',
}

/** Where on the page the person was last, such as " at “check answers”,"; empty when that is not known. */
function lastViewWords({ last_view }: LinkRow): string {
  return last_view === null ? '' : ` at “${last_view.toLowerCase().replaceAll('_', ' ')}”,`
}

function plain(text: string): LinkNote {
  return { shown: text, text }
}

function coded(text: string): LinkNote {
  return { shown: html`<code>${text}</code>`, text }
}
