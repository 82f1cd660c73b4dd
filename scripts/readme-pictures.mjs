// Makes the two pictures of the README: the registration page, from the screenshots, and the flow.
// npm run pictures, after `npm run screenshots`; CHROMIUM names another browser than /usr/bin/chromium.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { launchBrowser } from './browser.mjs'

const root = new URL('..', import.meta.url)
const out = new URL('docs/pictures/', root)
// Of one kind of visit, so that the numbers of their steps agree.
const shown = ['details-review', 'benefits', 'check-answers', 'done-enrolled-from']
const style = `* { box-sizing: border-box } body { margin: 0; font: 15px/1.4 system-ui, 'DejaVu Sans', sans-serif; color: #1b2430; background: #eef2f7 }`

const browser = await launchBrowser()
mkdirSync(out, { recursive: true })
await keep('page.webp', { width: 1200, height: 600 }, pageHtml())
await keep('flow.webp', { width: 1200, height: 368 }, flowHtml())
await browser.close()

/** One picture of a document, with twice the pixels, so that it is sharp on any screen. */
async function keep(name, viewport, html) {
  const context = await browser.newContext({ viewport, deviceScaleFactor: 1.5 })
  const page = await context.newPage()
  await page.setContent(html)
  const devtools = await context.newCDPSession(page)
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
  const bytes = Buffer.from(data, 'base64')
  writeFileSync(new URL(name, out), bytes)
  console.log(`docs/pictures/${name}: ${Math.round(bytes.length / 1024)} KiB`)
  await context.close()
}

function pageHtml() {
  const phones = shown.map(name => {
    const file = new URL(`gallery/${name}-390-light-en.webp`, root)
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
<footer><strong>one Node process, one PostgreSQL</strong><span>personal data sealed before it is stored</span><span>a 2xx is durable</span><span>each event delivered, or listed as dead</span></footer>`
}
