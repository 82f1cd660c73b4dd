// Draws the pictures of the docs from a running sandbox, along one person's way:
// npm start, then node scripts/demo-screenshots.mjs http://localhost:PORT/demo docs/screenshots
import { mkdirSync } from 'node:fs'
import { chromium } from 'playwright-core'

const [site, out] = process.argv.slice(2)
if (!site || !out) throw new Error('node scripts/demo-screenshots.mjs http://localhost:PORT/demo OUTDIR')
mkdirSync(out, { recursive: true })
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
})

/** A driver who has just signed up, on a page of this size. */
async function signUp({ width, height = 900, scheme = 'light', locale = 'en' }) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.goto(site)
  await page.getByRole('combobox').selectOption(locale)
  await page.getByRole('button', { name: 'Create my driver account' }).click()
  await page.getByRole('button', { name: 'Set up my benefits' }).waitFor()
  return page
}
/** The docs keep these; `all` as a third argument draws every step. */
const kept = [
  ...['demo-1280', 'embed-1280', 'benefits-320-dark-es', 'check-320-dark-es'],
  ...['details-768-light-en', 'swap-768-light-en', 'done-768-light-en'],
]
const shoot = async (page, name) => {
  if (!kept.includes(name) && process.argv[4] !== 'all') return
  await page.screenshot({ path: `${out}/${name}.jpg`, type: 'jpeg', quality: 82 })
}
const settle = page => page.waitForTimeout(500)

const desk = await signUp({ width: 1280 })
await settle(desk)
await shoot(desk, 'demo-1280')
await desk.getByRole('button', { name: 'Set up my benefits' }).click()
const frame = desk.frameLocator('iframe')
const press = name => frame.getByRole('button', { name, exact: true }).click()
await press('Start')
await press('These are right – continue')
await frame.getByLabel(/Plus/).check()
await press('Continue')
await frame.getByRole('heading', { name: 'Choose your benefits' }).waitFor()
await settle(desk)
await shoot(desk, 'embed-1280')
await desk.context().close()

await walk({ width: 768, scheme: 'light', locale: 'en' }, [
  ['Open my benefits', 'Start', 'These are right – continue'],
  ['Choose Identity protection', 'Continue', 'I have read this and I agree', 'Enroll now'],
])
await walk({ width: 320, height: 700, scheme: 'dark', locale: 'es' }, [
  ['Abrir mis beneficios', 'Empezar', 'Todo está bien: continuar'],
  ['Elegir Protección de identidad', 'Continuar', 'Leí este texto y acepto', 'Inscribirme ahora'],
])
await browser.close()

/** The hosted page from its link to enrolled, then the swap. */
async function walk(look, [[open, start, right], [choose, next, agree, enrol]]) {
  const page = await signUp(look)
  const name = view => `${view}-${look.width}-${look.scheme}-${look.locale}`
  const push = async label => {
    await page.getByRole('button', { name: label, exact: true }).click()
    await settle(page)
  }
  await page.getByRole('button', { name: 'Open as a page of its own' }).click()
  await push(open)
  await shoot(page, name('start'))
  await push(start)
  await shoot(page, name('details'))
  await push(right)
  await page.getByLabel(/Plus/).check()
  await push(next)
  await page.getByLabel(choose).check()
  await shoot(page, name('benefits'))
  await push(next)
  await page.getByLabel(agree).check()
  await shoot(page, name('check'))
  await push(enrol)
  await shoot(page, name('done'))
  await page.goto(page.url().replace('/done', '/swap'))
  await settle(page)
  await shoot(page, name('swap'))
  await page.goto(page.url().replace('/swap', '/overview'))
  await shoot(page, name('overview'))
  await page.context().close()
}
