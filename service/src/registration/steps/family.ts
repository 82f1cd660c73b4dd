/** Whom a benefit may cover, will cover and covers beside the person (contract §19), as the page asks and shows it. */
import type { NamedFamily } from '../../accounts/lifecycle.ts'
import type { Instant } from '../../calendar/calendar.ts'
import { type Benefit, type Relationship, textIn } from '../../catalogue/model.ts'
import { tierMemberOf } from '../../catalogue/tiers.ts'
import { nextBoundary } from '../../membership/rules/boundary.ts'
import { openCover, pendingPeople } from '../../membership/rules/cover.ts'
import type { Dependant } from '../../membership/rules/dependant.ts'
import { brokenRules, type CoverRule, coveredNow } from '../../membership/rules/family.ts'
import {
  type Enrolment,
  hasPendingCancel,
  heldEnrolment,
  isHeld,
  isInForce,
} from '../../membership/rules/state.ts'
import { openBenefit } from '../../membership/rules/terms.ts'
import type { Draft } from '../session/person.ts'
import type { Visit } from '../session/visit.ts'
import type { FieldError, Parsed } from '../views/faults.ts'
import type { CoverChoice, CoverPerson, HeldCover } from '../views/parts.ts'
import { costOf, familyFacts, fullName, idsOf, namedPeople, startsFrom } from './cards.ts'

/** Whom a benefit is to cover: by the answers so far, else by what is pending, else those whom it covers. */
export function choiceFor({ draft, user }: Pick<Visit, 'draft' | 'user'>, name: string): readonly string[] {
  const held = heldEnrolment(user, name)
  const present = held && idsOf(held.pendingCover ? pendingPeople(held) : coveredNow(held))
  const swapped = user.swap?.pairs.find(({ add }) => add === name)?.covered
  return draft.covered?.[name] ?? present ?? swapped ?? []
}

/** A benefit, and from when on its people would be covered. */
export type Asked = { readonly benefit: Benefit; readonly at: Instant }

/** The terms of a benefit by which its people are chosen, and from when on; `undefined`: it covers nobody else. */
export function askedFor(
  { user, terms, now }: Pick<Visit, 'user' | 'terms' | 'now'>,
  name: string,
): Asked | undefined {
  const held = heldEnrolment(user, name)
  const benefit = held ? openCover(held, terms) : openBenefit(terms, name)
  if (!benefit?.tiers) return undefined
  if (held && isInForce(held)) return { benefit, at: nextBoundary(user, now, terms) }
  return { benefit, at: held ? Math.max(now, held.startsAt) : startsFrom({ user, now }) }
}

/** The answers with somebody just named added to the people of a benefit, if it may cover them beside the others. */
export function alsoCovering(visit: Visit, asked: Asked, id: string): Pick<Draft, 'covered'> {
  const { benefit } = asked
  const chosen = [...choiceFor(visit, benefit.name), id]
  const people = namedPeople(visit).filter(({ dependantid }) => chosen.includes(dependantid))
  const isRefused = rulesBroken(visit, asked, people).has(id)
  return isRefused ? {} : { covered: { ...visit.draft.covered, [benefit.name]: chosen } }
}

/** Those of the people chosen whom the rules still allow. */
export function coveredBy(visit: Visit, { benefit, at }: Asked): readonly Dependant[] {
  const chosen = choiceFor(visit, benefit.name)
  const people = namedPeople(visit).filter(({ dependantid }) => chosen.includes(dependantid))
  const broken = rulesBroken(visit, { benefit, at }, people)
  return people.filter(({ dependantid }) => !broken.has(dependantid))
}

/** All people named, each with those of these benefits that are to cover them; `undefined`: nobody is named. */
export function familyOf(visit: Visit, benefits: readonly Benefit[], at: Instant): NamedFamily[] | undefined {
  const people = namedPeople(visit)
  if (people.length === 0) return undefined
  const covered = benefits.map(benefit => ({ benefit, people: coveredBy(visit, { benefit, at }) }))
  return people.map(dependant => ({
    dependant,
    benefits: covered.filter(one => one.people.includes(dependant)).map(({ benefit }) => benefit.name),
  }))
}

/** The question "Who should be covered?" of a benefit; `undefined`: it covers nobody else. `posted`: a form with answers. */
export function coverChoice(
  visit: Visit,
  { benefit, at }: Asked,
  posted?: URLSearchParams,
): CoverChoice | undefined {
  const { covers } = benefit
  if (!covers || !benefit.tiers) return undefined
  const chosen = posted?.getAll(inputOf(benefit)) ?? choiceFor(visit, benefit.name)
  const people = namedPeople(visit).map((one): CoverPerson => {
    const { dependantid, relationship } = one
    return {
      id: dependantid,
      name: fullName(one),
      relationship,
      bit: bitOf(relationship),
      rule: rulesBroken(visit, { benefit, at }, [one]).get(dependantid),
      ischosen: chosen.includes(dependantid),
    }
  })
  const spouses = (['spouse', 'domesticpartner'] as const).filter(one => covers[one])
  const kinds = [...spouses.slice(0, 1), ...(covers.child ? (['child'] as const) : [])]
  const priced = people.filter(({ ischosen, rule }) => ischosen && !rule)
  return {
    benefit: benefit.name,
    displayname: textIn(benefit.displayname, visit.locale),
    prices: [0, 1, 2, 3].map(bits => {
      const who = kinds.filter(kind => bits & bitOf(kind))
      return sumOf(who) === bits ? costOf(visit, benefit, who) : undefined
    }),
    spouses,
    maxage: covers.child?.maxage,
    people,
    cost: costOf(
      visit,
      benefit,
      priced.map(({ relationship }) => relationship),
    ),
    ismore: people.length < MOST_DEPENDANTS,
  }
}

/** As what a tier counts somebody: one bit each, so that the prices of a choice are a list. */
function bitOf(relationship: Relationship): number {
  return tierMemberOf(relationship) === 'spouse' ? 1 : 2
}

function sumOf(who: readonly Relationship[]): number {
  return who.reduce((sum, one) => sum + bitOf(one), 0)
}

/** Where a button leads that names or changes somebody beside the people of a benefit; `undefined`: none was pressed. */
export function namingPath(form: URLSearchParams): string | undefined {
  const [benefit = '', person] = (form.get('edit') ?? form.get('add') ?? '').split(' ')
  if (!/^[a-z0-9]{2,32}$/.test(benefit)) return undefined
  const out = form.get('out')
  const query = new URLSearchParams({ ...(person && { person }), ...(out !== null && { out }) })
  return `family/${benefit}${query.size > 0 ? `?${query}` : ''}`
}

/** How many people can be named (contract §19). */
const MOST_DEPENDANTS = 20

/** Reads who is to be covered by these benefits; of one that is not chosen (`isChosen`) the answer is kept as it is. */
export function readCover(
  visit: Visit,
  form: URLSearchParams,
  asked: readonly (Asked & { readonly isChosen: boolean })[],
): Parsed<Pick<Draft, 'covered'>> {
  const errors: FieldError[] = []
  const covered: Record<string, readonly string[]> = { ...visit.draft.covered }
  for (const { benefit, at, isChosen } of asked) {
    if (!benefit.tiers) continue
    const posted = form.getAll(inputOf(benefit))
    const people = namedPeople(visit).filter(({ dependantid }) => posted.includes(dependantid))
    if (people.length > 0 || choiceFor(visit, benefit.name).length > 0)
      covered[benefit.name] = people.map(({ dependantid }) => dependantid)
    const [rule] = isChosen ? rulesBroken(visit, { benefit, at }, people).values() : []
    if (rule)
      errors.push({
        input: inputOf(benefit),
        about: textIn(benefit.displayname, visit.locale),
        ...faultOf(rule, benefit.covers?.child?.most),
      })
  }
  if (errors.length > 0) return { errors }
  return Object.keys(covered).length > 0 ? { covered } : {}
}

function faultOf(rule: CoverRule, most: number | undefined): Pick<FieldError, 'code' | 'count'> {
  if (rule === 'one_spouse') return { code: 'cover_one_spouse' }
  return rule === 'too_many_children' && most !== undefined
    ? { code: 'cover_many', count: most }
    : { code: 'cover_refused' }
}

/** The name under which the people of a benefit are posted. */
function inputOf({ name }: Benefit): `cover.${string}` {
  return `cover.${name}`
}

/** The age of those who are covered already counts no more. */
function rulesBroken(
  { user, terms }: Visit,
  { benefit, at }: Asked,
  people: readonly Dependant[],
): ReadonlyMap<string, CoverRule> {
  const held = heldEnrolment(user, benefit.name)
  const covered = held ? idsOf(coveredNow(held)) : []
  const candidates = people.map(one => ({ ...one, isCovered: covered.includes(one.dependantid) }))
  return brokenRules(benefit, candidates, at, terms)
}

/** Whether an enrolment has people to change: of what waits for the person they are chosen with the agreement. */
export function isChangeable(enrolment: Enrolment): boolean {
  return isHeld(enrolment) && enrolment.state !== 'actionrequired'
}

/** The benefits of a member whose people can be changed. */
export function openCovers({ user, terms }: Pick<Visit, 'user' | 'terms'>): readonly Benefit[] {
  if (hasPendingCancel(user)) return []
  return user.enrolments.filter(isChangeable).flatMap(one => openCover(one, terms) ?? [])
}

/** Whom an enrolment covers, for its card; `undefined`: it covers the member alone, and always will. */
export function heldFacts(visit: Visit, enrolment: Enrolment): HeldCover | undefined {
  const facts = familyFacts(visit, enrolment)
  const ischangeable = openCovers(visit).some(({ name }) => name === enrolment.benefit)
  return facts.covered || facts.coverlater || ischangeable ? { ...facts, ischangeable } : undefined
}
