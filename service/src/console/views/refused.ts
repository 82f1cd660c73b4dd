import { errors } from '@benefit-enrolment/contract/names'
import type { Catalogue } from '../../catalogue/model.ts'
import { html, type Slot } from '../../http/html.ts'
import type { RefusedCreate } from '../../membership/commands/refused-creates.ts'
import { table, when } from './parts.ts'

const MOST_SHOWN = 20

/**
 * Attempts to enroll somebody that were refused, the newest first, with the rules and the fields at fault; above them the
 * one whose request was sought, if older ones hide it.
 */
export function refusedTable(
  refused: readonly RefusedCreate[],
  shown: { catalogue: Catalogue; zone: string; sought?: string },
): Slot {
  const newest = refused.toReversed()
  const hidden = newest.slice(MOST_SHOWN)
  const sought = hidden.filter(({ requestId }) => requestId === shown.sought?.toLowerCase())
  const older = hidden.filter(one => !sought.includes(one))
  const first = [...sought, ...newest.slice(0, MOST_SHOWN)]
  const olderTable = () => tableOf(older, { ...shown, caption: 'Older attempts that were refused' })
  return html`${tableOf(first, { ...shown, caption: 'Attempts to enroll this person that were refused, the newest first' })}${
    older.length > 0 && html`<details><summary>${older.length} older</summary>${olderTable()}</details>`
  }`
}

function tableOf(
  refused: readonly RefusedCreate[],
  { caption, catalogue, zone }: { caption: string; catalogue: Catalogue; zone: string },
): Slot {
  return table({
    caption,
    columns: ['When', 'Why'],
    rows: refused.map(one => [
      html`<span id="request-${one.requestId}">${when(one.at, zone)}</span><br><span class="hint">request <code>${one.requestId}</code></span>`,
      html`${titleOf(one.code)} <code>${one.code}</code><ul class="rules">${one.reasons.map(reason => html`<li>${reasonWords(reason, catalogue)}</li>`)}</ul>`,
    ]),
    empty: 'None in the last 90 days.',
  })
}

function titleOf(code: string): string {
  return Object.entries(errors).find(([name]) => name === code)?.[1].title ?? 'Refused'
}

/** A rule of the catalogue in its own words; of a field its name, and what was wrong with it. */
function reasonWords({ field, code }: RefusedCreate['reasons'][number], catalogue: Catalogue): Slot {
  return html`${textOf({ field, code }, catalogue) ?? html`<code>${field}</code>`} <code>${code}</code>`
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
