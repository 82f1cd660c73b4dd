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
