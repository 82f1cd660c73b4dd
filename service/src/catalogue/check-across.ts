import { AVAILABILITY_CODES } from './eligibility.ts'
import { MAX_AGE } from './model.ts'
import type { Problem } from './problem.ts'
import { repeatsIn } from './repeats.ts'
import type { DeepPartial, WrittenCatalogue, WrittenRule } from './written.ts'
import type { Path, YamlValue } from './yaml-value.ts'

type Refuse = (path: Path, message: string) => void
type Written = DeepPartial<WrittenCatalogue>
type Benefit = NonNullable<NonNullable<Written['benefits']>[number]>
type Offer = NonNullable<NonNullable<Written['offers']>[number]>
type Rules = readonly (DeepPartial<WrittenRule> | undefined)[]

/**
 * Mistakes that lie between values: values that contradict each other, and names of things that do not exist. Values that
 * are wrong by themselves are `undefined` here, because `checkForm` has taken them out.
 */
export function checkAcross(yaml: YamlValue): Problem[] {
  const problems: Problem[] = []
  const refuse: Refuse = (path, message) => problems.push({ ...yaml.positionOf(path), message })
  const written = (yaml.value ?? {}) as Written
  for (const [index, benefit = {}] of (written.benefits ?? []).entries())
    checkBenefit(benefit, (path, message) => refuse(['benefits', index, ...path], message))
  for (const [index, offer = {}] of (written.offers ?? []).entries())
    checkOffer(offer, (path, message) => refuse(['offers', index, ...path], message))
  checkNames(written, yaml, refuse)
  checkMentions(written, refuse)
  return problems
}

function checkBenefit(benefit: Benefit, refuse: Refuse): void {
  const { benefittype, amount, cost, documents = [], endsatage = MAX_AGE + 1, rules = [] } = benefit
  if (amount && benefittype && benefittype !== 'dollar')
    refuse(
      ['amount'],
      `belongs to benefits of type dollar only; delete it, as this one is of type ${benefittype}`,
    )
  if (!('amount' in benefit) && benefittype === 'dollar')
    refuse(
      [],
      'amount is missing; a benefit of type dollar needs what it pays, such as amount: { cents: 1000000 }',
    )
  if (cost?.taken && cost.cents === 0)
    refuse(['cost', 'taken'], 'belongs to a benefit that costs something; delete it')
  if (cost?.taken?.by === 'insurer' && !('insurer' in benefit))
    refuse(['cost', 'taken', 'by'], 'needs an insurer; add one to the benefit')
  // Somebody who enrolled at `endsatage` or later would lose cover as soon as it begins.
  const oldest = Math.min(MAX_AGE, ...rules.map(rule => rule?.age?.max ?? MAX_AGE))
  if (oldest >= endsatage)
    refuse(
      ['endsatage'],
      `people of ${endsatage} can still enroll; add an age rule with max: ${endsatage - 1} or less, or raise endsatage`,
    )
  // People could not tell two documents apart that have the same title, language and states.
  for (const { index } of repeatsIn(
    documents.map(one => JSON.stringify([one?.title?.en, one?.language, one?.states])),
  ))
    refuse(
      ['documents', index],
      'has the title, language and states of an earlier one; change one of the three',
    )
  checkRules(rules, refuse)
}

function checkOffer(offer: Offer, refuse: Refuse): void {
  const { fixed = [], selectable = [], slots = 0, availability: { from, until } = {}, rules = [] } = offer
  if (offer.fixed?.length === 0 && offer.selectable?.length === 0)
    refuse([], 'has no benefits; name some in fixed or selectable')
  for (const [index, name] of selectable.entries())
    if (name !== undefined && fixed.includes(name))
      refuse(
        ['selectable', index],
        `"${name}" is fixed in this offer too; take it out of one of the two lists`,
      )
  if (offer.selectable && slots > selectable.length) {
    const most = selectable.length
    refuse(
      ['slots'],
      `${slots} slots for ${most} selectable benefits; write ${most} or less, or add benefits`,
    )
  }
  if (from && until && from > until)
    refuse(['availability'], `from ${from} is after until ${until}; exchange the two`)
  checkRules(rules, refuse)
}

function checkRules(rules: Rules, refuse: Refuse): void {
  for (const [index, { code, age: { min = 0, max = MAX_AGE } = {} } = {}] of rules.entries()) {
    if (min > max)
      refuse(
        ['rules', index, 'age'],
        `min ${min} is above max ${max}, so that nobody is admitted; exchange the two`,
      )
    if (code === AVAILABILITY_CODES.early || code === AVAILABILITY_CODES.late)
      refuse(['rules', index, 'code'], `"${code}" is a code of the service itself; choose another`)
  }
  for (const { value, index } of repeatsIn(rules.map(rule => rule?.code)))
    refuse(['rules', index, 'code'], `"${value}" stands in this list twice; delete one of the two`)
}

function checkNames({ benefits = [], offers = [] }: Written, yaml: YamlValue, refuse: Refuse): void {
  const pathOf = (index: number) =>
    index < benefits.length ? ['benefits', index] : ['offers', index - benefits.length]
  const names = [...benefits.map(benefit => benefit?.name), ...offers.map(offer => offer?.offer)]
  for (const { value, index, earlier } of repeatsIn(names)) {
    const { path, line } = yaml.positionOf(pathOf(earlier))
    refuse(
      pathOf(index),
      `the name "${value}" is taken by ${path} in line ${line}; benefits and offers share one set of names, choose another`,
    )
  }
  for (const { value, index, earlier } of repeatsIn(offers.map(offer => offer?.rank)))
    refuse(
      ['offers', index],
      `rank ${value} is the rank of "${offers[earlier]?.offer}" too; give each offer a rank of its own`,
    )
}

function checkMentions({ benefits = [], offers = [] }: Written, refuse: Refuse): void {
  const known = {
    benefit: new Map(benefits.map(benefit => [benefit?.name, benefit?.rules])),
    offer: new Map(offers.map(offer => [offer?.offer, undefined])),
  }
  const refuseUnknown = (
    kind: 'benefit' | 'offer',
    path: Path,
    names: readonly (string | undefined)[] = [],
  ) => {
    for (const [index, name] of names.entries())
      if (name !== undefined && !known[kind].has(name))
        refuse(
          [...path, index],
          `there is no ${kind} "${name}" in this file; correct the name or add the ${kind}`,
        )
  }
  for (const [index, benefit] of benefits.entries())
    for (const [nth, rule] of (benefit?.rules ?? []).entries())
      refuseUnknown('offer', ['benefits', index, 'rules', nth, 'offers', 'in'], rule?.offers?.in)
  for (const [index, offer] of offers.entries()) {
    refuseUnknown('benefit', ['offers', index, 'fixed'], offer?.fixed)
    refuseUnknown('benefit', ['offers', index, 'selectable'], offer?.selectable)
    // A selectable benefit whose rules exclude this offer is shown to people with the reason. A fixed one would be left
    // out silently, so it is a mistake.
    for (const [nth, name] of (offer?.fixed ?? []).entries()) {
      const closing = known.benefit
        .get(name)
        ?.find(rule => rule?.offers?.in && !rule.offers.in.includes(offer?.offer))
      if (closing && offer?.offer !== undefined)
        refuse(
          ['offers', index, 'fixed', nth],
          `the rule ${closing.code} of "${name}" does not admit the offer "${offer.offer}"; add the offer to the rule or take the benefit out`,
        )
    }
  }
}
