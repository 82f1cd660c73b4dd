// Takes the pictures of the partner's site for the docs from a running sandbox; `npm run screenshots` takes every view of the page:
//   npm start, then node scripts/demo-screenshots.mjs http://localhost:PORT/demo docs/screenshots
import { mkdirSync } from 'node:fs'
import { launchBrowser } from './browser.mjs'

const [site, out] = process.argv.slice(2)
if (!site || !out) throw new Error('node scripts/demo-screenshots.mjs http://localhost:PORT/demo OUTDIR')
mkdirSync(out, { recursive: true })
const browser = await launchBrowser()

/** Opens a page of this size with a driver who has just signed up. */
async function signUp({ width, height = 900, scheme = 'light', locale = 'en' }) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.goto(site)
  await page.locator('[name=locale]').selectOption(locale)
  await page.getByRole('button', { name: 'Create my driver account' }).click()
  await page.getByRole('button', { name: 'Set up my benefits' }).waitFor()
  return page
}
function shoot(page, name) {
  return page.screenshot({ path: `${out}/${name}.jpg`, type: 'jpeg', quality: 82 })
}
function settle(page) {
  return page.waitForTimeout(500)
}

const desk = await signUp({ width: 1280 })
await settle(desk)
await shoot(desk, 'demo-1280')
await desk.getByRole('button', { name: 'Set up my benefits' }).click()
const frame = desk.frameLocator('iframe')
function press(name) {
  return frame.getByRole('button', { name, exact: true }).click()
}
await press('These are right – continue')
await frame.getByLabel(/Plus/).check()
await press('Continue')
await frame.getByRole('heading', { name: 'Choose your benefits' }).waitFor()
await settle(desk)
await shoot(desk, 'embed-1280')
await desk.context().close()
await browser.close()
