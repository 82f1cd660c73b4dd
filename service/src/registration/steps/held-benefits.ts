import type { Benefit } from '../../catalogue/model.ts'
import { insurerStateOf } from '../../membership/records/insurer-lines.ts'
import { howToUseToday, usableUntil } from '../../membership/rules/how-to-use.ts'
import { type Enrolment, isInForce, isLive, lastClosed } from '../../membership/rules/state.ts'
import { knownBenefit } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { HeldBenefit, HowToUseWords } from '../views/parts.ts'
import { passageIn } from '../views/say.ts'
import { cardOf, lastDayOf, localDay } from './cards.ts'

/**
 * The benefits that are in force, and those that ended lately enough to be used for what happened before, in the order of the
 * catalogue.
 */
export async function heldBenefitsOf(visit: Visit): Promise<readonly HeldBenefit[]> {
  const { user } = visit
  const memberIds = await memberIdsOf(visit)
  const held = user.enrolments.filter(isInForce)
  const live = new Set(user.enrolments.filter(isLive).map(({ benefit }) => benefit))
  const others = new Set(user.enrolments.map(({ benefit }) => benefit).filter(name => !live.has(name)))
  const ended = [...others].flatMap(name => lastClosed(user, name) ?? [])
  return [...held, ...ended]
    .flatMap(enrolment => heldBenefit(visit, enrolment) ?? [])
    .sort((a, b) => a.sortorder - b.sortorder)
    .map(({ sortorder: _, ...benefit }) => ({ ...benefit, memberid: memberIds.get(benefit.name) }))
}

/** The member numbers that insurers gave this person, by benefit. */
export async function memberIdsOf({ context, partner, user }: Visit): Promise<ReadonlyMap<string, string>> {
  const lines = await context.reader.insurerLines(partner, user)
  return new Map(
    [...new Set(lines.map(({ benefit }) => benefit))]
      .map(benefit => [benefit, insurerStateOf(lines, benefit).memberId] as const)
      .filter(([, memberId]) => memberId !== ''),
  )
}

function heldBenefit(visit: Visit, enrolment: Enrolment): (HeldBenefit & { sortorder: number }) | undefined {
  const { terms, user, deepLink } = visit
  const name = enrolment.benefit
  // What is held keeps the terms under which it began.
  const benefit = terms.version(enrolment.version).benefits.get(name) ?? knownBenefit(terms, user, name)
  if (!benefit) return undefined
  const howtouse = useOf(visit, benefit)
  const ended = endOf(visit, enrolment, benefit)
  if (!isInForce(enrolment) && !(howtouse && ended)) return undefined
  const { displayname, pays, coverage } = cardOf(visit, benefit, { status: { kind: 'included' } })
  const isOpen = deepLink?.redirectto === 'howtouse' && deepLink.productname === name
  return { name, displayname, pays, coverage, howtouse, ended, isOpen, sortorder: benefit.sortorder }
}

/** How a benefit is used, in the language of the page. */
export function useOf({ terms, locale }: Visit, benefit: Benefit): HowToUseWords | undefined {
  const use = howToUseToday(terms, benefit)
  return use && { text: passageIn(use.text, locale), phone: use.phone, url: use.url, email: use.email }
}

function endOf(visit: Visit, enrolment: Enrolment, benefit: Benefit): HeldBenefit['ended'] {
  const untilAt = usableUntil(visit.terms, enrolment, benefit)
  if (untilAt === undefined || enrolment.endsAt === undefined || visit.now >= untilAt) return undefined
  return { on: lastDayOf(visit, enrolment.endsAt), until: localDay(visit, untilAt - 1) }
}
