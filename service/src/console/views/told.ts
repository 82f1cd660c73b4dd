import type { EnrolmentState, EventName } from '@benefit-enrolment/contract'
import { type CancelReason, cancelReasons } from '@benefit-enrolment/contract/names'
import type { Instant, Zone } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import type { HistoryLine, Move, StoredLine, WhyOfLine } from '../../membership/rules/history.ts'
import type { CloseReason, SwapPair, User, UserStatus } from '../../membership/rules/state.ts'
import { displayNameOf, type Terms } from '../../membership/rules/terms.ts'
import { viewMove } from '../../membership/rules/view.ts'
import { writeDay } from './parts.ts'

/** What a change wrote, or would write: its lines, and the events that it raised, each with the benefit that it is about. */
type Told = {
  readonly lines: readonly StoredLine[]
  readonly events?: readonly { readonly eventname: EventName; readonly benefit: string | null }[]
}

/**
 * A change in sentences of the present tense, for what happened, what is to come, and what an operator is about to do: the act, and then
 * what it comes to, with days of cover. "The cancellation is taken back. All six benefits stay." Empty if nothing that a person
 * notices has moved. The reason of a cancel only where `showsReason`: not everybody may see it.
 */
export function tell({ lines, events = [] }: Told, of: Of, showsReason: boolean): readonly string[] {
  const act = actOf(lines, of, showsReason)
  const rest = act === undefined ? lines : lines.filter(line => !isSaid(line, lines))
  return [
    ...toldByInsurer(events, of),
    ...(act === undefined ? [] : [act]),
    ...rest.flatMap(line => ofMembership(line, { lines: rest, of })),
    ...ofBenefits(rest, of),
  ]
}

/** Whether a change is an insurer's answer and nothing else. */
export function isInsurers({ lines, events = [] }: Told): boolean {
  return lines.length === 0 && events.length > 0 && events.every(one => one.eventname in ANSWERS)
}

/** An instant within the day on which people find what happens by itself: of what only ends, the last day of cover. */
export function dayOfDue(lines: readonly HistoryLine[], at: Instant): Instant {
  const begins = lines.some(
    line =>
      (line.what === 'offer' && line.to !== undefined) || (line.what === 'benefit' && line.to !== 'ended'),
  )
  const isOver = lines.some(line => line.to === 'cancelled' || line.to === 'ended')
  return isOver && !begins ? at - 1 : at
}

/** The events of an insurer's answer, and what the insurer did. */
const ANSWERS: Readonly<Partial<Record<EventName, string>>> = {
  benefit_insurer_accepted: 'accepted',
  benefit_insurer_refused: 'refused',
}

function toldByInsurer(events: Told['events'] = [], of: Of): string[] {
  return Object.entries(ANSWERS).flatMap(([eventname, verb]) => {
    const names = events
      .filter(one => one.eventname === eventname)
      .map(({ benefit }) => benefitName(of, benefit ?? ''))
    return names.length === 0 ? [] : [`The insurer ${verb} ${listed(names)}.`]
  })
}

function actOf(lines: readonly StoredLine[], of: Of, showsReason: boolean): string | undefined {
  const [first] = lines
  const status = lines.find(line => line.what === 'user')
  const [offer = ''] = lines.flatMap(line =>
    (line.what === 'offer' || line.what === 'offer to start') && line.to !== undefined ? [line.to] : [],
  )
  if (status?.to === 'erased') return ACTS.erase
  if (status?.from === 'cancelled' && status.to === 'active')
    return 'The person comes back after the cancellation.'
  if (status?.to === 'active')
    return `The person is enrolled${status.why === 'imported' ? ', imported,' : ''} on ${offerName(of.terms, offer)}.`
  const canceled = (why: WhyOfLine) => `The membership is canceled${showsReason ? becauseOf(why) : ''}.`
  const cancel = lines.find(line => line.what === 'pending cancel')
  if (cancel) return cancel.to === undefined ? endOfCancel(status?.to) : canceled(cancel.why)
  if (status?.to === 'cancelled')
    return status.why.startsWith('cancel') ? canceled(status.why) : 'The membership is over.'
  const swap = lines.find(line => line.what === 'swap')
  if (swap && first?.why === 'swap')
    return swap.to === undefined
      ? 'The swap is taken back.'
      : swap.from
        ? 'The swap is changed.'
        : 'A swap is planned.'
  const cover = lines.find(line => line.what === 'pending cover')
  if (cover && first?.why === 'cover')
    return `A change of whom ${benefitName(of, cover.benefit)} covers is ${cover.to === undefined ? 'taken back' : 'planned'}.`
  return first && ACTS[first.why]
}

function endOfCancel(status: UserStatus | undefined): string {
  return status === 'cancelled' ? 'The cancellation takes effect.' : 'The cancellation is taken back.'
}

/** Of a cancel that is still to come the line has the bare reason. */
function becauseOf(why: WhyOfLine): string {
  const reason = cancelReasons.find(one => why === one || why === `cancel: ${one}`)
  return reason === undefined ? '' : ` because of ${cancelReasonWords(reason)}`
}

/** Acts that no line says better, by what they were made for. */
const ACTS: Readonly<Partial<Record<WhyOfLine, string>>> = {
  prefill: 'The partner sends the person’s data.',
  'prefill expires': 'What the partner had sent is deleted.',
  'prefill expired': 'Nobody enrolled in 90 days: what the partner had sent is deleted.',
  'link opened': 'The registration page is opened.',
  'offer change': 'The offer is changed.',
  'offer change undone': 'The change of the offer is taken back.',
  enrol: 'Benefits are chosen.',
  'consent by phone': 'A consent that was given by phone is put on record.',
  'consent by paper': 'A consent that was given on paper is put on record.',
  'consent by email': 'A consent that was given by email is put on record.',
  'beneficiaries named': 'Who receives a benefit is named.',
  dependants: 'The list of dependants is changed.',
  erase: 'All that is known of the person is destroyed.',
}

/** Whether the act says already what a line would come to. */
function isSaid({ what, to, from, why }: StoredLine, lines: readonly StoredLine[]): boolean {
  const isEnrolling = lines.some(line => line.what === 'user' && line.to === 'active')
  switch (what) {
    case 'user':
    case 'consent':
      return true
    case 'swap':
      return to === undefined
    case 'pending cover':
      return why === 'cover'
    case 'pending offer':
      return to === undefined && from !== undefined
    case 'offer':
    case 'offer to start':
      return isEnrolling
    default:
      return false
  }
}

function ofMembership(
  move: StoredLine,
  { lines, of }: { lines: readonly StoredLine[]; of: Of },
): readonly string[] {
  const { zone } = of.terms
  const offer = (name: string) => offerName(of.terms, name)
  switch (move.what) {
    case 'user':
      return move.to === 'none' ? [] : [`The person is ${(move.to && STATUSES[move.to]) ?? move.to}.`]
    case 'offer':
      if (move.from === undefined) return [`${offer(move.to ?? '')} starts.`]
      return move.to === undefined ? [] : [`${offer(move.from)} becomes ${offer(move.to)}.`]
    case 'offer to start':
      return move.to === undefined ? [] : [`${offer(move.to)} starts at the next period.`]
    case 'pending offer': {
      if (move.to !== undefined) return [`${offer(move.to)} follows at the next period.`]
      const hasCome = lines.some(one => one.what === 'offer' && one.to === move.from)
      return move.from === undefined || hasCome ? [] : [`${offer(move.from)} does not follow.`]
    }
    case 'swap':
      if (move.to !== undefined)
        return [`At the end of the period: ${swapWords(move.to, name => benefitName(of, name))}.`]
      return lines.some(one => one.what === 'benefit') ? [] : ['The swap is off.']
    case 'pending cancel':
      return move.to === undefined ? [] : [lastDaySentence('', move, zone)]
    case 'beneficiaries':
      return move.to === undefined ? [] : [`Who receives ${benefitName(of, move.benefit)} is on record.`]
    case 'dependant': {
      const verb = move.to === undefined ? 'no longer covers' : 'covers'
      return [`${benefitName(of, move.benefit)} ${verb} ${dependantName(of, move.dependant)}.`]
    }
    case 'dependant start':
    case 'dependant end': {
      if (move.to === undefined) return []
      const isStart = move.what === 'dependant start'
      const day = writeDay(isStart ? move.to : move.to - 1, zone)
      const covers = `${benefitName(of, move.benefit)} covers ${dependantName(of, move.dependant)}`
      return [isStart ? `${covers} from ${day}.` : `The last day on which ${covers}: ${day}.`]
    }
    case 'pending cover':
      // When the plan takes effect, each dependant who comes or goes has a line.
      if (move.why === 'due') return []
      return [
        move.to === undefined
          ? `The planned change of whom ${benefitName(of, move.benefit)} covers is dropped.`
          : `A change of whom ${benefitName(of, move.benefit)} covers is planned.`,
      ]
    case 'consent':
      return [`The consent to ${benefitName(of, move.name)} is on record.`]
    default:
      return []
  }
}

type BenefitMove = Extract<Move, { what: 'benefit' }>
type DateMove = Extract<Move, { what: 'planned end' | 'start' | 'end' }>

function ofBenefits(moves: readonly Move[], of: Of): readonly string[] {
  const states = moves.filter((move): move is BenefitMove => move.what === 'benefit')
  const dates = moves.filter(
    (move): move is DateMove => move.what === 'start' || move.what === 'end' || move.what === 'planned end',
  )
  // A row that is corrected is taken back, and a new one takes its place: only its dates have moved.
  const corrected = new Set(
    states
      .filter(({ to }) => to === 'void')
      .map(({ benefit }) => benefit)
      .filter(name => states.some(({ benefit, from }) => benefit === name && from === undefined)),
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
function listed(names: readonly string[]): string {
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

/** Whose change it is: the source of the names of benefits and offers. */
export type Of = {
  readonly user: User
  readonly terms: Terms
  /** The names of dependants by their ids, where the person's data are shown. */
  readonly names?: ReadonlyMap<string, string>
}

/** The states whose names are not plain words already. */
const STATES: Readonly<Partial<Record<EnrolmentState, string>>> = {
  enrolled: 'in force',
  endscheduled: 'in force, ends',
  scheduled: 'starts later',
  actionrequired: 'something missing',
  selected: 'picked',
  void: 'taken back as a mistake',
}

/** The statuses of a user whose names are not plain words already. */
export const STATUSES: Readonly<Partial<Record<UserStatus, string>>> = {
  none: 'not known',
  cancelled: 'canceled',
  registering: 'on the registration page',
}

/** A benefit by the name that the catalogue shows to this user. */
export function benefitName({ terms, user }: Of, name: string): string {
  return displayNameOf(terms, user, name, 'en')
}

/**
 * A dependant by what they are to the person and the end of their id, which is no personal data, so that a change can be told to whoever
 * may see it; by name where the person's data are shown.
 */
export function dependantName({ user, names }: Of, id: string): string {
  const covered = user.enrolments.flatMap(one => one.covered ?? [])
  const { relationship } = covered.find(({ dependantId }) => dependantId === id) ?? {}
  const known = names?.get(id)
  const kind = relationship === undefined ? 'the dependant' : `the ${KINDS[relationship]}`
  return `${kind} ${known ?? `…${id.slice(-4)}`}`
}

const KINDS = { spouse: 'spouse', domesticpartner: 'domestic partner', child: 'child' } as const

/** An offer by the name that the catalogue shows today, or by that of the API where it is no longer there. */
export function offerName(terms: Terms, name: string): string {
  return terms.today.catalogue.offers.get(name)?.displayname.en ?? name
}

/** The reason of a cancel in words; the API writes each as one. */
export function cancelReasonWords(reason: CancelReason): string {
  return REASONS[reason] ?? reason
}

const REASONS: Readonly<Partial<Record<CancelReason, string>>> = {
  voluntary: 'own wish',
  employmentended: 'employment ended',
}

/** Why an enrollment is over, in words. */
export function endReasonWords(reason: CloseReason): string {
  return END_REASONS[reason] ?? reason
}

const END_REASONS: Readonly<Partial<Record<CloseReason, string>>> = {
  endsatage: 'ends at this age',
  ineligible: 'no longer admitted',
  cancelled: 'canceled',
}

/** A state of an enrollment in words. */
export function stateWords(state: EnrolmentState): string {
  return STATES[state] ?? state
}

/** A line of the history as the API gives it, for those who compare; `tell` says in words what a change comes to. */
export function lineOf(move: Move): Slot {
  const { what, from, to } = viewMove(move)
  return html`<code>${what}</code> ${[from, to].filter(one => one !== '').join(' → ')}${to === '' && ' → nothing'}`
}

/** The pairs of a swap in words. */
export function swapWords(pairs: readonly SwapPair[], benefit: (name: string) => string): string {
  return pairs
    .map(({ remove, add }) =>
      remove === undefined
        ? `${benefit(add ?? '')} for a free place`
        : `${benefit(remove)} for ${add === undefined ? 'nothing' : benefit(add)}`,
    )
    .join(', ')
}
