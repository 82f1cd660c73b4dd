// Takes pictures of every view in every state, as the service renders it, without a service or a database, into `gallery`, and
// puts those that the guides show into docs/screenshots.
// npm run screenshots; CHROMIUM names another browser than /usr/bin/chromium.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { launchBrowser } from './browser.mjs'
import { load } from './sources.mjs'

const root = new URL('..', import.meta.url)
const out = new URL('gallery/', root)
const guides = new URL('docs/screenshots/', root)
const built = new URL('service/dist/page/', root)
const icons = new URL('service/assets/icons/', root)
const looks = [
  { locale: 'en', colorScheme: 'light', width: 390, height: 844 },
  { locale: 'es', colorScheme: 'dark', width: 1280, height: 800 },
]
/** The greatest height of a picture; taller pictures make large files that nobody scrolls through. */
const MOST_HEIGHT = 1600

const { examples, iconOf, renderPage } = await load(`
  export { renderPage } from './service/src/registration/screens.ts'
  export { examples } from './tests/page/fixtures/examples.ts'
  export { iconOf } from './tests/page/fixtures/parts.ts'`)
const manifest = JSON.parse(readFileSync(new URL('manifest.json', built), 'utf8'))
const files = {
  stylesheets: [`/page/${manifest.stylesheet}`],
  script: `/page/${manifest.script}`,
  icon: `/page/${manifest.icon}`,
}
let shown = ''
const server = createServer((request, response) => {
  const [, folder, name] = new URL(request.url ?? '/', 'http://page').pathname.split('/')
  const send = (type, body) => response.writeHead(200, { 'content-type': type }).end(body)
  if (folder === 'page') return send(typeOf(name), readFileSync(new URL(name, built)))
  if (folder === 'icons') return send('image/svg+xml', iconOfBenefit(name.replace('.svg', '')))
  return send('text/html; charset=utf-8', shown)
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
const address = `http://127.0.0.1:${server.address().port}/`
const browser = await launchBrowser()

rmSync(out, { recursive: true, force: true })
mkdirSync(out)
let count = 0
for (const { locale, colorScheme, width, height } of looks) {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height },
    reducedMotion: 'reduce',
    javaScriptEnabled: true,
  })
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  for (const { name, view, script } of [
    ...examples(locale, files),
    ...examples(locale, files, 'frame').filter(example => example.name === 'frame'),
  ]) {
    shown = renderPage(view).replace(/<script src=[^>]*><\/script>/, '')
    await page.goto(address)
    if (script) await page.evaluate(script)
    const whole = await page.evaluate('document.documentElement.scrollHeight')
    await page.setViewportSize({ width, height: script ? height : Math.min(whole, MOST_HEIGHT) })
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 40 })
    await page.setViewportSize({ width, height })
    const file = `${name}-${width}-${colorScheme}-${locale}.webp`
    writeFileSync(new URL(file, out), Buffer.from(data, 'base64'))
    count += 1
  }
  await context.close()
}
await browser.close()
server.close()
const shared = readdirSync(guides).filter(name => existsSync(new URL(name, out)))
for (const name of shared) copyFileSync(new URL(name, out), new URL(name, guides))
console.log(`${count} pictures in gallery, ${shared.length} of them in docs/screenshots`)

function iconOfBenefit(name) {
  try {
    return readFileSync(new URL(`${name}.svg`, icons))
  } catch {
    return iconOf(name)
  }
}

function typeOf(name) {
  return name.endsWith('.css') ? 'text/css' : name.endsWith('.svg') ? 'image/svg+xml' : 'text/javascript'
}
