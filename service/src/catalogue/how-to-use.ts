import { howToUse } from './model.ts'
import type { ParsedCatalogue } from './parse.ts'
import type { Problem } from './problem.ts'

/** The benefits of offers whose holders are not told how to use them; such a catalogue may be published. */
export function withoutHowToUse({ catalogue, positions }: ParsedCatalogue): Problem[] {
  const offered = new Set(
    [...catalogue.offers.values()].flatMap(({ fixed, selectable }) => [...fixed, ...selectable]),
  )
  return [...catalogue.benefits.values()].flatMap(benefit => {
    const position = positions.get(benefit.name)
    return offered.has(benefit.name) && !howToUse(benefit) && position
      ? [{ ...position, message: 'nobody is told how to use it; add howtouse to it or to its insurer' }]
      : []
  })
}
