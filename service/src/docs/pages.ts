import { describeLimits, type LoadLimits, type RequestLimits } from '@benefit-enrolment/contract'
import { Html, html } from '../http/html.ts'
import { coded } from './change-log.ts'
import type { Found } from './search.ts'
import { addressed, type DocsPage, type Site } from './site.ts'

/** The limits of this service, which replace a placeholder in the documents. */
export type Limits = LoadLimits & RequestLimits

const limitsMark = '<div data-limits></div>'

/** The content of a page of the site, with this service's address and limits. */
export function contentOf(page: DocsPage, baseUrl: string, limits: Limits): Html {
  const paragraphs = html`${describeLimits(limits).map(text => html`<p>${coded(text)}</p>`)}`
  return new Html(addressed(page.html, baseUrl).replace(limitsMark, () => paragraphs.markup))
}

/** The same as Markdown. */
export function markdownOf(page: DocsPage, baseUrl: string, limits: Limits): string {
  return addressed(page.markdown, baseUrl).replace(limitsMark, () => describeLimits(limits).join('\n\n'))
}

/** The first page of the docs: where to begin, the guides, the reference. */
export function docsHome(site: Site, baseUrl: string): Html {
  const groupOf = (group: string) => [...site.pages.values()].filter(page => page.group === group)
  const cards = (pages: readonly DocsPage[]) =>
    html`<ul class="cards">${pages.map(
      ({ path, title, summary }) =>
        html`<li><a href="${baseUrl}/docs/${path}">${title}</a><p>${summary}</p></li>`,
    )}</ul>`
  return html`<h1>Documentation</h1>
<p>Prefill a user, list the benefits with status, enroll, and hear of every change by a webhook. Base address:
<code>${baseUrl}</code></p>
${['Start', 'Guides', 'Reference', 'Promises'].map(group => html`<h2>${group}</h2>${cards(groupOf(group))}`)}
<h2>For programs</h2>
<ul><li><a href="${baseUrl}/openapi.json">OpenAPI as JSON</a> and <a href="${baseUrl}/openapi.yaml">as YAML</a></li>
<li><a href="${baseUrl}/postman.json">A Postman collection</a></li>
<li><a href="${baseUrl}/llms.txt">llms.txt</a>: every page as Markdown</li>
<li><a href="${baseUrl}/changelog">Change log</a>, also as <a href="${baseUrl}/changelog.json">JSON</a> and <a href="${baseUrl}/changelog.atom">Atom</a></li></ul>`
}

/** The page at the root of the service: what it is, and where to go. */
export function welcome(baseUrl: string, sandbox: boolean): Html {
  return html`<h1>Benefit Enrolment Integration Service</h1>
<p>Platforms use this service to offer insurance and other benefits inside their own product: they prefill what they know
of a user, list the benefits with status, enroll, and hear of every change by a webhook.</p>
<p>This is ${sandbox ? 'a sandbox: a place to try things out' : 'a live service'}. It speaks JSON to partners and their
programs.</p>
<ul class="cards"><li><a href="${baseUrl}/docs/quick-start">Quick start</a><p>From your credentials to a signed webhook at a program of yours, in ten minutes.</p></li>
<li><a href="${baseUrl}/docs">Documentation</a><p>Guides, reference, errors, change log.</p></li>
<li><a href="${baseUrl}/openapi.json">OpenAPI description</a><p>For programs that generate a client.</p></li></ul>
<p>Did you come here to enroll? Please open the link that your platform sent you.</p>`
}

/** The results of a search. */
export function searchPage(question: string, found: readonly Found[], baseUrl: string): Html {
  if (question === '')
    return html`<h1>Search</h1><p>Type a word, such as <code>idempotency</code>, above.</p>`
  return html`<h1>Search: ${question}</h1>
<p>${found.length === 0 ? 'Nothing was found. Try fewer or other words.' : `${found.length === 20 ? 'The best 20' : found.length} found.`}</p>
<ul class="cards">${found.map(
    ({ title, path, excerpt }) =>
      html`<li><a href="${baseUrl}/docs/${path}">${title}</a><p>${excerpt}</p></li>`,
  )}</ul>`
}

/** An index of the documents for language models (llms.txt): one line per page, with its Markdown address. */
export function llmsText(site: Site, baseUrl: string): string {
  const pages = [...site.pages.values()]
  const groups = [...new Set(pages.map(({ group }) => group))].map(group => {
    const lines = pages
      .filter(page => page.group === group)
      .map(({ path, title, summary }) => `- [${title}](${baseUrl}/docs/${path}.md): ${summary}`)
    return `## ${group}\n\n${lines.join('\n')}\n`
  })
  return `# Benefit Enrolment Integration Service

> Partners prefill a user, list the benefits with status, enroll, and hear of every change by a webhook. The description
> of the interface is at ${baseUrl}/openapi.json.

${groups.join('\n')}`
}
