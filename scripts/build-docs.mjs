// Builds the docs site into service/dist/docs/, as Markdown and HTML: the guides of docs/, the reference, and a
// page for each error; and the descriptions of the interface. The service adds its own address, its limits, and the frame
// around each page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { descriptionTemplates } from '../service/dist/system/description.js'
import { errorPages } from './docs/error-pages.mjs'
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
  pages.map(name => ({
    group: title,
    path: name,
    markdown: published(readFileSync(new URL(sourceOf(name), root), 'utf8')),
  })),
)
const errorTexts = errorPages()
const index = guides.find(({ path }) => path === 'errors')
index.markdown += errorTexts.index
const sources = [...guides, ...referencePages(), ...errorTexts.pages]
const published = new Set(sources.map(({ path }) => path))

const pages = sources.map(({ group, path, markdown }) => {
  const linkOf = href => siteAddress(href, path)
  const { html, sections } = render(markdown, linkOf)
  const [heading] = sections
  if (heading?.depth !== 1) throw new Error(`${path} does not begin with a title`)
  return {
    path,
    group,
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

/** The address on the site of a document's link. Throws when the link's target is not published. */
function siteAddress(href, from) {
  if (/^(https?:|mailto:)/.test(href)) return href
  if (href.startsWith('#')) return href
  if (href.startsWith('/')) return baseMark + href
  const [, file = '', fragment = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? []
  const name =
    file === 'client/README.md' || file === '../client/README.md' ? 'client' : file.replace(/\.md$/, '')
  if (!published.has(name)) throw new Error(`docs: ${from} links to ${href}, which is not published`)
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
