import type { EnrolmentState } from '@benefit-enrolment/contract'
import type { Instant, Zone } from '../../calendar/calendar.ts'
import type { Move } from '../../membership/rules/history.ts'
import { benefitName, type Of, offerName, STATUSES, swapWords } from './moves.ts'
import { writeDay } from './parts.ts'

type BenefitMove = Extract<Move, { what: 'benefit' }>
type DateMove = Extract<Move, { what: 'planned end' | 'start' | 'end' }>

/**
 * What a change comes to, in sentences of the present tense with days of cover: "Hospital cash starts on November 20, 2026
 * instead of November 27, 2026." Empty if nothing that a person notices has moved.
 */
export function consequences(moves: readonly Move[], of: Of): readonly string[] {
  return [...moves.flatMap(move => ofMembership(move, { moves, of })), ...ofBenefits(moves, of)]
}

function ofMembership(move: Move, { moves, of }: { moves: readonly Move[]; of: Of }): readonly string[] {
  const { zone } = of.terms
  const offer = (name: string) => offerName(of.terms, name)
  const isIn = (what: Move['what'], to: unknown) => moves.some(one => one.what === what && one.to === to)
  switch (move.what) {
    case 'user':
      return statusSentence(move)
    case 'offer':
      if (move.from === undefined) return [`${offer(move.to ?? '')} starts.`]
      return move.to === undefined ? [] : [`${offer(move.from)} becomes ${offer(move.to)}.`]
    case 'offer to start':
      return move.to === undefined ? [] : [`${offer(move.to)} starts at the next period.`]
    case 'pending offer':
      if (move.to !== undefined) return [`${offer(move.to)} follows at the next period.`]
      return move.from === undefined || isIn('offer', move.from)
        ? []
        : [`${offer(move.from)} does not follow.`]
    case 'swap':
      if (move.to !== undefined)
        return [`At the end of the period: ${swapWords(move.to, name => benefitName(of, name))}.`]
      return moves.some(one => one.what === 'benefit') ? [] : ['The swap is off.']
    case 'pending cancel':
      return move.to === undefined ? [] : [lastDaySentence('', move, zone)]
    case 'beneficiaries':
      return move.to === undefined
        ? []
        : [`Who receives ${benefitName(of, move.benefit)}: ${BENEFICIARIES[move.to] ?? move.to}.`]
    case 'consent':
      return [`The consent to ${benefitName(of, move.name)} is on record.`]
    default:
      return []
  }
}

function statusSentence({ from, to }: Extract<Move, { what: 'user' }>): readonly string[] {
  if (to === 'cancelled') return ['The membership is over.']
  if (to === 'active') return from === 'cancelled' ? ['The membership begins again.'] : []
  if (to === 'erased') return ['All that is known of the person is destroyed.']
  return to === 'none'
    ? ['What the partner had sent is deleted.']
    : [`The person is ${STATUSES[to ?? ''] ?? to}.`]
}

const BENEFICIARIES: Readonly<Record<string, string>> = {
  confirmed: 'named',
  dropped: 'no longer named',
}

function ofBenefits(moves: readonly Move[], of: Of): readonly string[] {
  const states = moves.filter((move): move is BenefitMove => move.what === 'benefit')
  const dates = moves.filter(
    (move): move is DateMove => move.what === 'start' || move.what === 'end' || move.what === 'planned end',
  )
  // A row that is corrected is taken back, and another takes its place: only its dates have moved.
  const corrected = new Set(
    dates.filter(({ what, to }) => what === 'start' && to !== undefined).map(({ benefit }) => benefit),
  )
  const isWhole = moves.some(({ what }) => what === 'user' || what === 'pending cancel')
  const groups = new Map<string, string[]>()
  for (const { benefit, from, to } of states) {
    const verb = corrected.has(benefit) ? undefined : verbOf(from, to)
    if (verb) groups.set(verb, [...(groups.get(verb) ?? []), benefitName(of, benefit)])
  }
  const isAll = isWhole && groups.size === 1
  return [
    ...[...groups].map(([verb, names]) => groupSentence(names, verb, isAll)),
    ...dates.flatMap(move => dateSentence(move, { of, isMoved: corrected.has(move.benefit) })),
  ]
}

/** One verb for one benefit and one for several, with a slash between them. */
function verbOf(from: EnrolmentState | undefined, to: EnrolmentState | undefined): string | undefined {
  switch (to) {
    case 'enrolled':
      return from === 'endscheduled' ? 'stays/stay' : 'starts/start'
    case 'endscheduled':
      return from === 'enrolled'
        ? 'ends then/end then'
        : 'starts and has a last day/start and have a last day'
    case 'scheduled':
      return 'starts later/start later'
    case 'actionrequired':
      return 'waits for the person/wait for the person'
    case 'ended':
      return 'ends/end'
    case 'withdrawn':
      return 'does not start/do not start'
    case 'declined':
      return 'is declined/are declined'
    case 'rejected':
      return 'is refused/are refused'
    case 'void':
      return 'is taken back, as if it had never been/are taken back, as if they had never been'
    default:
      return undefined
  }
}

function groupSentence(names: readonly string[], verb: string, isAll: boolean): string {
  const [one, several] = verb.split('/')
  if (names.length === 1) return `${names[0]} ${one}.`
  if (isAll)
    return `${names.length === 2 ? 'Both' : `All ${NUMBERS[names.length] ?? names.length}`} benefits ${several}.`
  return `${listed(names)} ${several}.`
}

const NUMBERS = ['', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/** Names as a sentence lists them: `A, B and C`. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

function dateSentence(
  { what, benefit, from, to }: DateMove,
  { of, isMoved }: { of: Of; isMoved: boolean },
): readonly string[] {
  const { zone } = of.terms
  const name = benefitName(of, benefit)
  if (what === 'start') {
    if (to === undefined) return []
    const before = from === undefined ? '' : ` instead of ${writeDay(from, zone)}`
    return [`${name} starts on ${writeDay(to, zone)}${before}.`]
  }
  if (to === undefined) return isMoved ? [`${name} has no last day any more.`] : []
  return [lastDaySentence(` of ${name}`, { from, to }, zone)]
}

function lastDaySentence(
  of: string,
  { from, to }: { from?: Instant | undefined; to?: Instant | undefined },
  zone: Zone,
): string {
  const before = from === undefined ? '' : ` instead of ${writeDay(from - 1, zone)}`
  return `The last day${of} is ${to === undefined ? 'open' : writeDay(to - 1, zone)}${before}.`
}
