import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The source of axe, to be run in a page. */
export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The violations that axe finds in the page, as lines of text. Details are computed only for violations. */
export const violationsOf = `axe.run({ runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations'] })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`

/** The same for what another scheme can make wrong where it changes colors and nothing else: at half the work. */
export const colorViolationsOf = violationsOf.replace(
  /runOnly: \[.*?\], /,
  "runOnly: ['color-contrast', 'link-in-text-block'], ",
)

/** The rest: what depends on where things stand, and not on how they look. */
const placeViolationsOf = violationsOf.replace(
  /runOnly: \[.*?\], /,
  "runOnly: ['target-size', 'scrollable-region-focusable'], ",
)

/**
 * What all other rules see of the styles: which elements are shown, in what colors, and whether their text is large for axe. A line of
 * each element.
 */
const appearance = `[...document.querySelectorAll('body, body *')].map(element => {
  const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight, textDecorationLine, textShadow } = getComputedStyle(element)
  const isShown = element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().right > 0
  const isLarge = parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24)
  return [isShown, color, backgroundColor, backgroundImage, opacity, isLarge, fontWeight, textDecorationLine, textShadow].join()
}).join(';')`

/**
 * Asks for violations in one of the windows and schemes in which a document is looked at. Where it appears there as it did in one
 * before, only the places of things can be wrong in another way, and only they are looked at: at less than half of the work.
 */
export function inThisLook(violations: string): string {
  return `(() => {
    const now = ${appearance}
    const before = document.documentElement.appearances ??= new Set()
    const isKnown = before.has(now)
    before.add(now)
    return isKnown ? ${placeViolationsOf} : ${violations}
  })()`
}
