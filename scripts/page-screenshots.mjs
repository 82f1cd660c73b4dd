// Draws every view of the registration page:
// node scripts/page-screenshots.mjs OUTDIR [name,name] [widths] [schemes] [locales]
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'

const [out, names = '', widths = '320,768,1280', schemes = 'light,dark', locales = 'en'] =
  process.argv.slice(2)
if (!out) throw new Error('say where to: node scripts/page-screenshots.mjs OUTDIR')
mkdirSync(out, { recursive: true })

const bundled = await build({
  stdin: {
    contents: `export { examples } from './tests/page/fixtures/examples.ts'
export { iconOf } from './tests/page/fixtures/parts.ts'
export { renderPage } from './service/src/registration/views/page.ts'`,
    resolveDir: process.cwd(),
    loader: 'ts',
  },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
})
const code = Buffer.from(bundled.outputFiles[0].contents).toString('base64')
const { examples, iconOf, renderPage } = await import(`data:text/javascript;base64,${code}`)
const built = { stylesheets: ['/page.css'], script: '/page.js', icon: '/icon.svg' }

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost')
  const answer = (type, body) => response.writeHead(200, { 'content-type': type }).end(body)
  if (['/page.css', '/tokens.css'].includes(pathname))
    return answer('text/css', readFileSync(`service/assets/page${pathname}`))
  if (pathname === '/page.js') return answer('text/javascript', '')
  if (pathname.startsWith('/icons/')) return answer('image/svg+xml', iconOf(pathname.slice(7, -4)))
  const [, locale, name] = pathname.split('/')
  const example = examples(locale, built).find(found => found.name === name)
  return example ? answer('text/html', renderPage(example.view)) : response.writeHead(404).end()
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
})
for (const locale of locales.split(',')) {
  const wanted = examples(locale, built).filter(({ name }) => names === '' || names.split(',').includes(name))
  for (const scheme of schemes.split(',')) {
    for (const width of widths.split(',').map(Number)) {
      const viewport = { width, height: width < 500 ? 640 : 900 }
      const context = await browser.newContext({ viewport, colorScheme: scheme, reducedMotion: 'reduce' })
      const page = await context.newPage()
      for (const { name, script } of wanted) {
        await page.goto(`http://127.0.0.1:${server.address().port}/${locale}/${name}`)
        if (script) await page.evaluate(script)
        const height = await page.evaluate(() => document.documentElement.scrollHeight)
        await page.setViewportSize({ ...viewport, height })
        await page.screenshot({ path: `${out}/${name}-${width}-${scheme}-${locale}.png`, fullPage: true })
        await page.setViewportSize(viewport)
        const wider = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
        if (wider) console.warn(`${name} at ${width} px scrolls sideways`)
      }
      await context.close()
    }
  }
}
await browser.close()
server.close()
