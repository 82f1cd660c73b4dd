import { type CheckedBenefit as Benefit, checkTiers, type Refuse } from './check-tiers.ts'
import { AVAILABILITY_CODES } from './eligibility.ts'
import type { Problem } from './problem.ts'
import { repeatsIn } from './repeats.ts'
import { MAX_AGE } from './schema.ts'
import type { DeepPartial, WrittenCatalogue, WrittenRule } from './written.ts'
import type { YamlValue } from './yaml-value.ts'

type Written = DeepPartial<WrittenCatalogue>
type Offer = NonNullable<NonNullable<Written['offers']>[number]>
type Rules = readonly (DeepPartial<WrittenRule> | undefined)[]

/**
 * Mistakes that lie between values: values that contradict each other, and names of things that do not exist. Values that
 * are wrong by themselves are `undefined` here, because `checkForm` has taken them out.
 */
export function checkAcross(yaml: YamlValue): Problem[] {
  const problems: Problem[] = []
  const refuse: Refuse = (pointer, message) => problems.push({ ...yaml.positionOf(pointer), message })
  const written = (yaml.value ?? {}) as Written
  for (const [index, benefit = {}] of (written.benefits ?? []).entries())
    checkBenefit(benefit, `/benefits/${index}`, refuse)
  for (const [index, offer = {}] of (written.offers ?? []).entries())
    checkOffer(offer, `/offers/${index}`, refuse)
  checkNames(written, yaml, refuse)
  checkMentions(written, refuse)
  return problems
}

function checkBenefit(benefit: Benefit, at: string, refuse: Refuse): void {
  const { benefittype, amount, cost, documents = [], endsatage = MAX_AGE + 1, rules = [] } = benefit
  const isTiered = 'covers' in benefit || 'tiers' in benefit
  if (isTiered) checkTiers(benefit, at, refuse)
  else if (!('cost' in benefit))
    refuse(at, 'cost is missing; add cost: { cents: 0, per: month } or what it costs')
  if (amount && benefittype && benefittype !== 'dollar')
    refuse(
      `${at}/amount`,
      `belongs to benefits of type dollar only; delete it, as this one is of type ${benefittype}`,
    )
  if (!isTiered && !('amount' in benefit) && benefittype === 'dollar')
    refuse(
      at,
      'amount is missing; a benefit of type dollar needs what it pays, such as amount: { cents: 1000000 }',
    )
  if (cost?.taken && cost.cents === 0)
    refuse(`${at}/cost/taken`, 'belongs to a benefit that costs something; delete it')
  const first = benefit.tiers?.[0]
  const [priced, where] = first ? [first, `${at}/tiers/0`] : [benefit, at]
  if (priced.cost?.taken?.by === 'insurer' && !('insurer' in benefit))
    refuse(`${where}/cost/taken/by`, 'needs an insurer; add one to the benefit')
  if ('premium' in priced && !('insurer' in benefit))
    refuse(`${where}/premium`, 'needs an insurer who gets it; add one to the benefit')
  // Somebody who enrolled at `endsatage` or later would lose cover as soon as it begins.
  const oldest = Math.min(MAX_AGE, ...rules.map(rule => rule?.age?.max ?? MAX_AGE))
  if (oldest >= endsatage)
    refuse(
      `${at}/endsatage`,
      `people of ${endsatage} can still enroll; add an age rule with max: ${endsatage - 1} or less, or raise endsatage`,
    )
  // People could not tell two documents apart that have the same title, language and states.
  for (const { index } of repeatsIn(
    documents.map(one => JSON.stringify([one?.title?.en, one?.language, one?.states])),
  ))
    refuse(
      `${at}/documents/${index}`,
      'has the title, language and states of an earlier one; change one of the three',
    )
  checkRules(rules, at, refuse)
}

function checkOffer(offer: Offer, at: string, refuse: Refuse): void {
  const { fixed = [], selectable = [], slots = 0, availability: { from, until } = {}, rules = [] } = offer
  if (offer.fixed?.length === 0 && offer.selectable?.length === 0)
    refuse(at, 'has no benefits; name some in fixed or selectable')
  for (const [index, name] of selectable.entries())
    if (name !== undefined && fixed.includes(name))
      refuse(
        `${at}/selectable/${index}`,
        `"${name}" is fixed in this offer too; take it out of one of the two lists`,
      )
  const most = selectable.length
  if (offer.selectable && slots > most)
    refuse(
      `${at}/slots`,
      `${slots} slots for ${most} selectable benefits; write ${most} or less, or add benefits`,
    )
  if (from && until && from > until)
    refuse(`${at}/availability`, `from ${from} is after until ${until}; exchange the two`)
  checkRules(rules, at, refuse)
}

function checkRules(rules: Rules, at: string, refuse: Refuse): void {
  for (const [index, { code, age: { min = 0, max = MAX_AGE } = {} } = {}] of rules.entries()) {
    if (min > max)
      refuse(
        `${at}/rules/${index}/age`,
        `min ${min} is above max ${max}, so that nobody is admitted; exchange the two`,
      )
    if (code === AVAILABILITY_CODES.early || code === AVAILABILITY_CODES.late)
      refuse(`${at}/rules/${index}/code`, `"${code}" is a code of the service itself; choose another`)
  }
  for (const { value, index } of repeatsIn(rules.map(rule => rule?.code)))
    refuse(`${at}/rules/${index}/code`, `"${value}" stands in this list twice; delete one of the two`)
}

function checkNames({ benefits = [], offers = [] }: Written, yaml: YamlValue, refuse: Refuse): void {
  const pointerOf = (index: number) =>
    index < benefits.length ? `/benefits/${index}` : `/offers/${index - benefits.length}`
  const names = [...benefits.map(benefit => benefit?.name), ...offers.map(offer => offer?.offer)]
  for (const { value, index, earlier } of repeatsIn(names)) {
    const { path, line } = yaml.positionOf(pointerOf(earlier))
    refuse(
      pointerOf(index),
      `the name "${value}" is taken by ${path} in line ${line}; benefits and offers share one set of names, choose another`,
    )
  }
  for (const { value, index, earlier } of repeatsIn(offers.map(offer => offer?.rank)))
    refuse(
      `/offers/${index}`,
      `rank ${value} is the rank of "${offers[earlier]?.offer}" too; give each offer a rank of its own`,
    )
}

function checkMentions({ benefits = [], offers = [], insurers = [] }: Written, refuse: Refuse): void {
  const insurerCodes = insurers.map(one => one?.insurer)
  for (const { value, index } of repeatsIn(insurerCodes))
    refuse(`/insurers/${index}/insurer`, `"${value}" stands in this list twice; delete one of the two`)
  for (const [index, { insurer } = {}] of benefits.entries())
    if (typeof insurer === 'string' && !insurerCodes.includes(insurer))
      refuse(
        `/benefits/${index}/insurer`,
        `there is no insurer "${insurer}" in this file; correct the code or add the insurer`,
      )
  const rulesOf = new Map(benefits.map(benefit => [benefit?.name, benefit?.rules]))
  const known = { benefit: rulesOf, offer: new Set(offers.map(offer => offer?.offer)) }
  const refuseUnknown = (
    kind: 'benefit' | 'offer',
    at: string,
    names: readonly (string | undefined)[] = [],
  ) => {
    for (const [index, name] of names.entries())
      if (name !== undefined && !known[kind].has(name))
        refuse(
          `${at}/${index}`,
          `there is no ${kind} "${name}" in this file; correct the name or add the ${kind}`,
        )
  }
  for (const [index, benefit] of benefits.entries())
    for (const [nth, rule] of (benefit?.rules ?? []).entries())
      refuseUnknown('offer', `/benefits/${index}/rules/${nth}/offers/in`, rule?.offers?.in)
  for (const [index, { offer, fixed = [], selectable } = {}] of offers.entries()) {
    const at = `/offers/${index}`
    refuseUnknown('benefit', `${at}/fixed`, fixed)
    refuseUnknown('benefit', `${at}/selectable`, selectable)
    // A selectable benefit whose rules exclude this offer is shown to people with the reason. A fixed one would be left
    // out silently, so it is a mistake.
    for (const [nth, name] of fixed.entries()) {
      const closing = rulesOf.get(name)?.find(rule => rule?.offers?.in && !rule.offers.in.includes(offer))
      if (closing && offer !== undefined)
        refuse(
          `${at}/fixed/${nth}`,
          `the rule ${closing.code} of "${name}" does not admit the offer "${offer}"; add the offer to the rule or take the benefit out`,
        )
    }
  }
}
