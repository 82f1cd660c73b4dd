// Builds the docs site into service/dist/docs/, as Markdown and HTML: the guides of docs/, the reference, and a
// page for each error; and the descriptions of the interface. The service adds its own address, its limits, and the frame
// around each page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { descriptionTemplates } from '../service/dist/system/description.js'
import { errorPages } from './docs/error-pages.mjs'
import { languagePages, withLinks } from './docs/language-pages.mjs'
import { referencePages } from './docs/reference-pages.mjs'
import { baseMark, published, render } from './docs/render.mjs'

const root = new URL('..', import.meta.url)
const out = new URL('service/dist/docs/', root)
const groups = JSON.parse(readFileSync(new URL('docs/contents.json', root), 'utf8'))

/** Documents from outside docs/. */
const elsewhere = { client: 'client/README.md' }
function sourceOf(name) {
  return elsewhere[name] ?? `docs/${name}.md`
}

const guides = groups.flatMap(({ title, pages }) =>
  Object.entries(pages).map(([path, name]) => ({
    group: title,
    path,
    name,
    markdown: published(readFileSync(new URL(sourceOf(path), root), 'utf8')),
  })),
)
const errorTexts = errorPages()
const index = guides.find(({ path }) => path === 'errors')
index.markdown = index.markdown.replace('\n## Next\n', `${errorTexts.index}$&`)
const tools = guides.find(({ path }) => path === 'tools')
tools.markdown = withLinks(tools.markdown)
// In the order of the menu, and then what the menu leaves out.
const order = groups.map(({ title }) => title)
const sources = [...guides, ...languagePages(), ...referencePages(), ...errorTexts.pages].toSorted(
  (one, other) => placeOf(one.group) - placeOf(other.group),
)

const paths = new Set(sources.map(({ path }) => path))

const pages = sources.map(({ group, path, name = '', markdown }) => {
  const linkOf = href => siteAddress(href, path)
  const { html, sections } = render(markdown, linkOf)
  const [heading] = sections
  if (heading?.depth !== 1) throw new Error(`${path} does not begin with a title`)
  return {
    path,
    group,
    name,
    title: heading.title,
    summary: heading.text.match(/^.*?\.(?= |$)/)?.[0] ?? heading.text,
    html,
    markdown: markdown.replace(/\]\(([^)\s]+)\)/g, (_, href) => `](${linkOf(href)})`),
    sections,
  }
})
checkAnchors(pages)

mkdirSync(out, { recursive: true })
for (const { file, text } of descriptionTemplates()) writeFileSync(new URL(file, out), text)
writeFileSync(new URL('site.json', out), JSON.stringify({ pages }))

function placeOf(group) {
  const place = order.indexOf(group)
  return place < 0 ? order.length : place
}

/** The address on the site of a document's link. Throws when the link's target is not published. */
function siteAddress(href, from) {
  if (/^(https?:|mailto:)/.test(href)) return href
  if (href.startsWith('#')) return href
  if (href.startsWith('/')) return baseMark + href
  const [, file = '', fragment = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? []
  const name = file.endsWith('client/README.md') ? 'client' : file.replace(/^\.\.\/docs\/|\.md$/g, '')
  if (!paths.has(name)) throw new Error(`docs: ${from} links to ${href}, which is not published`)
  return `${baseMark}/docs/${name}${fragment}`
}

/** Checks that every link to a section finds that section. */
function checkAnchors(all) {
  const ids = new Map(all.map(({ path, sections }) => [path, new Set(sections.map(({ id }) => id))]))
  for (const { path, html } of all) {
    for (const [, address] of html.matchAll(/href="([^"]+)"/g)) {
      const [, target = path, id] =
        /^(?:https:\/\/benefits\.example\.com\/docs\/([^#]+))?#(.+)$/.exec(address) ?? []
      if (id !== undefined && !ids.get(target)?.has(id))
        throw new Error(`docs: ${path} links to ${address}, which does not exist`)
    }
  }
}
