// Takes all pictures of the documents, or those named: node scripts/pictures.mjs [views] [console] [site] [readme]
//   views    each view of the page, into gallery; those that the guides show, into docs/screenshots
//   console  docs/support.md's, while a test performs its steps
//   site     the partner's site, from a sandbox that is started for it
//   readme   the two of the README; the one of the page is put together from `gallery`
// CHROMIUM names another browser than /usr/bin/chromium.
import { execFileSync, spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('..', import.meta.url))
const style = `
  * { box-sizing: border-box } 
  body { margin: 0; font: 15px/1.4 system-ui, 'DejaVu Sans', sans-serif; color: #1b2430; background: #eef2f7 }`
const takers = { views, console: consolePictures, site, readme }
const names = process.argv.slice(2)
for (const name of names)
  if (!takers[name]) throw new Error(`${name} is none of ${Object.keys(takers).join(', ')}`)
for (const name of names.length > 0 ? names : Object.keys(takers)) await takers[name]()

/** Tests that take pictures by the way. */
function runTests(file, env) {
  execFileSync('npx', ['--no-install', 'vitest', 'run', file], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
}
function views() {
  runTests('tests/page/pictures.ts', { PICTURES: '1' })
}
function consolePictures() {
  runTests('tests/console/support-questions.test.ts', { CONSOLE_PICTURES: join(root, 'docs/pictures') })
}

async function withBrowser(use) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    await use(browser)
  } finally {
    await browser.close()
  }
}

async function site() {
  const data = mkdtempSync(join(tmpdir(), 'pictures-'))
  const service = spawn(
    process.execPath,
    ['service/bin/enrolment.js', 'dev', '--port', '0', '--data', join(data, 'data')],
    { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  try {
    let told = ''
    for await (const chunk of on(service.stdout, 'data')) {
      told += chunk
      if (told.includes('/demo ')) break
    }
    const [address] = /http\S+\/demo/.exec(told)
    await withBrowser(browser => shootSite(browser, address))
  } finally {
    const ended = once(service, 'close')
    service.kill('SIGTERM')
    await ended
    rmSync(data, { recursive: true, force: true })
  }
}
/** A driver who has just signed up, and then chooses benefits. */
async function shootSite(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })
  const shoot = async name => {
    await page.waitForTimeout(500)
    await page.screenshot({ path: join(root, `docs/screenshots/${name}.jpg`), type: 'jpeg', quality: 82 })
  }
  await page.goto(url)
  await page.locator('[name=locale]').selectOption('en')
  await page.getByRole('button', { name: 'Create my driver account' }).click()
  await page.getByRole('button', { name: 'Set up my benefits' }).waitFor()
  await shoot('demo-1280')
  await page.getByRole('button', { name: 'Set up my benefits' }).click()
  const frame = page.frameLocator('iframe')
  await frame.getByRole('button', { name: 'These are right – continue', exact: true }).click()
  await frame.getByLabel(/Plus/).check()
  await frame.getByRole('button', { name: 'Continue', exact: true }).click()
  await frame.getByRole('heading', { name: 'Choose your benefits' }).waitFor()
  await shoot('embed-1280')
}

function readme() {
  return withBrowser(async browser => {
    await keep(browser, 'page.webp', { width: 1200, height: 600 }, pageHtml())
    await keep(browser, 'flow.webp', { width: 1200, height: 368 }, flowHtml())
  })
}
/** One picture of a document, with half as many pixels again, so that it is sharp on any screen. */
async function keep(browser, name, viewport, html) {
  const page = await browser.newPage({ viewport, deviceScaleFactor: 1.5 })
  await page.setContent(html)
  const devtools = await page.context().newCDPSession(page)
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
  writeFileSync(join(root, 'docs/pictures', name), Buffer.from(data, 'base64'))
}

function pageHtml() {
  // Of one kind of visit, so that the numbers of their steps agree.
  const shown = ['details-review', 'benefits', 'check', 'done']
  const phones = shown.map(name => {
    const file = join(root, `gallery/${name}-390-light-en.webp`)
    return `<figure><img src="data:image/webp;base64,${readFileSync(file).toString('base64')}" alt=""></figure>`
  })
  return `<style>${style}
body { display: flex; justify-content: center; gap: 24px; padding: 28px }
figure { margin: 0; width: 262px; height: 544px; overflow: hidden; border: 6px solid #1b2430; border-radius: 26px; background: #fff }
img { width: 100% }</style>${phones.join('')}`
}

function flowHtml() {
  const steps = [
    ['1', 'Prefill', 'POST /user/prefill', 'what you know of the user, under an Idempotency-Key'],
    ['2', 'List', 'POST /user/benefits', 'what is open to them, with a status each'],
    ['3', 'Link', 'POST /user/linktoken', 'one address, for one user, once'],
    ['4', 'Enroll', 'the registration page', 'in your product or on its own: the person agrees'],
    ['5', 'Hear', 'your webhook', 'each change: signed, at least once, with its key'],
  ]
  const boxes = steps.map(
    ([number, name, where, told], index) =>
      `<div class="${index > 2 ? 'theirs' : 'yours'}"><b>${number}</b><h2>${name}</h2><code>${where}</code><p>${told}</p></div>`,
  )
  return `<style>${style}
body { padding: 34px 30px }
header { display: grid; grid-template-columns: 3fr 2fr; gap: 18px; font-weight: 600; font-size: 17px; color: #44546a; padding: 0 4px 12px }
main { display: grid; grid-template-columns: repeat(5, 1fr); gap: 18px }
div { background: #fff; border-radius: 14px; padding: 18px; min-height: 196px; border-top: 6px solid #2b6cb0; position: relative }
div.theirs { border-color: #2f855a }
div:not(:last-child)::after { content: '→'; position: absolute; right: -18px; top: 74px; font-size: 20px; color: #718096 }
b { color: #718096 } h2 { margin: 4px 0 6px; font-size: 22px } code { font-size: 13px; color: #2b6cb0 } p { margin: 10px 0 0; color: #44546a }
footer { margin-top: 18px; background: #1b2430; color: #fff; border-radius: 14px; padding: 16px 20px; display: flex; justify-content: space-between; gap: 24px }
footer span { color: #cbd5e0 }</style>
<header><span>your server asks</span><span>the service does</span></header>
<main>${boxes.join('')}</main>
<footer><strong>Node.js and PostgreSQL, nothing else</strong><span>personal data sealed before it is stored</span><span>a 2xx is durable</span><span>each event delivered, or listed as dead</span></footer>`
}
