// Writes the pages at /docs as files for a site of the operator's own: relative links, a search that runs in the browser.
//   npm run docs:static -- https://benefits.example.com DIR     (the address of the service, for the samples)
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { changeLogPage } from '../service/dist/docs/change-log.js'
import { assets, framed, siteName } from '../service/dist/docs/layout.js'
import { contentOf, docsHome, markdownOf } from '../service/dist/docs/pages.js'
import { openSite } from '../service/dist/docs/site.js'

const [address = '', dir = 'docs-site'] = process.argv.slice(2)
if (!/^https?:\/\/[^/]/.test(address)) {
  process.stderr.write(
    'Name the address of the service: npm run docs:static -- https://benefits.example.com DIR\n',
  )
  process.exit(2)
}
const baseUrl = address.replace(/\/+$/, '')
const out = resolve(dir)
const site = await openSite()()

write('index.html', frame('Documentation', docsHome(baseUrl)))
write('changelog.html', frame('Change log', changeLogPage(baseUrl)))
for (const page of site.pages.values()) {
  write(`${page.path}.html`, frame(page.title, contentOf(page, baseUrl), page))
  write(`${page.path}.md`, markdownOf(page, baseUrl))
}
for (const { name, content } of assets.values()) write(`assets/${name}`, content)
write('entries.json', JSON.stringify(site.entries))
write('search.js', readOf('dist/docs/search.js').replace(/^\/\/# sourceMappingURL=.*$/m, ''))
write('favicon.svg', readOf('assets/page/icon.svg'))
process.stdout.write(`${site.pages.size + 2} pages in ${out}\n`)

function frame(title, content, page) {
  return framed({ title: title || siteName, content, baseUrl, site, page }).content
}

function write(file, content) {
  mkdirSync(dirname(join(out, file)), { recursive: true })
  writeFileSync(join(out, file), file.endsWith('.html') ? relativeIn(file, content) : content)
}

function readOf(file) {
  return readFileSync(new URL(`../service/${file}`, import.meta.url), 'utf8')
}

/** A page whose links lead to the files beside it; what only the service has keeps its address. */
function relativeIn(file, html) {
  const to = target => posix.relative(posix.dirname(file), target)
  return html
    .replaceAll(`data-search="${baseUrl}/docs/search.json"`, `data-entries="${to('entries.json')}"`)
    .replace(/(?<= (?:href|src|action)=")([^"#]+)/g, whole => {
      const path = whole.startsWith(`${baseUrl}/`) ? whole.slice(baseUrl.length) : ''
      if (path === '/docs' || path === '/docs/search') return to('index.html')
      if (path === '/changelog') return to('changelog.html')
      if (path === '/favicon.ico') return to('favicon.svg')
      const name = path.startsWith('/docs/') ? path.slice('/docs/'.length) : undefined
      if (name === undefined) return whole
      return to(site.pages.has(name) ? `${name}.html` : name)
    })
}
