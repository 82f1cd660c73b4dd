import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renderPage } from '../../service/src/registration/views/page.ts'
import { axe, violationsOf } from './axe.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { examples, iconOf } from './fixtures.ts'
import { type Rig, startRig } from './rig.ts'

const all = (['en', 'es'] as const).flatMap(locale =>
  (['light', 'dark'] as const).flatMap(scheme =>
    [320, 768, 1280].map(width => ({ locale, scheme, width }) as const),
  ),
)
/** Both languages and schemes, the narrowest and the widest; BROWSER_TESTS=full takes every combination. */
const some = ['es dark 320', 'en light 1280']
const variants =
  process.env['BROWSER_TESTS'] === 'full'
    ? all
    : all.filter(({ locale, scheme, width }) => some.includes(`${locale} ${scheme} ${width}`))

describeInBrowser('every view', () => {
  let rig: Rig
  let browser: Browser

  beforeAll(async () => {
    rig = await startRig()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await rig.close()
  })

  /** The examples have benefits that the demo catalogue has not. */
  const showIcons = (page: Page) =>
    page.route(`${rig.service}/icons/*`, (route, request) =>
      route.fulfill({
        contentType: 'image/svg+xml',
        body: iconOf(request.url().slice(0, -4).split('/').at(-1) ?? ''),
      }),
    )

  test.each(variants)(
    'in $locale, $scheme, $width px: no fault of axe, no sideways scroll, targets of 44 px',
    async ({ locale, scheme, width }) => {
      const context = await browser.newContext({
        ...{ colorScheme: scheme, reducedMotion: 'reduce', bypassCSP: true },
        viewport: { width, height: 720 },
      })
      const page = await context.newPage()
      await showIcons(page)
      await page.route(`${rig.service}/view/*`, (route, request) => {
        const name = new URL(request.url()).pathname.slice('/view/'.length)
        const found = examples(locale, rig.built).find(example => example.name === name)
        return route.fulfill({ contentType: 'text/html', body: found ? renderPage(found.view) : '' })
      })
      const faults: string[] = []
      for (const { name } of examples(locale, rig.built)) {
        await page.goto(`${rig.service}/view/${name}`)
        await page.evaluate(axe)
        const violations = await page.evaluate<readonly string[]>(violationsOf)
        const small = await page.evaluate<readonly string[]>(smallTargets)
        const wide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
        faults.push(...violations.map(fault => `${name}: ${fault}`))
        faults.push(...small.map(target => `${name}: less than 44 px: ${target}`))
        if (wide) faults.push(`${name}: scrolls sideways`)
      }
      expect(faults).toEqual([])
      await context.close()
    },
    180_000,
  )

  test.each(['light', 'dark'] as const)('is whole in forced colours, %s', async colorScheme => {
    const context = await browser.newContext({
      colorScheme,
      forcedColors: 'active',
      viewport: { width: 320, height: 720 },
    })
    const page = await context.newPage()
    await showIcons(page)
    for (const { name, view } of examples('en', rig.built)) {
      await page.route(`${rig.service}/view/${name}`, route =>
        route.fulfill({ contentType: 'text/html', body: renderPage(view) }),
      )
      await page.goto(`${rig.service}/view/${name}`)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      const bare = await page.evaluate<readonly string[]>(buttonsWithoutBorder)
      expect(bare).toEqual([])
    }
    await context.close()
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

/** Links inside running text are exempt, as in WCAG; boxes are as large as their label. */
const smallTargets = `[...document.querySelectorAll('button, select, summary, input, a')]
  .filter(element => element.offsetParent && !element.matches('.default, .skip') && element.type !== 'hidden')
  .map(element => element.closest('.choice') ?? element)
  .filter(element => { const { width, height } = element.getBoundingClientRect(); return height < 44 || width < 44 })
  .map(element => element.outerHTML.slice(0, 120))`

const buttonsWithoutBorder = `[...document.querySelectorAll('.primary, .secondary, .danger')]
  .filter(element => element.offsetParent && getComputedStyle(element).borderTopWidth === '0px')
  .map(element => element.outerHTML.slice(0, 120))`
