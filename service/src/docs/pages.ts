import { describeLimits, type LoadLimits, type RequestLimits } from '@benefit-enrolment/contract'
import { Html, html } from '../http/html.ts'
import { coded } from './change-log.ts'
import type { Found } from './search.ts'
import { addressed, type DocsPage, type Site } from './site.ts'

/** The limits of this service, which replace a placeholder in the documents. */
export type Limits = LoadLimits & RequestLimits

const limitsMark = '<div data-limits></div>'

/** The content of a page of the site, with this service's address and limits. */
export function contentOf(page: DocsPage, baseUrl: string, limits?: Limits): Html {
  const paragraphs = html`${describeLimits(limits).map(text => html`<p>${coded(text)}</p>`)}`
  return new Html(addressed(page.html, baseUrl).replace(limitsMark, () => paragraphs.markup))
}

/** The same as Markdown. */
export function markdownOf(page: DocsPage, baseUrl: string, limits: Limits): string {
  return addressed(page.markdown, baseUrl).replace(limitsMark, () => describeLimits(limits).join('\n\n'))
}

/** The first page of the docs: the first call, and what most come for. The menu has everything. */
export function docsHome(baseUrl: string): Html {
  const task = (path: string, name: string, text: string) =>
    html`<li><a href="${baseUrl}/docs/${path}">${name}</a><p>${text}</p></li>`
  return html`<h1>Documentation</h1>
<p>Hand over what you know of a user, list the benefits with status, let the person enroll,
and hear of every change by a webhook.</p>
<h2 id="your-first-call">Your first call</h2>
<p>Your client id, client secret and API key come from the operator. In a shell:</p>
<pre tabindex="0" role="group" aria-label="Shell"><code>${firstCall(baseUrl)}</code></pre>
<p>The answer is <code>"prefill saved"</code>. The <a href="${baseUrl}/docs/quick-start">quick start</a> goes on
from here to a signed webhook at a program of yours, in ten minutes.</p>
<h2 id="three-tasks">Three tasks</h2>
<ul class="cards">${[
    task(
      'embed',
      'Let people enroll',
      'One link or one script: the page asks, in your colors, and you store no answers.',
    ),
    task(
      'swap',
      'Swap a benefit',
      'Show what would happen, plan it, undo it, and hear when it has happened.',
    ),
    task(
      'webhooks',
      'Hear of every change',
      'A signed request to your endpoint, repeated until you have it.',
    ),
  ]}</ul>
<p>Look up <a href="${baseUrl}/docs/reference">every operation</a>, <a href="${baseUrl}/docs/errors">every error</a> and
<a href="${baseUrl}/docs/promises">what you can rely on</a>. For programs:
<a href="${baseUrl}/openapi.json">OpenAPI</a>, also <a href="${baseUrl}/openapi.yaml">as YAML</a>,
a <a href="${baseUrl}/postman.json">Postman collection</a>,
<a href="${baseUrl}/llms.txt">llms.txt</a> with every page as Markdown,
and the <a href="${baseUrl}/changelog">change log</a>.</p>`
}

/** A token and a prefill, by curl and sed alone. */
function firstCall(baseUrl: string): string {
  return `export CLIENT_ID=… CLIENT_SECRET=… API_KEY=…

TOKEN=$(curl -sS -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials ${baseUrl}/oauth2/token |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

NAME=first-$(date +%s)
curl -sS ${baseUrl}/user/prefill -H "Authorization: Bearer $TOKEN" -H "x-api-key: $API_KEY" \\
  -H 'Content-Type: application/json' -H 'Version: v2' -H "Idempotency-Key: $NAME" \\
  -d '{"userid":"'$NAME'","firstname":"Ada","zipcode":"33101"}'`
}

/** The page at the root of the service: what it is, and where to go. */
export function welcome(baseUrl: string, sandbox: boolean): Html {
  return html`<h1>Benefit Enrolment Integration Service</h1>
<p>Platforms use this service to offer insurance and other benefits inside their own product: they prefill
what they know of a user, list the benefits with status, enroll, and hear of every change by a webhook.</p>
<p>This is ${sandbox ? 'a sandbox: a place to try things out' : 'a live service'}. It speaks JSON to partners and their
programs.</p>
<ul class="cards"><li><a href="${baseUrl}/docs/quick-start">Quick start</a><p>From your credentials to a signed
webhook at a program of yours, in ten minutes.</p></li>
<li><a href="${baseUrl}/docs">Documentation</a><p>Guides, reference, errors, change log.</p></li>
<li><a href="${baseUrl}/openapi.json">OpenAPI description</a><p>For programs that generate a client.</p></li></ul>
<p>Did you come here to enroll? Please open the link that your platform sent you.</p>`
}

/** The results of a search. */
export function searchPage(question: string, found: readonly Found[], baseUrl: string): Html {
  if (question === '')
    return html`<h1>Search</h1><p>Type a word, such as <code>idempotency</code>, above.</p>`
  return html`<h1>Search: ${question}</h1>
<p>${
    found.length === 0
      ? 'Nothing was found. Try fewer or other words.'
      : `${found.length === 20 ? 'The best 20' : found.length} found.`
  }</p>
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
