import { type Benefit, textIn } from '../../../catalogue/model.ts'
import { type Html, html } from '../../../http/html.ts'
import { heldEnrolment, isHeld, isLive } from '../../../membership/rules/state.ts'
import { knownBenefit, offerOf } from '../../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import {
  cardOf,
  dueDay,
  leavingOn,
  liveEnrolment,
  startsFrom,
  statusOf,
  wantedElsewhere,
} from '../../steps/cards.ts'
import { saveAnswers } from '../../steps/change-own.ts'
import { askedFor, coverChoice, heldFacts, namingPath, readCover } from '../../steps/family.ts'
import { choosableByMember, isMissing, memberPaths } from '../../steps/member-choices.ts'
import { foundPlan, picksOf, plansFor, stepOf } from '../../steps/plans.ts'
import type { Posted, Step, Typed } from '../../steps/step.ts'
import { swapOptionsOf } from '../../steps/swap-options.ts'
import { isFaulty, type Parsed } from '../../views/faults.ts'
import { type Answers, errorOf, fault, form, inputId, primary, question } from '../../views/fields.ts'
import { dayText } from '../../views/format.ts'
import type { View } from '../../views/layout.ts'
import { leavingNotice, memberPathList } from '../../views/lists.ts'
import type { BenefitCard, BenefitStatus, CoverChoice, IsoDate, MemberPaths } from '../../views/parts.ts'
import { type Say, sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'
import { benefitRow, runningTotal } from './card.ts'

/** The benefits of a newcomer's plan. */
export const benefits: Step = {
  show: (visit, typed) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    const { offer, included, selectable, refused } = found
    const chosen = typed.posted?.getAll('benefit') ?? visit.draft.ticked ?? picksOf(visit, found)
    const focus = visit.deepLink?.productname
    const startsAt = visit.now
    const cover = askedCover(visit, typed)
    const shelf = {
      answers: { page: pageOf(visit, stepOf(visit, 'benefits')), errors: typed.errors },
      offername: textIn(offer.displayname, visit.locale),
      slots: Math.min(offer.slots, selectable.length),
      cards: [
        ...included.map(benefit =>
          cardOf(visit, benefit, { status: { kind: 'included' }, startsAt, cover: cover(benefit, true) }),
        ),
        ...selectable.map(benefit =>
          cardOf(visit, benefit, {
            status: { kind: 'available' },
            startsAt,
            selected: chosen.includes(benefit.name),
            cover: cover(benefit),
          }),
        ),
        ...refused.map(({ benefit, reasons }) =>
          cardOf(visit, benefit, { status: { kind: 'unavailable', reasons } }),
        ),
        ...wantedElsewhere(visit, offer),
      ],
      focus,
    }
    return benefitsView(shelf, plansFor(visit).plans.length > 1 ? 'plan' : 'details')
  },
  post: async (visit, form) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    const { offer, included, selectable } = found
    const asked = askedOf(visit, [...included, ...selectable])
    const aside = namingPath(form)
    if (aside) return leaveTicked(visit, form, { to: aside, asked })
    const picks = parseBenefits(form, {
      selectable: selectable.map(({ name }) => name),
      slots: offer.slots,
      required: included.length === 0,
    })
    return saveChoice(
      visit,
      picks,
      readCover(
        visit,
        form,
        takenOf(asked, [...included.map(({ name }) => name), ...form.getAll('benefit')]),
      ),
    )
  },
}

/** The benefits that a member has, and those that fit into free slots. */
export const memberBenefits: Step = {
  show: (visit, typed) => {
    const offer = offerOf(visit.terms, visit.user)
    if (!offer) return { to: 'overview' }
    const { selectable, waiting, free, slotless, refused, full } = choosableByMember(visit)
    const chosen =
      typed.posted?.getAll('benefit') ?? visit.draft.ticked ?? picksInMind(visit, selectable, waiting)
    const focus = visit.deepLink?.productname
    const paths = { ...memberPaths(visit), canadd: false }
    const startsAt = startsFrom(visit)
    const cover = askedCover(visit, typed)
    // By the boundary a pending change of plan may have taken a benefit out of reach.
    const swappable = paths.canswap ? (swapOptionsOf(visit)?.available ?? []) : []
    const held = visit.user.enrolments.filter(
      enrolment => isLive(enrolment) && !waiting.includes(enrolment.benefit),
    )
    const shelf = {
      answers: { page: pageOf(visit), errors: typed.errors },
      offername: textIn(offer.displayname, visit.locale),
      slots: free + slotless.length,
      waitingslots: waiting.length,
      cards: [
        ...held.flatMap(enrolment => {
          const benefit = knownBenefit(visit.terms, visit.user, enrolment.benefit)
          if (!benefit) return []
          const held = heldFacts(visit, enrolment)
          return [cardOf(visit, benefit, { status: statusOf(visit, enrolment), held, enrolment })]
        }),
        ...selectable.map(benefit => {
          const selected = chosen.includes(benefit.name)
          if (!waiting.includes(benefit.name))
            return cardOf(visit, benefit, {
              status: { kind: 'available' },
              startsAt,
              selected,
              cover: cover(benefit),
            })
          const live = liveEnrolment(visit.user, benefit.name)
          const dueon = live && dueDay(visit, live)
          const status = { kind: 'waiting', dueon } as const
          if (live && isHeld(live)) return cardOf(visit, benefit, { status, selected, cover: cover(benefit) })
          return cardOf(visit, benefit, { status, selected, held: live && heldFacts(visit, live) })
        }),
        ...refused.map(({ benefit, reasons }) =>
          cardOf(visit, benefit, { status: { kind: 'unavailable', reasons } }),
        ),
        ...full.map(benefit => {
          const swapto = swappable.includes(benefit)
            ? { swapto: `swap?in=${encodeURIComponent(benefit.name)}` }
            : {}
          return cardOf(visit, benefit, { status: { kind: 'full', ...swapto } })
        }),
        ...wantedElsewhere(visit, offer),
      ],
      focus,
      paths,
    }
    return benefitsView(shelf, 'overview', leavingOn(visit))
  },
  post: async (visit, form) => {
    const { selectable, free, slotless } = choosableByMember(visit)
    if (selectable.length === 0)
      return isMissing(visit, form.getAll('benefit')) ? 'conflict' : { to: 'overview' }
    const names = selectable.map(({ name }) => name)
    const asked = askedOf(
      visit,
      selectable.filter(({ name }) => !liveEnrolment(visit.user, name) || heldEnrolment(visit.user, name)),
    )
    const aside = namingPath(form)
    if (aside) return leaveTicked(visit, form, { to: aside, asked })
    const picks = parseBenefits(form, { selectable: names, slots: free, slotless, required: true })
    return saveChoice(visit, picks, readCover(visit, form, takenOf(asked, form.getAll('benefit'))))
  },
}

/** Asks on the card of a benefit who should be covered; the form shown again has what was chosen in it. */
function askedCover(visit: Visit, { posted, form }: Typed) {
  return ({ name }: Benefit, isincluded = false): CoverChoice | undefined => {
    const asked = askedFor(visit, name)
    const choice = asked && coverChoice(visit, asked, posted)
    return choice && { ...choice, isincluded, isfocus: form.get('at') === name && !posted }
  }
}

type Asked = Parameters<typeof readCover>[2]

function askedOf(visit: Visit, benefits: readonly Benefit[]): Asked {
  return benefits.flatMap(({ name }) => {
    const asked = askedFor(visit, name)
    return asked ? [{ ...asked, isChosen: true }] : []
  })
}

function takenOf(asked: Asked, taken: readonly string[]): Asked {
  return asked.map(one => ({ ...one, isChosen: taken.includes(one.benefit.name) }))
}

/** Keeps what is chosen as it is, right or wrong, while the person leaves to name somebody. */
function leaveTicked(
  visit: Visit,
  form: URLSearchParams,
  { to, asked }: { readonly to: string; readonly asked: Asked },
): Posted | Promise<Posted> {
  const cover = readCover(visit, form, takenOf(asked, []))
  const ticked = form.getAll('benefit')
  return isFaulty(cover) ? cover : saveAnswers(visit, { to }, draft => ({ ...draft, ...cover, ticked }))
}

/** Keeps benefits and people as answers, or refuses them with all that is wrong. */
function saveChoice(
  visit: Visit,
  picks: Parsed<readonly string[]>,
  cover: ReturnType<typeof readCover>,
): Posted | Promise<Posted> {
  const errors = [picks, cover].flatMap(parsed => (isFaulty(parsed) ? parsed.errors : []))
  if (isFaulty(picks) || isFaulty(cover)) return { errors }
  return saveAnswers(visit, { to: 'check' }, ({ ticked: _, ...draft }) => ({ ...draft, picks, ...cover }))
}

/** The preselected benefits: at first those that wait for an agreement, and the one that the person's link is about. */
function picksInMind(
  visit: Visit,
  selectable: readonly Benefit[],
  waiting: readonly string[],
): readonly string[] {
  const { deepLink, draft } = visit
  const wanted = deepLink?.redirectto === 'enrol' ? [deepLink.productname] : []
  return (draft.picks ?? [...waiting, ...wanted]).filter(name =>
    selectable.some(benefit => benefit.name === name),
  )
}

/** The benefits to read about and choose. */
type Shelf = {
  readonly answers: Answers
  readonly offername: string
  readonly slots: number
  /** How many of these are not optional: a member already has them, and they wait for the person. */
  readonly waitingslots?: number
  readonly cards: readonly BenefitCard[]
  /** The benefit that a deep link is about: shown first, and opened. */
  readonly focus: string | undefined
  /** What a member can do with these benefits; absent for a newcomer. */
  readonly paths?: MemberPaths
}

/** The benefits to read about and choose, in groups. `leaving`: the last day of all benefits, if they are about to end. */
function benefitsView(shelf: Shelf, back: string, leaving?: IsoDate): View {
  const { answers, cards, slots, focus, paths } = shelf
  const { page } = answers
  const say = sayIn(page)

  const groups = groupCards(cards)
  const askable = [...groups.waiting, ...groups.available]
  const choosing = slots > 0 && askable.length > 0
  const isAboutHeld = groups.yours.some(isOf(focus))
  const title =
    choosing && groups.available.length > 0 && !isAboutHeld ? say`Choose your benefits` : say`Your benefits`
  const chosen = askable.filter(card => card.selected)
  const starts = commonStart(choosing ? askable : groups.included)
  const lists = [
    { heading: say`These still need something from you`, found: groups.waiting, asks: true },
    { heading: say`Yours already`, found: groups.yours },
    { heading: say`Included for you`, found: groups.included },
    { heading: say`Available to you`, found: groups.available, asks: true },
    { heading: say`Part of your planned swap`, found: groups.swap },
    { heading: say`Not available`, found: groups.unavailable },
  ].filter(({ found, asks }) => found.length > 0 && (choosing || !asks))
  const all = html`<div class="groups">${lists
    .sort(firstWhere(({ found }) => found.some(isOf(focus))))
    .map(list => (list.asks ? choices(shelf, list) : cardList(shelf, list)))}</div>`
  return question('BENEFITS', answers, {
    title,
    wide: true,
    asks: choosing || !paths,
    back,
    body: html`${leaving !== undefined && leavingNotice(page, leaving, 'all')}
<p class="lead">${lead(shelf, choosing ? groups.available.length : 0)}${
      starts && ` ${say`Coverage starts on ${dayText(page, starts)}.`}`
    }</p>
${
  choosing || !paths
    ? form(answers, 'benefits', [
        all,
        html`<div class="bottom">${
          choosing &&
          html`<div class="sums">${count(page, chosen.length, slots)}${runningTotal(
            page,
            { included: paths ? [] : groups.included, chosen },
            paths !== undefined,
          )}</div>`
        }${primary(say`Continue`)}</div>`,
      ])
    : all
}
${paths && memberPathList(page, paths)}`,
  })
}

/** How many of `open` can be chosen. */
function lead(
  { answers, offername, slots, paths, waitingslots = 0, cards, focus }: Shelf,
  open: number,
): string {
  const say = sayIn(answers.page)
  const free = slots - waitingslots
  if (free > 0 && open > 0 && paths)
    return free === 1
      ? say`You can choose 1 more benefit with ${offername}.`
      : say`You can choose up to ${free} more benefits with ${offername}.`
  if (free > 0 && open > 0)
    return free === 1
      ? say`With ${offername} you can choose 1 benefit.`
      : say`With ${offername} you can choose up to ${free} benefits.`
  if (!paths) return say`These come with ${offername}. There is nothing to choose.`
  const { yours, waiting, swap, unavailable } = groupCards(cards)
  const hasAny = yours.length + waiting.length + swap.length > 0
  if (!hasAny) return say`Your plan is ${offername}. You have no benefits right now.`
  // What the person came for is listed first, and may be none of theirs.
  const isFirst = unavailable.some(isOf(focus))
  return isFirst ? say`Your plan is ${offername}.` : say`Your plan is ${offername}, with these benefits:`
}

/** Benefits under one heading. */
type CardGroup = { readonly heading: string; readonly found: readonly BenefitCard[] }

function cardList(shelf: Shelf, { heading, found }: CardGroup): Html {
  const shown = found.toSorted(firstWhere(isOf(shelf.focus))).map(card => benefitRow(shelf, card))
  return html`<section class="cards"><h2>${heading}</h2><div class="rows">${shown}</div></section>`
}

function choices(shelf: Shelf, { heading, found }: CardGroup): Html {
  const { focus, answers } = shelf
  const error = errorOf(answers, 'benefit')
  // The link of an error leads to the first box of the whole form.
  const first = firstShown(shelf)
  return html`<fieldset class="cards field${error && ' wrong'}"${error && html` aria-describedby="benefit-error"`}>
<legend><h2>${heading}</h2></legend>
${found.some(isOf(first)) && fault(answers, 'benefit', error)}
<div class="rows">${found
    .toSorted(firstWhere(isOf(focus)))
    .map(card =>
      benefitRow(shelf, card, card.name === first ? 'benefit' : inputId(`benefit-${card.name}`)),
    )}</div>
</fieldset>`
}

/** How many are chosen of how many, and what to do about too many; the page's script says it anew at each tick. */
function count(page: Page, chosen: number, slots: number): Html {
  const say = sayIn(page)

  const isOver = chosen > slots
  return html`<p class="count${isOver && ' over'}" data-count data-slots="${slots}" data-one="${countText(say, 1, slots)}"
data-many="${countText(say, 99, slots)}" data-full="${say`That is more than ${slots}. Uncheck some to continue.`}">${countText(say, chosen, slots)}${isOver && `. ${say`That is more than ${slots}. Uncheck some to continue.`}`}</p>`
}

/** The day on which all of these start, if it is one and the same. */
function commonStart(cards: readonly BenefitCard[]): string | undefined {
  const [start, ...others] = new Set(cards.map(card => card.startson))
  return others.length === 0 ? start : undefined
}

function firstShown({ cards, focus }: Shelf): string | undefined {
  const { waiting, available } = groupCards(cards)
  const isFirst = available.some(isOf(focus))
  const shown = isFirst || waiting.length === 0 ? available : waiting
  return (shown.find(isOf(focus)) ?? shown[0])?.name
}

/** Whether a card is that of this benefit, such as the one that a deep link is about. */
function isOf(name: string | undefined): (card: BenefitCard) => boolean {
  return card => card.name === name
}

/** The order in which what fits comes first, and everything else stays as it is. */
function firstWhere<One>(fits: (one: One) => boolean): (a: One, b: One) => number {
  return (a, b) => Number(fits(b)) - Number(fits(a))
}

/** The groups of the view, by the status of their cards. */
function groupCards(cards: readonly BenefitCard[]) {
  const of = (...kinds: readonly BenefitStatus['kind'][]) =>
    cards.filter(card => kinds.includes(card.status.kind))
  return {
    waiting: of('waiting'),
    yours: of('enrolled', 'scheduled', 'ending', 'actionrequired'),
    included: of('included'),
    available: of('available'),
    swap: of('swapin', 'swapout'),
    unavailable: of('full', 'otherplan', 'unavailable'),
  }
}

/**
 * The benefits that can be chosen, and how many of them fit, beside those that need no slot; `required` when the person would
 * otherwise have none.
 */
type Slots = {
  readonly selectable: readonly string[]
  readonly slots: number
  readonly slotless?: readonly string[]
  readonly required: boolean
}

/** Reads the chosen benefits, in the order shown. Refuses more than fit, none when one is required, and closed ones. */
export function parseBenefits(form: URLSearchParams, allowed: Slots): Parsed<readonly string[]> {
  const posted = form.getAll('benefit')
  const chosen = allowed.selectable.filter(name => posted.includes(name))
  if (posted.some(name => !allowed.selectable.includes(name)))
    return { errors: [{ input: 'benefit', code: 'benefit_unavailable' }] }
  const { slotless = [] } = allowed
  if (chosen.filter(name => !slotless.includes(name)).length > allowed.slots)
    return { errors: [{ input: 'benefit', code: 'benefits_many', count: allowed.slots }] }
  if (chosen.length === 0 && allowed.required)
    return { errors: [{ input: 'benefit', code: 'benefits_missing' }] }
  return chosen
}

function countText(say: Say, chosen: number, slots: number): string {
  return chosen === 1 ? say`1 of ${slots} chosen` : say`${chosen} of ${slots} chosen`
}
