import { isDeepStrictEqual } from 'node:util'
import type { Benefit, Catalogue } from './model.ts'
import type { ParsedCatalogue } from './parse.ts'
import type { Problem } from './problem.ts'

/**
 * Checks that a new catalogue does not reuse a name for something else: compared with every earlier version, a benefit
 * stays a benefit of its type, an offer stays an offer, and a version of a consent keeps its text. Returns the
 * problems, [] when there are none. Names may be left out, and ranks may move between offers.
 */
export function checkSuccession(
  next: Pick<ParsedCatalogue, 'catalogue' | 'positions'>,
  previous: readonly Catalogue[],
): Problem[] {
  const problems: Problem[] = []
  for (const [name, position] of next.positions) {
    const benefit = next.catalogue.benefits.get(name)
    const messages = previous.map(earlier => {
      if (benefit) return judgeBenefit(benefit, earlier)
      return earlier.benefits.has(name) && `"${name}" was a benefit in an earlier version; ${REMEDY}`
    })
    for (const message of new Set(messages)) if (message) problems.push({ ...position, message })
  }
  return problems
}

const REMEDY = 'a name is never used again for something else, so choose a new name'

function judgeBenefit(benefit: Benefit, earlier: Catalogue): string | undefined {
  const { name, benefittype, consent } = benefit
  if (earlier.offers.has(name)) return `"${name}" was an offer in an earlier version; ${REMEDY}`
  const known = earlier.benefits.get(name)
  if (known && known.benefittype !== benefittype)
    return `"${name}" was of type ${known.benefittype} in an earlier version and is ${benefittype} here; ${REMEDY}`
  if (
    consent &&
    known?.consent?.version === consent.version &&
    !isDeepStrictEqual(consent.text, known.consent.text)
  )
    return `the consent text of "${name}" has changed since version "${consent.version}" of it was published; give the new text a new version`
  return undefined
}
