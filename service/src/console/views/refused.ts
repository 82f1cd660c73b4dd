import { errors } from '@benefit-enrolment/contract/names'
import type { Catalogue } from '../../catalogue/model.ts'
import { html, type Slot } from '../../http/html.ts'
import type { RefusedCreate } from '../../membership/records/refused-creates.ts'
import { table, tag, when } from './parts.ts'

const MOST_SHOWN = 20

/**
 * Attempts to enroll somebody that were refused, the newest first, with the rules and the fields at fault; above them the
 * one whose request was sought, if older ones hide it.
 */
export function refusedTable(
  refused: readonly RefusedCreate[],
  shown: { catalogue: Catalogue; zone: string; sought?: string; whom?: string },
): Slot {
  const { whom = 'this person' } = shown
  const newest = refused.toReversed()
  const hidden = newest.slice(MOST_SHOWN)
  const sought = hidden.filter(({ requestId }) => requestId === shown.sought?.toLowerCase())
  const older = hidden.filter(one => !sought.includes(one))
  const first = [...sought, ...newest.slice(0, MOST_SHOWN)]
  const olderTable = () => tableOf(older, { ...shown, caption: 'Older attempts that were refused' })
  const caption = `Attempts to enroll ${whom} that were refused, the newest first`
  return html`${tableOf(first, { ...shown, caption })}${
    older.length > 0 && html`<details><summary>${older.length} older</summary>${olderTable()}</details>`
  }`
}

function tableOf(
  refused: readonly RefusedCreate[],
  {
    caption,
    catalogue,
    zone,
    sought,
  }: { caption: string; catalogue: Catalogue; zone: string; sought?: string },
): Slot {
  return table({
    caption,
    columns: ['When', 'Why'],
    rows: refused.map(one => [
      html`<span id="request-${one.requestId}">${when(one.at, zone)}</span>${
        one.requestId === sought?.toLowerCase() && html` ${tag('searched for')}`
      }<br><span class="hint">request <code>${one.requestId}</code></span>`,
      html`${titleOf(one.code)} <code>${one.code}</code>
<ul class="rules">${one.reasons.map(reason => html`<li>${reasonWords(reason, catalogue)}</li>`)}</ul>`,
    ]),
    empty: 'None in the last 90 days.',
  })
}

/** Why an attempt was refused, in the catalogue's own sentence where a rule refused it. */
export function refusalSentence({ code, reasons }: RefusedCreate, catalogue: Catalogue): string {
  return reasons.flatMap(reason => textOf(reason, catalogue) ?? [])[0]?.replace(/\.$/, '') ?? titleOf(code)
}

function titleOf(code: string): string {
  return Object.entries(errors).find(([name]) => name === code)?.[1].title ?? 'Refused'
}

/** A rule of the catalogue in its own words; of a field its name, and what was wrong with it. */
function reasonWords({ field, code }: RefusedCreate['reasons'][number], catalogue: Catalogue): Slot {
  const plain = html`<code>${field}</code>${FAULTS[code] !== undefined && html` ${FAULTS[code]}`}`
  return html`${textOf({ field, code }, catalogue) ?? plain} <code>${code}</code>`
}

/** In words, what was wrong with a field, for those codes of the API that do not read as words. */
const FAULTS: Readonly<Record<string, string>> = {
  required: 'is missing',
  unknown_field: 'has a field that the API does not know',
  type: 'is of the wrong type',
  format: 'is not in the form that is asked for',
  pattern: 'is not in the form that is asked for',
  enum: 'is none of the values that are allowed',
  minLength: 'is too short',
  maxLength: 'is too long',
  maxItems: 'has too many values',
  minItems: 'has too few values',
}

/** The text of the rule of this code, unless rules of different texts share the code. */
function textOf({ field, code }: RefusedCreate['reasons'][number], catalogue: Catalogue): string | undefined {
  const { offers, benefits } = catalogue
  const judged = field.startsWith('offer') ? [...offers.values()] : [...benefits.values()]
  const texts = new Set(
    judged.flatMap(({ rules }) => rules.filter(rule => rule.code === code).map(({ text }) => text.en)),
  )
  return texts.size === 1 ? [...texts][0] : undefined
}
