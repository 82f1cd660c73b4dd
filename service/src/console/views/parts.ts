import { formatTimestamp, type Instant, type Zone } from '../../calendar/calendar.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import { tokenField } from './layout.ts'

/** The day of an instant in a zone, and its clock time, which is seen in details alone (`views/layout.ts` opens all of a page). */
export function when(instant: Instant, zone: Zone): Html {
  const text = writeInstant(instant, zone)
  const end = text.search(/, \d\d?:/)
  const clock = html`<span class="clock">${text.slice(end)}</span>`
  return html`<time datetime="${formatTimestamp(instant)}">${text.slice(0, end)}${clock}</time>`
}

/** An instant as text, such as `Mar 3, 2026, 12:00 AM EST`. */
export function writeInstant(instant: Instant, zone: Zone): string {
  return formatOf('instant', zone).format(instant).replaceAll('\u202f', ' ')
}

/** The day of an instant as text, such as `March 3, 2026`. */
export function writeDay(instant: Instant, zone: Zone): string {
  return formatOf('day', zone).format(instant)
}

/** The day of an instant, for what has no clock time that anybody needs, such as a last day of cover. */
export function day(instant: Instant, zone: Zone): Html {
  return html`<time datetime="${formatTimestamp(instant)}">${writeDay(instant, zone)}</time>`
}

const STYLES = {
  day: { dateStyle: 'long' },
  instant: {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  },
} as const

// Created once, because creating one takes longer than formatting a thousand dates with it.
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(style: keyof typeof STYLES, zone: Zone): Intl.DateTimeFormat {
  const key = `${style} ${zone}`
  const known = formats.get(key) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, ...STYLES[style] })
  formats.set(key, known)
  return known
}

/** What a state means, as the color of its tag repeats. */
export type Tone = 'good' | 'bad' | 'wait' | 'plain'

/** A state in one word; the color only repeats it. */
export function tag(text: string, tone: Tone = 'plain'): Html {
  return html`<span class="tag ${tone}">${text}</span>`
}

/** Names and their values. */
export function facts(entries: readonly (readonly [name: string, value: Slot] | undefined | false)[]): Html {
  return html`<dl class="facts">${entries.map(
    entry => entry && html`<div><dt>${entry[0]}</dt><dd>${entry[1]}</dd></div>`,
  )}</dl>`
}

/** The colors of a button; what ends or destroys something is never in that of an ordinary act. */
export type ButtonColor = 'primary' | 'secondary' | 'danger'

/** A form of this session, with one button unless it brings others. */
export function actionForm(
  visit: Pick<OperatorVisit, 'session'>,
  form: {
    /** Given where buttons elsewhere on the page send this form, too. */
    id?: string
    action: string
    button: Slot
    fields?: Slot
    /** The id of the field for the operator's reason; absent: none is needed. */
    why?: string
    /** The label of that field. */
    because?: string
    color?: ButtonColor
    /** Further buttons that send the same fields elsewhere. */
    others?: Slot
    /** Its answer is a file, so the page stays. */
    downloads?: true
  },
): Html {
  const id = form.id !== undefined && html` id="${form.id}"`
  return html`<form method="post" action="${form.action}"
class="act"${id}${form.downloads && html` data-download`}>${tokenField(visit.session.formToken)}
${form.fields}${form.why !== undefined && reasonField(form.why, form.because)}
<button class="${form.color ?? 'secondary'}">${form.button}</button>${form.others}</form>`
}

function reasonField(id: string, label = 'Reason'): Html {
  return html`<p class="field"><label for="${id}">${label}</label>
<input id="${id}" name="reason" required minlength="3" maxlength="300" autocomplete="off" aria-describedby="${id}-hint">
<span class="hint" id="${id}-hint">Kept in the audit log, sealed.
Name the ticket or the call, not the person.</span></p>`
}

/** A field in which one option is chosen; the label of an option is its value unless a pair gives another. */
export function selectField(
  name: string,
  label: string,
  options: readonly (string | readonly [value: string, label: string])[],
  chosen?: string,
): Html {
  const pairs = options.map(option => (typeof option === 'string' ? ([option, option] as const) : option))
  return html`<p class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">${pairs.map(
    ([value, shown]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${shown}</option>`,
  )}</select></p>`
}

/** A table with a caption for screen readers; a sentence when it is empty. A column that sorts brings its own heading. */
export function table(shown: {
  caption: string
  columns: readonly (string | Html)[]
  rows: readonly (readonly Slot[])[]
  empty: string
}): Html {
  if (shown.rows.length === 0) return html`<p class="hint">${shown.empty}</p>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${shown.caption}"><table>
<caption class="unseen">${shown.caption}</caption>
<thead><tr>${shown.columns.map(one => (typeof one === 'string' ? html`<th scope="col">${one}</th>` : one))}</tr></thead>
<tbody>${shown.rows.map(row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`
}

/** A part of a page under a heading. */
export function section(heading: string, body: Slot, more?: Slot): Html {
  return html`<section class="card"><div class="heading"><h2>${heading}</h2>${more}</div>${body}</section>`
}

/** A user for those who may see no userid: the end of the service id. */
export function shortId(serviceId: string): string {
  return `…${serviceId.slice(-12)}`
}

/** A count with its noun: `1 event`, `2 events`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** The action of an entry of the audit log: in words, or as code where it is an operation of the API or an address. */
export function deedWords(action: string): Slot {
  if (/^[a-z]+[A-Z_]|^(GET|POST) /.test(action)) return html`<code>${action}</code>`
  return action.replace(/\bvoid( user)?\b/, 'taking back an enrollment')
}

/** The result of an entry of the audit log, unless it is what its action says. */
export function resultTag(result: string): Slot {
  if (AS_SAID.has(result)) return ''
  const words = RESULTS[result] ?? `not done: ${result.replaceAll('_', ' ')}`
  return html` ${tag(words, NEUTRAL.has(result) ? 'plain' : 'bad')}`
}

const AS_SAID = new Set(['done', 'shown', 'found', 'asked', 'whole'])
const NEUTRAL = new Set(['begun', 'nothing'])
/** The words of results other than the code of a refusal. */
const RESULTS: Readonly<Record<string, string>> = {
  refused: 'refused',
  begun: 'begun',
  nothing: 'nothing found',
  failed: 'failed',
  'not done': 'not done',
  altered: 'altered',
}
