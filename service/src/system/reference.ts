import {
  commonErrors,
  describeLimits,
  type ErrorCode,
  errors,
  events,
  exampleEvent,
  type LoadLimits,
  type Operation,
  operations,
  type RequestLimits,
  scopes,
} from '@benefit-enrolment/contract'
import { type Html, html } from '../http/html.ts'
import { coded } from './change-log.ts'

type Surroundings = {
  readonly baseUrl: string
  readonly sandbox: boolean
  readonly limits: LoadLimits & RequestLimits
}

/** The reference: every operation, event, scope and error, made from the declarations (contract §13). */
export const referencePage = (at: Surroundings): Html => {
  const shown = (Object.values(operations) as Operation[]).filter(
    operation => at.sandbox || operation.scope !== 'sandbox:control',
  )
  const tags = [...new Set(shown.map(operation => operation.tag))]
  return html`
<h1>Benefit Enrolment Integration Service: reference</h1>
<p>The same as a machine reads it: <a href="${at.baseUrl}/openapi.json">openapi.json</a>,
<a href="${at.baseUrl}/openapi.yaml">openapi.yaml</a>. What changed: <a href="${at.baseUrl}/changelog">change log</a>.</p>
<nav aria-label="Contents"><ul>${tags.map(
    tag =>
      html`<li><strong>${tag}</strong><ul>${shown
        .filter(operation => operation.tag === tag)
        .map(
          ({ id, method, path }) => html`<li><a href="#${id}"><code>${method} ${path}</code></a></li>`,
        )}</ul></li>`,
  )}<li><strong>Lists</strong><ul><li><a href="#events">Events</a></li><li><a href="#scopes">Scopes</a></li><li><a href="#errors">Errors</a></li><li><a href="#limits">Limits</a></li></ul></li></ul></nav>
<h2 id="first">The first request</h2>
<p>Fetch a token with your client id and secret; it lives an hour. Send it with your API key on every partner operation.</p>
<pre>${firstRequest(at.baseUrl)}</pre>
<p>Every answer carries <code>Request-Id</code>. A write is answered when it is stored for good. With
<code>Idempotency-Key</code> a write can be sent again without doing it twice; Prefill asks for
<code>Version: v2</code> besides. Unknown fields are refused, and nothing is converted.</p>
${tags.map(
  tag =>
    html`<h2>${tag}</h2>${shown.filter(operation => operation.tag === tag).map(operation => section(operation))}`,
)}
<h2 id="events">Events</h2>
<p>Sent by <code>POST</code> to the addresses you provide, with Basic credentials and an <code>Idempotency-Key</code> that
is the same on every try. Answer with any 2xx within 15 seconds.</p>
<pre>${JSON.stringify(exampleEvent, undefined, 2)}</pre>
${table(
  ['event', 'sent when'],
  Object.entries(events).map(([name, when]) => [html`<code>${name}</code>`, when]),
)}
<h2 id="scopes">Scopes</h2>
${table(
  ['scope', 'allows to'],
  Object.entries(scopes).map(([name, use]) => [html`<code>${name}</code>`, use]),
)}
<h2 id="errors">Errors</h2>
<p>Errors are <code>application/problem+json</code> (RFC 9457) with a <code>code</code>, the fields in
<code>errors</code>, and a <code>usermessage</code> for people. Every operation can meet
${commonErrors.map((code, index) => html`${index > 0 && ', '}${errorLink(code)}`)}.</p>
${table(
  ['code', 'status', 'meaning', 'what to do'],
  (Object.keys(errors) as ErrorCode[]).map(code => [
    html`<a id="error-${code}" href="${at.baseUrl}/docs/errors/${code}"><code>${code}</code></a>`,
    String(errors[code].status),
    errors[code].title,
    errors[code].remedy,
  ]),
)}
<h2 id="limits">Limits</h2>
${describeLimits(at.limits).map(paragraph => html`<p>${coded(paragraph)}</p>`)}`
}

const firstRequest = (
  baseUrl: string,
): string => `curl -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials ${baseUrl}/oauth2/token

curl -X POST ${baseUrl}/user/prefill \\
  -H "Authorization: Bearer $TOKEN" -H "x-api-key: $API_KEY" \\
  -H "Version: v2" -H "Idempotency-Key: $(uuidgen)" \\
  -H "Content-Type: application/json" -d '{"userid":"u-1001"}'`

const section = (operation: Operation): Html => {
  const { id, method, path, summary, description, scope, example } = operation
  const own = operation.errors.filter(code => !(commonErrors as readonly ErrorCode[]).includes(code))
  return html`<section aria-labelledby="${id}"><h3 id="${id}">${summary}</h3>
<p><code>${method} ${path}</code>${scope && html` · scope <code>${scope}</code>`} · <span class="soft">${operation.section}</span></p>
${description && html`<p>${coded(description)}</p>`}
${fieldTable('Path', operation.params)}
${fieldTable('Query', operation.query)}
${headerTable(operation)}
${fieldTable('Body', operation.body)}
<details><summary>Example</summary>
${example.body !== undefined && html`<pre>${pretty(example.body)}</pre>`}
<pre>${pretty(example.reply)}</pre></details>
${own.length > 0 && html`<p>Errors of its own: ${own.map((code, index) => html`${index > 0 && ', '}${errorLink(code)}`)}.</p>`}
</section>`
}

const pretty = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
const errorLink = (code: ErrorCode): Html => html`<a href="#error-${code}"><code>${code}</code></a>`

const headerTable = ({ headers = {}, idempotency }: Operation): Html | false => {
  const rows = Object.entries(headers).map(([name, { description }]): Cell[] => [
    html`<code>${name}</code>`,
    coded(description),
  ])
  if (idempotency === 'keyed')
    rows.push([
      html`<code>idempotency-key</code>`,
      'Makes the write idempotent for 24 h: the same request again gets the first answer again.',
    ])
  return rows.length > 0 && html`<h4>Headers</h4>${table(['header', 'use'], rows)}`
}

type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  'x-rule'?: string
}

const fieldTable = (title: string, schema: unknown): Html | false => {
  const rows = rowsOf(schema as Schema | undefined, '')
  return rows.length > 0 && html`<h4>${title}</h4>${table(['field', 'value', 'rule'], rows)}`
}

const rowsOf = (schema: Schema | undefined, prefix: string): Cell[][] =>
  Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => [
    [
      html`<code>${prefix}${name}</code>${!schema?.required?.includes(name) && html` <span class="soft">optional</span>`}`,
      typeOf(field),
      coded([field.description, field['x-rule']].filter(Boolean).join('; ')),
    ],
    ...rowsOf(field, `${prefix}${name}.`),
    ...rowsOf(field.items, `${prefix}${name}[].`),
  ])

const typeOf = (schema: Schema): string => {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum)
    return schema.enum.length > 8
      ? 'one of a list'
      : schema.enum.map(value => JSON.stringify(value)).join(', ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.items) return `list of ${typeOf(schema.items)}`
  return [schema.type ?? 'anything'].flat().join(' or ')
}

type Cell = Html | string

const table = (
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
): Html => html`<div class="wide" tabindex="0"
role="region" aria-label="${heads.join(', ')}"><table><thead><tr>${heads.map(head => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map(row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`
