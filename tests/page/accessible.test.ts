// @whole
// @slow

import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { DoneView } from '../../service/src/registration/screens/done/done.ts'
import type { LinkEndedView } from '../../service/src/registration/screens/ended.ts'
import type { ProblemView } from '../../service/src/registration/screens/problem.ts'
import { renderPage, type View } from '../../service/src/registration/screens.ts'
import { detailsGroups } from '../../service/src/registration/views/details.ts'
import type { BenefitStatus } from '../../service/src/registration/views/parts.ts'
import { forAllTests } from '../for-all-tests.ts'
import { everydayOr, isLong, wholeRunTest } from '../long.ts'
import { axe, colorViolationsOf, inThisLook, violationsOf } from './axe.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { examples } from './fixtures/examples.ts'
import { iconOf } from './fixtures/parts.ts'
import type { Example } from './fixtures/scene.ts'
import { type Rig, startRig } from './rig.ts'
import { openStage } from './show.ts'

/**
 * The looks in which each view is drawn. The dark scheme only changes colors, as complete-look.test.ts shows, so one language
 * and axe's rules about colors are enough there. Spanish, which has the longest words, is drawn in the narrowest window. The
 * other windows of both are left to a long run.
 */
const looksOf: Readonly<Record<'en' | 'es', readonly string[]>> = {
  en: ['light 1280', 'dark 320', ...(isLong ? ['light 320', 'light 768', 'dark 768', 'dark 1280'] : [])],
  es: ['light 320', ...(isLong ? ['light 768', 'light 1280'] : [])],
}
/** The everyday run takes Spanish alone. */
const languages = everydayOr<readonly ('en' | 'es')[]>(['es'], ['en', 'es'])

describeInBrowser('every view', () => {
  const rig = forAllTests(startRig)
  const browser = forAllTests(launchBrowser)

  test.each(languages)(
    'in %s: no fault of axe, no sideways scroll, targets of 44 px, in each of its looks',
    async language => {
      const looks = everydayOr<readonly string[]>(looksOf[language].slice(0, 1), looksOf[language])
      const context = await browser.newContext({ reducedMotion: 'reduce', bypassCSP: true })
      const page = await context.newPage()
      const stage = await openStage(page, rig)
      await page.evaluate(axe)
      const faults: string[] = []
      for (const example of both(language, rig)) {
        // Drawn once, and looked at in each: the style sheet alone makes the difference.
        await stage.show(example)
        for (const look of looks) {
          const [colorScheme, width] = look.split(' ') as ['light' | 'dark', string]
          await page.emulateMedia({ colorScheme })
          // So tall that the bar of a phone floats over no other target.
          await page.setViewportSize({ width: Number(width), height: 5000 })
          const rules = inThisLook(colorScheme === 'dark' ? colorViolationsOf : violationsOf)
          const found = [
            ...(await page.evaluate<readonly string[]>(rules)),
            ...(await page.evaluate<readonly string[]>(faultsOfSize)),
          ]
          faults.push(...found.map(fault => `${look} ${example.name} (${example.view.page.shell}): ${fault}`))
        }
      }
      expect(faults).toEqual([])
      await context.close()
    },
  )

  wholeRunTest.each(isLong ? (['light', 'dark'] as const) : (['dark'] as const))(
    'is whole in forced colours, %s',
    async colorScheme => {
      const context = await browser.newContext({
        colorScheme,
        forcedColors: 'active',
        viewport: { width: 320, height: 720 },
      })
      const page = await context.newPage()
      const stage = await openStage(page, rig)
      for (const example of examples('en', rig.built)) {
        await stage.show(example)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(await page.evaluate<readonly string[]>(buttonsWithoutBorder)).toEqual([])
      }
      await context.close()
    },
  )

  test('is among the examples, in every state', () => {
    const seen = (states: (view: View) => readonly string[]) =>
      new Set(both('en', rig).flatMap(({ view }) => states(view)))
    expect(seen(({ view }) => [view])).toEqual(new Set(Object.keys(views)))
    expect(seen(view => (view.view === 'LINK_ENDED' ? [view.kind] : []))).toEqual(new Set(Object.keys(ends)))
    expect(seen(view => (view.view === 'DONE' ? [view.change.what] : []))).toEqual(
      new Set(Object.keys(doneChanges)),
    )
    expect(seen(view => (view.view === 'DONE' ? [view.outcome] : []))).toEqual(new Set(Object.keys(outcomes)))
    expect(seen(view => (view.view === 'PROBLEM' ? [view.kind] : []))).toEqual(new Set(Object.keys(problems)))
    expect(seen(view => (view.view === 'DETAILS_EDIT' ? [view.group] : []))).toEqual(new Set(detailsGroups))
    expect(
      seen(view => (view.view === 'BENEFITS' ? view.cards.map(({ status }) => status.kind) : [])),
    ).toEqual(new Set(Object.keys(statuses)))
  })

  test('what a browser loads stays within its budget, gzip', () => {
    const packed = (text: string) => gzipSync(text, { level: 9 }).length
    const file = (address: string) =>
      readFileSync(`${rig.built.directory}/${address.split('/').at(-1)}`, 'utf8')
    const script = packed(file(rig.built.script))
    const style = packed(file(rig.built.stylesheets[0] ?? ''))
    const dropIn = packed(file('benefit-enrolment.js'))
    expect(dropIn).toBeLessThanOrEqual(4 * 1024)
    expect(script).toBeLessThanOrEqual(6 * 1024)
    expect(style).toBeLessThanOrEqual(8 * 1024)
    for (const { name, view } of examples('es', rig.built)) {
      const icons = name.startsWith('benefits') ? packed(iconOf('dental')) * 8 : 0
      expect(script + style + dropIn + packed(renderPage(view)) + icons).toBeLessThanOrEqual(24 * 1024)
    }
  })
})

/** Each view on its own page, and in the frame those that differ there. */
function both(locale: 'en' | 'es', rig: Rig): readonly Example[] {
  return [
    ...examples(locale, rig.built),
    ...examples(locale, rig.built, 'frame').filter(({ name }) => framed.includes(name)),
  ]
}
const framed = ['frame', 'details-review', 'benefits', 'done', 'already-enrolled', 'session-ended', 'problem']

/** All views; a name that is missing here does not compile. */
const views: Record<View['view'], true> = {
  OPEN: true,
  CHALLENGE: true,
  DETAILS_REVIEW: true,
  DETAILS_EDIT: true,
  PLAN: true,
  BENEFITS: true,
  CHECK_ANSWERS: true,
  DONE: true,
  ALREADY_ENROLLED: true,
  NO_BENEFITS: true,
  BENEFICIARIES: true,
  BENEFICIARIES_EDIT: true,
  SWAP: true,
  SWAP_CHOOSE: true,
  SWAP_CONFIRM: true,
  OFFER_CHANGE: true,
  OFFER_CONFIRM: true,
  CANCEL: true,
  LINK_ENDED: true,
  PROBLEM: true,
  FRAME: true,
}
const ends: Record<LinkEndedView['kind'], true> = {
  link: true,
  session: true,
  closed: true,
  challenge: true,
  challengelimit: true,
  signedout: true,
}
const doneChanges: Record<DoneView['change']['what'], true> = {
  enrolled: true,
  added: true,
  upgraded: true,
  downgraded: true,
  swapped: true,
  cancelled: true,
  undone: true,
  kept: true,
  reinstated: true,
}
const outcomes: Record<DoneView['outcome'], true> = {
  enrolled: true,
  swapped: true,
  changed: true,
  cancelled: true,
  undone: true,
}
const problems: Record<ProblemView['kind'], true> = {
  internal: true,
  notfound: true,
  busy: true,
  foreign: true,
  unreadable: true,
}
const statuses: Record<BenefitStatus['kind'], true> = {
  available: true,
  enrolled: true,
  included: true,
  scheduled: true,
  ending: true,
  swapin: true,
  swapout: true,
  actionrequired: true,
  waiting: true,
  unavailable: true,
  full: true,
  otherplan: true,
}

/** Links inside running text are exempt, as in WCAG; boxes are as large as their label. */
const smallTargets = `[...document.querySelectorAll('button, select, summary, input, a')]
  .filter(element => element.offsetParent && !element.matches('.default, .skip') && element.type !== 'hidden')
  .map(element => element.closest('.choice') ?? element)
  .filter(element => { const { width, height } = element.getBoundingClientRect(); return height < 44 || width < 44 })
  .map(element => element.outerHTML.slice(0, 120))`

const faultsOfSize = `(() => {
  const faults = ${smallTargets}.map(target => 'less than 44 px: ' + target)
  if (document.documentElement.scrollWidth > innerWidth) faults.push('scrolls sideways')
  return faults
})()`

const buttonsWithoutBorder = `[...document.querySelectorAll('.primary, .secondary, .danger')]
  .filter(element => element.offsetParent && getComputedStyle(element).borderTopWidth === '0px')
  .map(element => element.outerHTML.slice(0, 120))`
