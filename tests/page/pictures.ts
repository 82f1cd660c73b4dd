import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'
import { openStage } from './show.ts'
import { statesIn, statesStartAt } from './states.ts'

// `npm run screenshots` runs this: pictures of every view in every state, all in `gallery`, those of the guides in docs/screenshots.

const folder = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const looks = [
  { locale: 'en', colorScheme: 'light', width: 360, height: 740 },
  { locale: 'en', colorScheme: 'light', width: 390, height: 844 },
  { locale: 'es', colorScheme: 'dark', width: 1280, height: 800 },
] as const
/** The greatest height of a picture; taller pictures make large files that nobody scrolls through. */
const MOST_HEIGHT = 1600

describeInBrowser('pictures', () => {
  const rig = forAllTests(() => startRig({ startAt: statesStartAt }))
  const browser = forAllTests(launchBrowser)

  test.each(looks)(
    'are taken in $locale, $colorScheme, $width px wide',
    async look => {
      const { locale, colorScheme, width, height } = look
      const out = folder('gallery/')
      const guides = folder('docs/screenshots/')
      if (look === looks[0]) rmSync(out, { recursive: true, force: true })
      mkdirSync(out, { recursive: true })
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height },
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      const devtools = await context.newCDPSession(page)
      const stage = await openStage(page, rig)
      for (const state of await statesIn(locale)) {
        await page.setViewportSize({ width, height })
        await stage.show(state)
        const whole = await page.evaluate<number>('document.documentElement.scrollHeight')
        await page.setViewportSize({ width, height: state.script ? height : Math.min(whole, MOST_HEIGHT) })
        const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 40 })
        writeFileSync(
          `${out}${state.name}-${width}-${colorScheme}-${locale}.webp`,
          Buffer.from(data, 'base64'),
        )
      }
      for (const name of readdirSync(guides).filter(one => existsSync(out + one)))
        copyFileSync(out + name, guides + name)
      expect(readdirSync(out).length).toBeGreaterThan(60)
      await context.close()
    },
    600_000,
  )
})
