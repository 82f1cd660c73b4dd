import type { RuleResult } from '../../catalogue/eligibility.ts'
import { type Benefit, type Offer, offerHas } from '../../catalogue/model.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Person } from '../../membership/rules/person.ts'
import { isHeld, isLive, type User } from '../../membership/rules/state.ts'
import {
  factsAt,
  judgeOfferAt,
  judgeOwnOffer,
  judgePick,
  offerOf,
  partnerOffer,
  partnerOffers,
  slotsTaken,
  type Terms,
} from '../../membership/rules/terms.ts'

/** A benefit or an offer, with the reasons why the user does not have it; without a reason it is open. */
export type Standing = {
  readonly kind: 'benefit' | 'offer'
  readonly name: string
  readonly displayname: string
  readonly isHeld: boolean
  /** The names of the open offers with which somebody who has none would get the benefit. */
  readonly within?: readonly string[]
  readonly against: readonly Objection[]
}

/** One reason why not, in the words of the catalogue, or in ours where no rule says it. */
export type Objection = {
  readonly code: string
  /** In a few words, which several objections may share. */
  readonly short: string
  readonly why: string
  /** What the rule needs, and what the person's data are; absent: no rule says it. */
  readonly needs?: string
  readonly looked?: string | undefined
}

type Now = {
  readonly user: User
  readonly terms: Terms
  readonly now: number
  /** The facts that rules use and that are unknown, as `unknownOf` returns them. */
  readonly unknown: readonly string[]
}

/**
 * For each benefit of the catalogue and each offer, whether the user has it, could take it, or which rules refuse it.
 * Unless birth date, state and ZIP code are all known, no rule about the person is tried, and the result says which is not.
 */
export function standings(of: Now): Standing[] {
  const { catalogue } = of.terms.today
  const benefits = [...catalogue.benefits.values()].sort((a, b) => a.sortorder - b.sortorder)
  const offers = [...catalogue.offers.values()].sort((a, b) => a.rank - b.rank)
  return [
    ...offers.map(offer => standingOfOffer(offer, of)),
    ...benefits.map((benefit): Standing => {
      const isOwn = of.user.enrolments.some(one => one.benefit === benefit.name && isHeld(one))
      return {
        kind: 'benefit',
        name: benefit.name,
        displayname: benefit.displayname.en,
        isHeld: isOwn,
        ...(isOwn ? { against: [] } : standingOfBenefit(benefit, of)),
      }
    }),
  ]
}

function standingOfOffer(offer: Offer, of: Now): Standing {
  const { user, terms } = of
  const isOwn = user.status === 'active' && user.offer?.name === offer.offer
  const about = {
    kind: 'offer',
    name: offer.offer,
    displayname: offer.displayname.en,
    isHeld: isOwn,
  } as const
  if (isOwn) return { ...about, against: againstOwnOffer(of) }
  if (partnerOffer(terms, offer.offer) === undefined)
    return {
      ...about,
      against: [{ code: 'not_offered', short: 'Not offered', why: 'The partner does not give this offer.' }],
    }
  const pending =
    user.pendingOffer?.name === offer.offer
      ? [{ code: 'pending', short: 'Coming already', why: 'The move to it is pending already.' }]
      : []
  return { ...about, against: [...pending, ...judged(of, () => judgeOfferAt(terms, offer, of.now).trace)] }
}

/** An offer is kept when its rules no longer admit the person, and the partner sees the condition `offerineligible`. */
function againstOwnOffer(of: Now): Objection[] {
  const { user, terms } = of
  if (user.offer?.admits !== false || !terms.residence()) return []
  const joined = { ...of, now: user.offer.since }
  return judged(joined, () => judgeOwnOffer(terms, user)?.trace ?? []).map(one => ({
    ...one,
    code: `kept ${one.code}`,
    short: 'Kept',
    why: `Kept, but it would not be given anew: ${one.why}`,
  }))
}

function standingOfBenefit(benefit: Benefit, of: Now): Pick<Standing, 'against' | 'within'> {
  const { user } = of
  if (user.status !== 'active') return standingOfNewcomer(benefit, of)
  const pending = user.enrolments.find(one => one.benefit === benefit.name && isLive(one))
  if (pending) {
    const what = pending.pendingBy === 'swap' ? 'swap' : 'offer change'
    return { against: [{ code: 'pending', short: 'Coming already', why: `A pending ${what} brings it.` }] }
  }
  return { against: againstMember(benefit, of) }
}

function againstMember(benefit: Benefit, of: Now): Objection[] {
  const { user, terms, now } = of
  const offer = offerOf(terms, user)
  if (!offer) return []
  if (!offerHas(offer, benefit.name))
    return [
      {
        code: 'not_of_the_offer',
        short: 'Not in the offer',
        why: `${offer.displayname.en} does not have it.`,
      },
    ]
  const against = judged(of, () => judgePick(terms, benefit, now, offer.offer).trace)
  const taken = slotsTaken(user)
  if (offer.selectable.includes(benefit.name) && taken >= offer.slots)
    against.push({
      code: 'no_free_slot',
      short: 'No free place',
      why: `${taken} of ${offer.slots} places for chosen benefits are taken.`,
    })
  return against
}

/** Who has no offer gets a benefit with one: so the offers that have it decide, and then its own rules. */
function standingOfNewcomer(benefit: Benefit, of: Now): Pick<Standing, 'against' | 'within'> {
  const { terms, now } = of
  const offers = partnerOffers(terms).filter(offer => offerHas(offer, benefit.name))
  if (offers.length === 0)
    return {
      against: [{ code: 'not_offered', short: 'Not offered', why: 'No offer of this partner has it.' }],
    }
  if (!terms.residence()) return { against: [notTried(of)] }
  const open = offers.filter(offer => judgeOfferAt(terms, offer, now).admitted)
  const within = open.filter(offer => judgePick(terms, benefit, now, offer.offer).admitted)
  if (within.length > 0) return { against: [], within: within.map(({ displayname }) => displayname.en) }
  const own = refusedByAll(
    (open.length > 0 ? open : offers).map(({ offer }) =>
      judged(of, () => judgePick(terms, benefit, now, offer).trace),
    ),
  )
  if (own.length > 0) return { against: own }
  const names = offers.map(({ displayname }) => displayname.en).join(', ')
  return {
    against: [
      {
        code: 'no_open_offer',
        short: 'With another offer',
        why: `Only with an offer that is not open to this person: ${names}.`,
      },
    ],
  }
}

/** What stands against a benefit with each of these offers; where they have nothing in common, with any of them. */
function refusedByAll(ofOffers: readonly (readonly Objection[])[]): Objection[] {
  const all = new Map(ofOffers.flat().map(one => [one.code, one]))
  const common = [...all.values()].filter(({ code }) =>
    ofOffers.every(own => own.some(one => one.code === code)),
  )
  // Where one offer has nothing against it, none of the others counts.
  return common.length > 0 || ofOffers.some(own => own.length === 0) ? common : [...all.values()]
}

/** Which of the facts that rules use are unknown. */
export function unknownOf(person: Person | undefined): string[] {
  return [
    person?.dob ? '' : 'birth date',
    person?.state || person?.address?.state ? '' : 'state',
    person?.zipcode || person?.address?.zipcode ? '' : 'ZIP code',
  ].filter(name => name !== '')
}

function notTried({ unknown }: Now): Objection {
  const what = `${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'}`
  return {
    code: 'not_tried',
    short: 'Not known yet',
    why: `${what} not known, so no rule was tried.`.replace(/^[a-z]/, first => first.toUpperCase()),
  }
}

/** What a verdict says against it; nothing is tried while the facts of the person are not all known. */
function judged(of: Now, trace: () => readonly RuleResult[]): Objection[] {
  if (!of.terms.residence()) return [notTried(of)]
  return trace()
    .filter(result => !result.passed)
    .map(result => ({
      code: result.code,
      short: result.short,
      why: result.text.en,
      needs: result.needs,
      looked: lookedAt(result, of),
    }))
}

/** The data of the person that a rule used. */
function lookedAt({ kind }: RuleResult, { terms, now }: Pick<Now, 'terms' | 'now'>): string | undefined {
  const facts = factsAt(terms, now, undefined)
  if (kind === 'age') return `is ${facts.age}`
  if (kind === 'states') return `lives in ${facts.state}`
  if (kind === 'zips') return `lives in ${facts.zipcode}`
  return undefined
}

/** What is closed to the user and why, and below that what is open, with which offer. */
export function whyNot(all: readonly Standing[], isPersonShown: boolean): Slot {
  const shut = all.filter(one => one.against.length > 0)
  const open = all.filter(one => isOpen(one) && one.within === undefined)
  const offers = new Map<string, string[]>()
  for (const { displayname, within = [] } of all)
    for (const offer of within) offers.set(offer, [...(offers.get(offer) ?? []), displayname])
  return html`${
    shut.length === 0
      ? html`<p class="hint">Nothing is closed to this person.</p>`
      : html`<ul class="rules">${grouped(shut).map(group => groupItem(group, isPersonShown))}</ul>`
  }
${
  open.length > 0 &&
  html`<p class="hint">Open to this person: ${open.map(({ displayname }) => displayname).join(', ')}.</p>`
}
${[...offers].map(([offer, benefits]) => html`<p class="hint">With ${offer}: ${benefits.join(', ')}.</p>`)}`
}

/** Whether the user could take it now, or once an offer is taken. */
export function isOpen({ isHeld, against }: Standing): boolean {
  return !isHeld && against.length === 0
}

type Closed = Objection & { readonly of: string }

/** What is closed for the same short reason, together, the longest list first. */
function grouped(
  shut: readonly Standing[],
): readonly (readonly [short: string, closed: readonly Closed[]])[] {
  const groups = new Map<string, Closed[]>()
  for (const { displayname, against } of shut)
    for (const one of against)
      groups.set(one.short, [...(groups.get(one.short) ?? []), { ...one, of: displayname }])
  return [...groups].sort(([, a], [, b]) => b.length - a.length)
}

/** The catalogue's own sentences; below them, once the person's data may be seen, what was needed and found. */
function groupItem([short, closed]: ReturnType<typeof grouped>[number], isPersonShown: boolean): Slot {
  const sentences = new Map<string, string[]>()
  for (const { why, of } of closed) sentences.set(why, [...(sentences.get(why) ?? []), of])
  const facts = new Set(
    closed.flatMap(({ needs, looked }) =>
      needs === undefined || looked === undefined ? [] : [`${needs}, ${looked}`],
    ),
  )
  const names = closed.map(({ of }) => of).join(', ')
  const codes = closed.map(({ of, code }) => html`${of} <code>${code}</code> `)
  return html`<li><p><strong>${short}${closed.length > 1 && ` (${closed.length})`}:</strong> ${names}</p>
${[...sentences].map(
  ([why, names]) =>
    html`<p>${why}${
      sentences.size > 1 && names.length > 1 && html` <span class="hint">${names.join(', ')}</span>`
    }</p>`,
)}
${
  isPersonShown && facts.size > 0 && html`<p class="hint">${[...facts].join('; ')}</p>`
}<details><summary>Rules</summary><p class="hint">${codes}</p></details></li>`
}
