import { html, type Slot } from '../../http/html.ts'
import type { Objection, Standing } from './why-not.ts'

/** What is closed to the user and why, and below that what is open, with which offer. */
export function whyNot(all: readonly Standing[], isPersonShown: boolean): Slot {
  const shut = all.filter(one => one.against.length > 0)
  const open = all.filter(one => isOpen(one) && one.within === undefined)
  const offers = new Map<string, string[]>()
  for (const { displayname, within = [] } of all)
    for (const offer of within) offers.set(offer, [...(offers.get(offer) ?? []), displayname])
  return html`${
    shut.length === 0
      ? html`<p class="hint">Nothing is closed to this person.</p>`
      : html`<ul class="rules">${grouped(shut).map(group => groupItem(group, isPersonShown))}</ul>`
  }
${
  open.length > 0 &&
  html`<p class="hint">Open to this person: ${open.map(({ displayname }) => displayname).join(', ')}.</p>`
}
${[...offers].map(([offer, benefits]) => html`<p class="hint">With ${offer}: ${benefits.join(', ')}.</p>`)}`
}

/** Whether the user could take it now, or once an offer is taken. */
export function isOpen({ isHeld, against }: Standing): boolean {
  return !isHeld && against.length === 0
}

type Closed = Objection & { readonly of: string }

/** What is closed for the same short reason, together, the longest list first. */
function grouped(
  shut: readonly Standing[],
): readonly (readonly [short: string, closed: readonly Closed[]])[] {
  const groups = new Map<string, Closed[]>()
  for (const { displayname, against } of shut)
    for (const one of against)
      groups.set(one.short, [...(groups.get(one.short) ?? []), { ...one, of: displayname }])
  return [...groups].sort(([, a], [, b]) => b.length - a.length)
}

/** The catalogue's own sentences; below them, once the person's data may be seen, what was needed and found. */
function groupItem([short, closed]: ReturnType<typeof grouped>[number], isPersonShown: boolean): Slot {
  const sentences = new Map<string, string[]>()
  for (const { why, of } of closed) sentences.set(why, [...(sentences.get(why) ?? []), of])
  const facts = new Set(
    closed.flatMap(({ needs, looked }) =>
      needs === undefined || looked === undefined ? [] : [`${needs}, ${looked}`],
    ),
  )
  const names = closed.map(({ of }) => of).join(', ')
  const codes = closed.map(({ of, code }) => html`${of} <code>${code}</code> `)
  return html`<li><p><strong>${short}${closed.length > 1 && ` (${closed.length})`}:</strong> ${names}</p>
${[...sentences].map(
  ([why, names]) =>
    html`<p>${why}${
      sentences.size > 1 && names.length > 1 && html` <span class="hint">${names.join(', ')}</span>`
    }</p>`,
)}
${
  isPersonShown && facts.size > 0 && html`<p class="hint">${[...facts].join('; ')}</p>`
}<details><summary>Rules</summary><p class="hint">${codes}</p></details></li>`
}
