import type { Instant } from '../../../calendar/calendar.ts'
import { dayText, deadlineText, namesText } from '../../views/format.ts'
import type { IsoDate } from '../../views/parts.ts'
import { inBoth, type Page } from '../../views/surroundings.ts'
import { textsOf } from '../../views/texts.ts'
import { doneEn } from './words.en.ts'
import { doneEs } from './words.es.ts'

/** The words of confirmations, by what was done and when. */
export const doneTexts = inBoth({ en: doneEn, es: doneEs })
type DoneTexts = typeof doneEn

/** What was done and since when it holds: `from` is a day in the future; without it, it holds now. */
export type DoneChange =
  | { readonly what: 'enrolled'; readonly from?: IsoDate }
  /** A member added this many benefits. */
  | { readonly what: 'added'; readonly count: number; readonly from?: IsoDate }
  | {
      readonly what: 'upgraded' | 'downgraded'
      readonly plan: string
      readonly from?: IsoDate
      /** True when it also dropped a pending swap. */
      readonly dropsSwap?: boolean
    }
  | { readonly what: 'swapped'; readonly from?: IsoDate }
  /** `ahead`: the last day of coverage is still to come. */
  | {
      readonly what: 'cancelled'
      readonly lastday: IsoDate
      readonly timing: 'ahead' | 'today' | 'past' | 'neverbegun'
      /** True when it also dropped a pending swap or plan change. */
      readonly hasDropped: boolean
      /** The names of benefits that had not started and were withdrawn with it, beside others that had. */
      readonly withdrawn?: readonly string[] | undefined
      readonly backuntil?: Instant | undefined
      /** True when the benefits cannot be brought back, because their plan is closed to the person. */
      readonly noreturn?: boolean
    }
  /** A swap or a plan change was undone; `from` when the plan itself is still to start. */
  | {
      readonly what: 'undone'
      readonly of: 'swap' | 'offer'
      readonly plan: string
      readonly from?: IsoDate
      readonly staysDropped?: boolean
    }
  /** A cancel was undone before it took effect. */
  | { readonly what: 'kept'; readonly staysDropped?: boolean }
  /** Benefits were restored after a cancel; `missing` names those that could not be. */
  | { readonly what: 'reinstated'; readonly from?: IsoDate; readonly missing: readonly string[] }

/**
 * Whether something is still needed from the person: the view itself says what (`here`), or does not know
 * (`elsewhere`); `choice`: nothing, but there is something that they may still do.
 */
export type Needed = 'nothing' | 'choice' | 'here' | 'elsewhere'

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
  const words = doneTexts[page.locale]
  const found = wordsOf(page, change, words)
  const { phone } = page.help
  const keep = phone ? words.reference(phone) : words.referenceplain
  if (needed === 'nothing') return { ...found, next: [...found.next, keep] }
  const asks = needed === 'elsewhere' ? [words.stillneededask(page.partner.displayname)] : []
  const untrue = needed === 'choice' ? words.nothing : words.idle
  return { ...found, next: [...asks, ...found.next.filter(line => !untrue.includes(line)), keep] }
}

function wordsOf(page: Page, change: DoneChange, words: DoneTexts): DoneWords {
  const dropped = 'staysDropped' in change && change.staysDropped && words.staysdropped
  switch (change.what) {
    case 'enrolled':
    case 'swapped':
      return timed(page, words[change.what], change)
    case 'added':
      return timed(page, words.added, change, change.count)
    case 'upgraded':
    case 'downgraded': {
      const said = timed(page, words[change.what], change, change.plan)
      return after(change.dropsSwap && textsOf(page).standing.dropsswap, said)
    }
    case 'cancelled':
      return cancelledWords(page, change, words)
    case 'undone':
      return after(dropped, timed(page, words.undone[change.of], change, change.plan))
    case 'kept':
      return after(dropped, words.kept)
    case 'reinstated': {
      const { missing } = change
      const gone = missing.length > 0 && words.reinstated.missing(namesText(page, missing))
      return after(gone, timed(page, words.reinstated, change))
    }
  }
}

/** The words for what holds now, or for what will hold from a day on. */
function timed<About extends readonly unknown[]>(
  page: Page,
  { now, from }: { now: (...about: About) => DoneWords; from: (...about: [...About, string]) => DoneWords },
  change: { readonly from?: IsoDate },
  ...about: About
): DoneWords {
  return change.from === undefined ? now(...about) : from(...about, dayText(page, change.from))
}

/** The words with a sentence before their next steps, if there is one. */
function after(sentence: string | false | undefined, said: DoneWords): DoneWords {
  return sentence ? { ...said, next: [sentence, ...said.next] } : said
}

function cancelledWords(
  page: Page,
  change: Extract<DoneChange, { what: 'cancelled' }>,
  words: DoneTexts,
): DoneWords {
  const { cancelled } = words
  const { notbegun, noreturn } = textsOf(page).standing
  const { timing, withdrawn = [], backuntil } = change
  const on = dayText(page, change.lastday)
  const said = {
    ahead: () => cancelled.from(on, change.noreturn ? noreturn : cancelled.later),
    today: () => cancelled.now.today(on),
    past: () => cancelled.now.past(on),
    neverbegun: () => cancelled.now.neverbegun,
  }[timing]()
  const next = [
    withdrawn.length > 0 && notbegun(namesText(page, withdrawn)),
    change.hasDropped && cancelled.dropped,
    ...said.next,
    change.noreturn && timing !== 'ahead' && noreturn,
    backuntil !== undefined && cancelled.back(page.partner.displayname, deadlineText(page, backuntil)),
  ]
  return { ...said, next: next.filter(line => line !== false && line !== undefined) }
}
