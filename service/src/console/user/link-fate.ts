import type { Instant, Zone } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import type { LinkRow } from '../user-data/store.ts'
import { counted, type Tone, tag, when } from '../views/parts.ts'

/** One thing that happened to a link: a tag, words, an instant, and the reference of a confirmation, in this order. */
type LinkNote = {
  readonly tag?: readonly [word: string, tone: Tone]
  readonly words?: string
  readonly at?: Instant
  readonly reference?: string
}

/** What became of a link: opened, abandoned at which view, completed, expired, opened again when it was dead. */
export function describeLink(link: LinkRow, real: Instant): LinkNote[] {
  const notes: LinkNote[] = []
  if (link.spent_at === null) {
    if (link.revoked_at !== null) notes.push({ tag: ['revoked', 'plain'], at: link.revoked_at })
    else if (link.token_expires_at <= real) notes.push({ tag: ['expired unopened', 'bad'] })
    else notes.push({ tag: ['not opened yet', 'wait'], words: 'until', at: link.token_expires_at })
  } else {
    notes.push({ words: 'opened', at: link.spent_at })
    if (link.outcome !== null) {
      const tone = link.outcome === 'challengefailed' ? 'bad' : 'good'
      const reference = link.reference === null ? {} : { reference: link.reference }
      notes.push({ tag: [OUTCOMES[link.outcome] ?? link.outcome, tone], ...reference })
    } else if (link.signed_out_at !== null) notes.push({ words: 'signed out', at: link.signed_out_at })
    else if (link.last_seen_at !== null)
      notes.push({ words: `last seen${lastViewWords(link)}`, at: link.last_seen_at })
    if (link.birthdate_tries > 0 && link.birthdate_passed_at === null)
      notes.push({ words: counted(link.birthdate_tries, 'wrong birth date') })
  }
  if (link.dead_link_at !== null)
    notes.push({ words: 'opened when it no longer worked,', at: link.dead_link_at })
  return notes
}

/** A note for the page. */
export function shownNote({ tag: tagged, words, at, reference }: LinkNote, zone: Zone): Slot {
  const parts = [
    tagged && tag(...tagged),
    words,
    at !== undefined && when(at, zone),
    reference !== undefined && html`<code>${reference}</code>`,
  ]
  return parts.filter(Boolean).map((part, index) => [index > 0 && ' ', part])
}

/** The outcomes of a page session whose names are not plain words. */
const OUTCOMES: Readonly<Record<string, string>> = {
  challengefailed: 'closed after too many wrong birth dates',
  undone: 'a planned change called off',
}

function lastViewWords({ last_view }: LinkRow): string {
  return last_view === null ? '' : ` at ${viewWords(last_view)},`
}

/** A step of the page in words, by the headings that the person reads. */
export function viewWords(view: string | null): string {
  if (view === null) return 'the beginning'
  return VIEWS[view] ?? `“${view.toLowerCase().replaceAll('_', ' ')}”`
}

const VIEWS: Readonly<Record<string, string>> = {
  CHALLENGE: 'the birth date',
  DETAILS_REVIEW: '“Check your details”',
  DETAILS_EDIT: '“Check your details”',
  BENEFITS: 'the choice of benefits',
  CHECK_ANSWERS: 'the last step, “Check your answers”',
}
