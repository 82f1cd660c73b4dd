import { interfaceChanges } from '@benefit-enrolment/contract'
import { type Html, html } from '../http/html.ts'

/** The change log of the interface as a page. */
export function changeLogPage(baseUrl: string): Html {
  return html`
<h1>Change log of the interface</h1>
<p>Also as <a href="${baseUrl}/changelog.json">JSON</a> and as an <a href="${baseUrl}/changelog.atom">Atom feed</a>.
Each version is described by <a href="${baseUrl}/openapi.json">openapi.json</a>, older ones by
<code>?version=</code>.</p>
${interfaceChanges.map(
  ({ version, describedsince, changes }) => html`
<h2 id="${version}">${version}</h2>
<p class="soft">Described since <time>${describedsince}</time></p>
<ul>${changes.map(change => html`<li>${coded(change)}</li>`)}</ul>`,
)}`
}

/** The change log of the interface as an Atom feed (RFC 4287). */
export function changeLogFeed(baseUrl: string): string {
  const updated = interfaceChanges
    .map(change => change.describedsince)
    .sort()
    .at(-1)
  const feed = html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>${baseUrl}/changelog</id>
<title>Change log of the Benefit Enrolment interface</title>
<updated>${updated}T00:00:00Z</updated>
<author><name>Benefit Enrolment Integration Service</name></author>
<link rel="self" type="application/atom+xml" href="${baseUrl}/changelog.atom"/>
<link rel="alternate" type="text/html" href="${baseUrl}/changelog"/>
${interfaceChanges.map(
  ({ version, describedsince, changes }) => html`<entry>
<id>${baseUrl}/changelog#${version}</id>
<title>Version ${version}</title>
<published>${describedsince}T00:00:00Z</published>
<updated>${describedsince}T00:00:00Z</updated>
<link rel="alternate" type="text/html" href="${baseUrl}/changelog#${version}"/>
<content type="text">${changes.join('\n').replaceAll('`', '')}</content>
</entry>
`,
)}</feed>`
  return `<?xml version="1.0" encoding="utf-8"?>\n${feed.markup}\n`
}

/** Text in which parts between backticks become code. */
export function coded(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
