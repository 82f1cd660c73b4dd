import type { Instant } from '../../calendar/calendar.ts'
import { dayText, deadlineText, namesText } from './format.ts'
import type { Day } from './parts.ts'
import type { Page } from './surroundings.ts'
import { type DoneTexts, textsOf } from './texts.ts'

/** What was done and since when it holds: `from` is a day in the future; without it, it holds now. */
export type DoneChange =
  | { readonly what: 'enrolled'; readonly from?: Day }
  /** A member added this many benefits. */
  | { readonly what: 'added'; readonly count: number; readonly from?: Day }
  | {
      readonly what: 'upgraded' | 'downgraded'
      readonly plan: string
      readonly from?: Day
      /** True when it also dropped a planned swap. */
      readonly dropsSwap?: boolean
    }
  | { readonly what: 'swapped'; readonly from?: Day }
  /** `ahead`: the last day of coverage is still to come. */
  | {
      readonly what: 'cancelled'
      readonly lastday: Day
      readonly timing: 'ahead' | 'today' | 'past' | 'neverbegun'
      /** True when it also dropped a planned swap or plan change. */
      readonly hasDropped: boolean
      /** The names of benefits that had not started and were withdrawn with it, beside others that had. */
      readonly withdrawn?: readonly string[] | undefined
      readonly backuntil?: Instant | undefined
    }
  /** A swap or a plan change was undone; `from` when the plan itself is still to start. */
  | {
      readonly what: 'undone'
      readonly of: 'swap' | 'offer'
      readonly plan: string
      readonly from?: Day
      readonly staysDropped?: boolean
    }
  /** A cancel was undone before it took effect. */
  | { readonly what: 'kept'; readonly staysDropped?: boolean }
  /** Benefits were restored after a cancel; `missing` names those that could not be. */
  | { readonly what: 'reinstated'; readonly from?: Day; readonly missing: readonly string[] }

/**
 * Whether something is still needed from the person: the view itself says what (`here`), or does not know
 * (`elsewhere`).
 */
export type Needed = 'nothing' | 'here' | 'elsewhere'

/** The words of a confirmation. */
type DoneWords = {
  readonly title: string
  readonly lead: string
  readonly next: readonly string[]
}

/**
 * The heading, the sentence and the next steps for what was done: each combination of what and when has its own. While
 * something is still needed from the person, no step says that there is nothing to do.
 */
export function doneWords(page: Page, change: DoneChange, needed: Needed): DoneWords {
  const words = textsOf(page.locale).donewords
  const found = wordsOf(page, change, words)
  const { phone } = page.help
  const keep = phone ? words.reference(phone) : words.referenceplain
  if (needed === 'nothing') return { ...found, next: [...found.next, keep] }
  const steps = found.next.filter(line => !words.idle.includes(line))
  const first = needed === 'here' ? words.stillneeded : words.stillneededask(page.partner.displayname)
  return { ...found, next: [first, ...steps, keep] }
}

function wordsOf(page: Page, change: DoneChange, words: DoneTexts): DoneWords {
  const on = (day: Day) => dayText(page.locale, day)
  switch (change.what) {
    case 'enrolled':
    case 'swapped': {
      const { now, from } = words[change.what]
      return change.from === undefined ? now : from(on(change.from))
    }
    case 'added': {
      const { now, from } = words.added
      return change.from === undefined ? now(change.count) : from(change.count, on(change.from))
    }
    case 'upgraded':
    case 'downgraded': {
      const { now, from } = words[change.what]
      const said = change.from === undefined ? now(change.plan) : from(change.plan, on(change.from))
      return change.dropsSwap
        ? { ...said, next: [textsOf(page.locale).standing.dropsswap, ...said.next] }
        : said
    }
    case 'cancelled':
      return cancelledWords(page, change, words)
    case 'undone': {
      const { now, from } = words.undone[change.of]
      const said = change.from === undefined ? now(change.plan) : from(change.plan, on(change.from))
      return change.staysDropped ? { ...said, next: [words.staysdropped, ...said.next] } : said
    }
    case 'kept':
      return change.staysDropped
        ? { ...words.kept, next: [words.staysdropped, ...words.kept.next] }
        : words.kept
    case 'reinstated': {
      const { now, from, missing } = words.reinstated
      const found = change.from === undefined ? now : from(on(change.from))
      if (change.missing.length === 0) return found
      return { ...found, next: [missing(namesText(page, change.missing)), ...found.next] }
    }
  }
}

function cancelledWords(
  page: Page,
  change: Extract<DoneChange, { what: 'cancelled' }>,
  words: DoneTexts,
): DoneWords {
  const { cancelled } = words
  const on = dayText(page.locale, change.lastday)
  const said = {
    ahead: () => cancelled.from(on, textsOf(page.locale).standing.leaving.keep),
    today: () => cancelled.now.today(on),
    past: () => cancelled.now.past(on),
    neverbegun: () => cancelled.now.neverbegun,
  }[change.timing]()
  const back =
    change.backuntil === undefined
      ? []
      : [cancelled.back(page.partner.displayname, deadlineText(page, change.backuntil))]
  const { withdrawn = [] } = change
  const gone = [
    ...(withdrawn.length > 0 ? [textsOf(page.locale).standing.notbegun(namesText(page, withdrawn))] : []),
    ...(change.hasDropped ? [cancelled.dropped] : []),
  ]
  return { ...said, next: [...gone, ...said.next, ...back] }
}
