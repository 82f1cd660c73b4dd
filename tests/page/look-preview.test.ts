// @whole

import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { everydayOr } from '../long.ts'
import { startTestService } from '../rig.ts'
import { axe, violationsOf } from './axe.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { newVisitor } from './visitor.ts'

const service = forAllTests(startTestService)

function look(query = '') {
  return newVisitor(service.baseUrl).get(`/demo/look${query}`)
}
function unescaped(html: string) {
  return html.replaceAll('&quot;', '"').replaceAll('&#39;', "'")
}

test('a look is tried, and its settings are there to be copied', async () => {
  const query = '?light.accent=%235b21b6&dark.accent=%23c4b5fd&radius=4&font=rounded&scheme='
  const { status, html } = await look(query)
  expect(status).toBe(200)
  expect(unescaped(html)).toContain(
    `enrolment partner update PARTNER --colors '{"light":{"accent":"#5b21b6"},"dark":{"accent":"#c4b5fd"}}' --radius 4 --font rounded`,
  )
  expect(unescaped(html)).toContain(
    '{"light":{"accent":"#5b21b6"},"dark":{"accent":"#c4b5fd"},"radius":4,"fonts"',
  )
  const samples = [...html.matchAll(/src="(\/demo\/look\/\w+\?[^"]+)"/g)].map(([, path = '']) => path)
  expect(samples).toHaveLength(3)
  for (const path of samples) {
    const sample = await newVisitor(service.baseUrl).get(path.replaceAll('&amp;', '&'))
    expect(sample.status).toBe(200)
    expect(sample.html).toContain('/page/theme.css?')
    expect(sample.headers.get('content-security-policy')).toMatch(
      /^default-src 'none';.*frame-ancestors 'self'$/,
    )
  }
})

test('a look that cannot be read is refused with the pair named, and gives no settings', async () => {
  const { html } = await look('?light.accent=%23ffd500')
  expect(html).toContain('onaccent on accent (#ffffff and #ffd500) has a contrast of 1.')
  expect(html).not.toContain('enrolment partner update')
})

test.each(['?radius=round', '?radius=40', '?dark.text=blue', '?light.text=%22%3E%3Cscript%3E'])(
  '%s is refused, and what was typed is harmless',
  async query => {
    const { status, html } = await look(query)
    expect(status).toBe(200)
    expect(html).toContain('This look is refused')
    expect(html).not.toContain('<script')
  },
)

test('a live service has no such page', async () => {
  await using live = await startTestService({ sandbox: false })
  expect((await newVisitor(live.baseUrl).get('/demo/look')).status).toBe(404)
})

describeInBrowser('the page on which a look is tried', () => {
  const browser = forAllTests(launchBrowser)

  const looks = [
    ['light', 320],
    ['dark', 1280],
  ] as const
  test.each(everydayOr<readonly (typeof looks)[number][]>(looks.slice(1), looks))(
    'has no fault of axe in %s at %i px, and does not scroll sideways',
    async (colorScheme, width) => {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: 800 },
        bypassCSP: true,
      })
      const page = await context.newPage()
      await page.goto(`${service.baseUrl}/demo/look?radius=4`)
      // Each sample is shown, with the page's own style and with the look that is tried.
      for (const name of ['start', 'benefits', 'check']) {
        const sample = page.frameLocator(`iframe[title="Sample: ${name}"]`)
        await sample.getByRole('heading', { level: 1 }).waitFor()
        const radius = await sample
          .locator(':root')
          .evaluate("getComputedStyle(document.documentElement).getPropertyValue('--radius')")
        expect(radius).toBe('4px')
      }
      await page.evaluate(axe)
      expect(await page.evaluate(violationsOf)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await context.close()
    },
  )
})
