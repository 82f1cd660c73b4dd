import { DAY_MS, dateAt, type Instant } from '../../calendar/calendar.ts'
import { iconPathOf } from '../../catalogue/file-paths.ts'
import {
  type Benefit,
  type BenefitDocument,
  type Bilingual,
  type Language,
  type Offer,
  offerHas,
  type Relationship,
  textIn,
} from '../../catalogue/model.ts'
import { worthOf } from '../../catalogue/tiers.ts'
import { pendingPeople, withCover } from '../../membership/rules/cover.ts'
import type { Dependant } from '../../membership/rules/dependant.ts'
import { actionDueAt, waitsUntil } from '../../membership/rules/enrolments.ts'
import { coveredNow, enrolmentWorth, pricedTerms } from '../../membership/rules/family.ts'
import {
  type Enrolment,
  hasPendingCancel,
  heldEnrolment,
  isInForce,
  isLive,
  type User,
} from '../../membership/rules/state.ts'
import { hasBeneficiary, knownBenefit, openBenefit, partnerOffers } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type {
  BenefitCard,
  BenefitLine,
  BenefitStatus,
  Cost,
  Coverage,
  CoverChoice,
  CoverFacts,
  HeldCover,
  IsoDate,
  Passage,
} from '../views/parts.ts'
import { inLanguageOf, passageIn } from '../views/say.ts'

/** A benefit in plain words, with its status. */
export function cardOf(
  visit: Visit,
  benefit: Benefit,
  standing: {
    status: BenefitStatus
    startsAt?: Instant
    selected?: boolean
    cover?: CoverChoice | undefined
    held?: HeldCover | undefined
    /** The enrolment of one that is held: its tier decides what it pays. */
    enrolment?: Enrolment
  },
): BenefitCard {
  const { locale } = visit
  const { cover, held, enrolment } = standing
  const worth = enrolment?.covered && enrolmentWorth(visit.terms, enrolment)
  const { amount } = worth ?? worthOf(benefit)
  const cost = cover?.cost ?? held?.cost
  return {
    ...faceOf(visit, benefit),
    ...(cost && { cost }),
    ...(cover && { cover }),
    ...(held && { held }),
    description: passageIn(benefit.description, locale),
    pays: sentencesOf(benefit.pays, locale),
    notcovered: sentencesOf(benefit.notcovered, locale),
    worth: amount && { amount: amount.cents / 100, currency: 'USD', per: amount.per },
    startson: standing.startsAt === undefined ? undefined : localDay(visit, standing.startsAt),
    status: standing.status,
    selected: standing.selected ?? false,
  }
}

/** What the page shows of a benefit wherever it stands. */
function faceOf(visit: Visit, benefit: Benefit) {
  return {
    name: benefit.name,
    displayname: textIn(benefit.displayname, visit.locale),
    iconurl: iconOf(visit, benefit),
    cost: costOf(visit, benefit),
    coverage: coverageOf(visit, benefit),
  }
}

/**
 * The offers that have the benefit of the person's link, when this offer does not have it and others of the partner do.
 */
export function wantedElsewhere(visit: Visit, offer: Offer): readonly BenefitCard[] {
  const name = visit.deepLink?.productname ?? ''
  const benefit = openBenefit(visit.terms, name)
  const isHeld = visit.isMember && liveEnrolment(visit.user, name) !== undefined
  if (!benefit || isHeld || offerHas(offer, name)) return []
  const plans = partnerOffers(visit.terms).filter(other => offerHas(other, name))
  if (plans.length === 0) return []
  const status = {
    kind: 'otherplan',
    plans: plans.map(plan => textIn(plan.displayname, visit.locale)),
  } as const
  return [cardOf(visit, benefit, { status })]
}

/**
 * A benefit that is about to start, as one line; if a beneficiary must be named first, it waits for that. `pickedAt`:
 * when the wait begins; a plan change picks its benefits only on its day.
 */
export function lineOf(
  visit: Visit,
  benefit: Benefit,
  startsAt: Instant,
  pickedAt: Instant = visit.now,
): BenefitLine {
  const { user, now } = visit
  const isNamed = hasBeneficiary(user, benefit)
  const held = heldEnrolment(user, benefit.name)
  const dueAt = (held && waitsUntil(held)) ?? actionDueAt(startsAt, pickedAt)
  return {
    ...faceOf(visit, benefit),
    startson: isNamed ? localDay(visit, startsAt) : undefined,
    waits: isNamed
      ? undefined
      : { by: localDay(visit, dueAt), from: startsAt > now ? localDay(visit, startsAt) : undefined },
    endson: leavingOn(visit),
  }
}

/** The name and icon of a benefit, also of one that has left the catalogue. */
export function nameLine(visit: Visit, name: string): BenefitLine {
  const benefit = knownBenefit(visit.terms, visit.user, name)
  if (!benefit) return { name, displayname: name, iconurl: visit.files.icon }
  return { name, displayname: textIn(benefit.displayname, visit.locale), iconurl: iconOf(visit, benefit) }
}

/** An enrolment as one line: which benefit, from when, until when; cover that is still to start may end by age, too. */
export function enrolmentLine(visit: Visit, enrolment: Enrolment): BenefitLine {
  const benefit = knownBenefit(visit.terms, visit.user, enrolment.benefit)
  const isWaiting = enrolment.state === 'actionrequired'
  // What has not begun cannot end: until it is agreed to, only the day matters before which that must be done.
  const endsAt = isWaiting ? undefined : (enrolment.endsAt ?? enrolment.ownEnd?.at)
  return {
    ...nameLine(visit, enrolment.benefit),
    ...(benefit && faceOf(visit, benefit)),
    ...listedFamily(visit, enrolment),
    ...(isWaiting
      ? { actionrequired: true, dueon: dueDay(visit, enrolment) }
      : { startson: localDay(visit, enrolment.startsAt) }),
    endson: endsAt === undefined ? undefined : lastDayOf(visit, endsAt),
    endsatage: isByAge(enrolment, endsAt) ? benefit?.endsatage : undefined,
    ...pendingIn(enrolment),
  }
}

/** What an enrolment costs, and whom it covers and will cover, each by name; nothing of a benefit without tiers. */
export function familyFacts(visit: Visit, enrolment: Enrolment): CoverFacts {
  const { pendingCover, startsAt } = enrolment
  if (pendingCover && enrolment.state === 'actionrequired')
    return familyFacts(visit, withCover(enrolment, idsOf(pendingPeople(enrolment)), startsAt, visit.terms))
  const later = pendingCover && {
    coverlater: {
      on: localDay(visit, Math.max(pendingCover.at, startsAt)),
      ...familyFacts(
        visit,
        withCover(
          enrolment,
          idsOf(pendingPeople(enrolment)),
          Math.max(pendingCover.at, startsAt),
          visit.terms,
        ),
      ),
    },
  }
  const benefit = pricedTerms(visit.terms, enrolment)
  if (!benefit?.tiers) return { ...later }
  const people = coveredNow(enrolment)
  return {
    cost: costOf(
      visit,
      benefit,
      people.map(({ relationship }) => relationship),
    ),
    covered: people.map(({ dependantId, end }) => ({
      name: nameIn(visit, dependantId),
      until:
        end && end.at < (enrolment.endsAt ?? Number.POSITIVE_INFINITY) ? lastDayOf(visit, end.at) : undefined,
    })),
    ...later,
  }
}

/** The same for a list, which has nothing to say of others to somebody who has named nobody. */
export function listedFamily(visit: Visit, enrolment: Enrolment): CoverFacts {
  const { covered, ...facts } = familyFacts(visit, enrolment)
  return covered && namedPeople(visit).length > 0 ? { ...facts, covered } : facts
}

/** The people whom the person has named; beneficiaries are another list. */
export function namedPeople({ person }: Pick<Visit, 'person'>): readonly Dependant[] {
  return person.dependants ?? []
}

/** The ids of people whom an enrolment covers. */
export function idsOf(people: readonly { readonly dependantId: string }[]): readonly string[] {
  return people.map(({ dependantId }) => dependantId)
}

function nameIn(visit: Visit, id: string): string {
  const found = namedPeople(visit).find(({ dependantid }) => dependantid === id)
  return found ? fullName(found) : ''
}

/** The whole name of somebody. */
export function fullName({ firstname, lastname }: Pick<Dependant, 'firstname' | 'lastname'>): string {
  return `${firstname} ${lastname}`
}

/** Whether cover ends at this instant because of the person's age. */
export function isByAge({ ownEnd }: Enrolment, endsAt: Instant | undefined): boolean {
  return endsAt !== undefined && endsAt === ownEnd?.at && ownEnd.reason === 'endsatage'
}

function pendingIn(enrolment: Enrolment): Pick<BenefitLine, 'pending'> {
  const { endsAt, ownEnd } = enrolment
  if (endsAt !== undefined && endsAt !== ownEnd?.at) return { pending: 'goes' }
  return enrolment.pendingBy !== undefined && !isInForce(enrolment) ? { pending: 'comes' } : {}
}

/**
 * A line with the dates of an enrolment: since when it holds or from when, and its end if it has one. What a planned
 * change or a cancel takes away is shown with its end alone.
 */
export function standingLine(visit: Visit, enrolment: Enrolment): BenefitLine {
  const { startson, ...line } = enrolmentLine(visit, enrolment)
  const isTaken = enrolment.endsAt !== undefined && enrolment.endsAt !== enrolment.ownEnd?.at
  if (startson === undefined || (isTaken && isInForce(enrolment))) return line
  return startson <= visit.today ? { ...line, since: startson } : { ...line, startson }
}

/** Everything that the person has or will have, in the order of the catalogue; `isShown` may limit it. */
export function liveLines(visit: Visit, isShown: (enrolment: Enrolment) => boolean = isLive): BenefitLine[] {
  const { user, terms } = visit
  const order = ({ benefit }: Enrolment) =>
    knownBenefit(terms, user, benefit)?.sortorder ?? Number.MAX_SAFE_INTEGER
  return user.enrolments
    .filter(isShown)
    .sort((a, b) => order(a) - order(b) || (a.benefit < b.benefit ? -1 : 1))
    .map(enrolment => standingLine(visit, enrolment))
}

/** The enrolment of a benefit that the person has or will have. */
export function liveEnrolment(user: User, benefit: string): Enrolment | undefined {
  return user.enrolments.find(one => one.benefit === benefit && isLive(one))
}

/** When benefits that a member chooses now can start: now, or with the membership if that is still to start. */
export function startsFrom({ user, now }: Pick<Visit, 'user' | 'now'>): Instant {
  return Math.max(now, user.offer?.since ?? now)
}

/** The last day of all benefits, if a cancel is planned. */
export function leavingOn(visit: Visit): IsoDate | undefined {
  const { user } = visit
  return user.cancel && hasPendingCancel(user) ? lastDayOf(visit, user.cancel.at) : undefined
}

/** An end of a benefit's own is shown as a warning only when it is this near, because an end by age may be decades away. */
const ENDS_SOON = 90 * DAY_MS

/** The status of a live enrolment. */
export function statusOf(visit: Visit, enrolment: Enrolment): BenefitStatus {
  const { startsAt, endsAt, ownEnd, state } = enrolment
  const leaves = visit.user.swap?.pairs.some(pair => pair.remove === enrolment.benefit) ?? false
  switch (state) {
    case 'enrolled':
      return { kind: 'enrolled', since: localDay(visit, startsAt) }
    case 'endscheduled':
      if (endsAt !== undefined && endsAt === ownEnd?.at && endsAt > visit.now + ENDS_SOON)
        return { kind: 'enrolled', since: localDay(visit, startsAt), until: lastDayOf(visit, endsAt) }
      return leaves && visit.user.swap
        ? { kind: 'swapout', on: lastDayOf(visit, visit.user.swap.at) }
        : { kind: 'ending', on: lastDayOf(visit, endsAt ?? visit.now) }
    case 'selected':
    case 'scheduled': {
      const kind = enrolment.pendingBy === 'swap' ? 'swapin' : 'scheduled'
      const end = endsAt ?? ownEnd?.at
      const until = end === undefined || end <= startsAt ? undefined : lastDayOf(visit, end)
      return { kind, from: localDay(visit, startsAt), until }
    }
    default:
      return { kind: 'actionrequired', dueon: dueDay(visit, enrolment) }
  }
}

/** The day before which the person must do what an enrolment waits for. */
export function dueDay(visit: Visit, enrolment: Enrolment): IsoDate | undefined {
  const at = waitsUntil(enrolment)
  return at === undefined ? undefined : localDay(visit, at)
}

/** The day of an instant in the partner's zone. */
export function localDay(visit: Visit, at: Instant): string {
  return dateAt(at, visit.partner.timezone)
}

/** The last day of cover that ends at an instant; the instant itself is not covered. */
export function lastDayOf(visit: Visit, at: Instant): string {
  return dateAt(at - 1, visit.partner.timezone)
}

/** The address of a benefit's icon. */
function iconOf(visit: Visit, benefit: Benefit): string {
  return `${visit.context.basePath}/${iconPathOf(benefit)}`
}

/** What the page must show about a benefit on this visit; `undefined` when there is nothing. */
function coverageOf(visit: Visit, benefit: Benefit): Coverage | undefined {
  const { locale } = visit
  const { insurer, waitingperiod, benefittype } = benefit
  const documents = documentsFor(visit, benefit.documents ?? [])
  if (!insurer && !waitingperiod && documents.length === 0) return undefined
  return {
    insurer: insurer && {
      name: insurer.name,
      licence: passageIn(insurer.licence, locale),
      ...(benefittype === 'discount' && { isdiscount: true }),
    },
    waiting: waitingperiod && {
      days: waitingperiod.days,
      text: waitingperiod.text && passageIn(waitingperiod.text, locale),
    },
    documents: documents.map(({ title, language, file }) => ({
      title: textIn(title, locale),
      language,
      address: `${visit.context.basePath}/files/${file}`,
    })),
  }
}

/** What a benefit costs while these are covered beside the person, who collects it and how. */
export function costOf(visit: Visit, benefit: Benefit, who?: Iterable<Relationship>): Cost {
  const { insurer } = benefit
  const { cents, per, taken } = worthOf(benefit, who).cost
  if (cents === 0) return { kind: 'nothing' }
  const by = taken?.by === 'insurer' ? (insurer?.name ?? '') : visit.partner.name
  return {
    kind: 'amount',
    amount: cents / 100,
    currency: 'USD',
    per,
    taken: taken && { by, how: textIn(taken.how, visit.locale) },
  }
}

/** The documents for this person's state, one of each title: in the page's language if it exists, else in English or Spanish. */
function documentsFor(
  { person, locale: own }: Visit,
  documents: readonly BenefitDocument[],
): readonly BenefitDocument[] {
  const state = person.state ?? person.address?.state
  const locale = own === 'es' ? 'es' : 'en'
  const byTitle = new Map<string, BenefitDocument>()
  for (const document of documents) {
    if (!isFor(document.states, state)) continue
    const known = byTitle.get(document.title.en)
    if (known === undefined || (known.language !== locale && document.language === locale))
      byTitle.set(document.title.en, document)
  }
  return [...byTitle.values()]
}

/**
 * If the person's state is unknown, documents for certain states are shown too: a document too many harms less than one too
 * few.
 */
function isFor(states: BenefitDocument['states'], state: string | undefined): boolean {
  if (states === undefined || state === undefined) return true
  return states.in ? states.in.includes(state) : !(states.notin ?? []).includes(state)
}

/**
 * An abbreviation at the end, such as "Dr.", "U.S.", "Ph.D." or "EE. UU.": a capitalized word of up to four letters, letters
 * with points, or one of the small words that stand before a name or a number. A real end that looks like one is no harm,
 * because two sentences then share a line; half a sentence may say something that is not so.
 */
const ABBREVIATION_AT_END =
  /(?:^|[^\p{L}.])(?:\p{Lu}\p{L}{0,3}|(?:\p{L}{1,2}\.)+\p{L}{1,2}|ej|vs|no|núm|approx|aprox|max|máx|min|mín)\.[ \u00a0]*$/u

const split = new WeakMap<Bilingual, Partial<Record<Language, readonly Passage[]>>>()

/** The sentences of a text, found once, because the texts of a catalogue never change. */
export function sentencesOf(text: Bilingual, locale: Language): readonly Passage[] {
  const known = split.get(text) ?? {}
  split.set(text, known)
  known[locale] ??= sentencesIn(text, locale).map(sentence => inLanguageOf(text, locale, sentence))
  return known[locale]
}

function sentencesIn(text: Bilingual, language: Language): readonly string[] {
  const sentences: string[] = []
  let begun = ''
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(
    textIn(text, language),
  )) {
    begun += segment
    if (ABBREVIATION_AT_END.test(begun)) continue
    sentences.push(begun.trim())
    begun = ''
  }
  return [...sentences, begun.trim()].filter(sentence => sentence !== '')
}
