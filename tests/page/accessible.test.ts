import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { isLong } from '../long.ts'
import { axe, colorViolationsOf, inThisLook, violationsOf } from './axe.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'
import { openStage } from './show.ts'
import { statesIn, statesStartAt } from './states.ts'

/**
 * The looks in which each view is drawn. The dark scheme only changes colors, as look.test.ts shows, so one language
 * and axe's rules about colors are enough there. Spanish, which has the longest words, is drawn in the narrowest window. The
 * other windows of both are left to a long run.
 */
const looksOf: Readonly<Record<'en' | 'es', readonly string[]>> = {
  en: ['light 1280', 'dark 320', ...(isLong ? ['light 320', 'light 768', 'dark 768', 'dark 1280'] : [])],
  es: ['light 320', ...(isLong ? ['light 768', 'light 1280'] : [])],
}

describeInBrowser('every view', () => {
  const rig = forAllTests(() => startRig({ startAt: statesStartAt }))
  const browser = forAllTests(launchBrowser)

  test.each(['en', 'es'] as const)(
    'in %s: no fault of axe, no sideways scroll, targets of 44 px, in each of its looks',
    { timeout: 600_000 },
    async language => {
      const context = await browser.newContext({ reducedMotion: 'reduce', bypassCSP: true })
      const page = await context.newPage()
      const stage = await openStage(page, rig)
      await page.evaluate(axe)
      const faults: string[] = []
      for (const state of await statesIn(language)) {
        // Drawn once, and looked at in each: the style sheet alone makes the difference.
        await stage.show(state)
        for (const look of looksOf[language]) {
          const [colorScheme, width] = look.split(' ') as ['light' | 'dark', string]
          await page.emulateMedia({ colorScheme })
          // So tall that the bar of a phone floats over no other target.
          await page.setViewportSize({ width: Number(width), height: 5000 })
          const rules = inThisLook(colorScheme === 'dark' ? colorViolationsOf : violationsOf)
          const found = [
            ...(await page.evaluate<readonly string[]>(rules)),
            ...(await page.evaluate<readonly string[]>(faultsOfSize)),
          ]
          faults.push(...found.map(fault => `${look} ${state.name}: ${fault}`))
        }
      }
      expect(faults).toEqual([])
      await context.close()
    },
  )

  test.each(isLong ? (['light', 'dark'] as const) : (['dark'] as const))(
    'is whole in forced colours, %s',
    async colorScheme => {
      const context = await browser.newContext({
        colorScheme,
        forcedColors: 'active',
        viewport: { width: 320, height: 720 },
      })
      const page = await context.newPage()
      const stage = await openStage(page, rig)
      for (const state of await statesIn('en')) {
        await stage.show(state)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(await page.evaluate<readonly string[]>(buttonsWithoutBorder)).toEqual([])
      }
      await context.close()
    },
  )

  test('what a browser loads stays within its budget, gzip', async () => {
    const packed = (text: string) => gzipSync(text, { level: 9 }).length
    const file = (address: string) =>
      readFileSync(`${rig.built.directory}/${address.split('/').at(-1)}`, 'utf8')
    const script = packed(file(rig.built.script))
    const style = packed(file(rig.built.stylesheets[0] ?? ''))
    const dropIn = packed(file('benefit-enrolment.js'))
    expect(dropIn).toBeLessThanOrEqual(4 * 1024)
    expect(script).toBeLessThanOrEqual(6 * 1024)
    expect(style).toBeLessThanOrEqual(8 * 1024)
    const icons = new URL('../../service/assets/icons/', import.meta.url)
    for (const { html, name } of await statesIn('es')) {
      const drawn = [...new Set([...html.matchAll(/\/icons\/(\w+\.svg)/g)].map(([, file = '']) => file))]
      const sizes = drawn.map(one => packed(readFileSync(new URL(one, icons), 'utf8')))
      const whole = [script, style, dropIn, packed(html), ...sizes].reduce((sum, size) => sum + size)
      expect(whole, name).toBeLessThanOrEqual(24 * 1024)
    }
  })
})

/** Links inside running text are exempt, as in WCAG; boxes are as large as their label. */
const smallTargets = `[...document.querySelectorAll('button, select, summary, input, a')]
  .filter(element => element.offsetParent && !element.matches('.default, .skip') && element.type !== 'hidden')
  .map(element => element.closest('.choice') ?? element)
  .filter(element => { const { width, height } = element.getBoundingClientRect(); return height < 44 || width < 44 })
  .map(element => element.outerHTML.slice(0, 120))`

const faultsOfSize = `(() => {
  // How a benefit is used, with its links to call and to visit, is in parts that open.
  for (const part of document.querySelectorAll('details')) part.open = true
  const faults = ${smallTargets}.map(target => 'less than 44 px: ' + target)
  if (document.documentElement.scrollWidth > innerWidth) faults.push('scrolls sideways')
  return faults
})()`

const buttonsWithoutBorder = `[...document.querySelectorAll('.primary, .secondary, .danger')]
  .filter(element => element.offsetParent && getComputedStyle(element).borderTopWidth === '0px')
  .map(element => element.outerHTML.slice(0, 120))`
