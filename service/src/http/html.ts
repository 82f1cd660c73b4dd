/** Markup that is safe to send. Only `html` creates it, so everything else gets escaped. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** A value in a template: text is escaped, `Html` is not, lists are joined, and values without content add nothing. */
export type Slot = Html | string | number | false | null | undefined | readonly Slot[]

/** Makes markup from a template: every value is escaped unless it is markup already. Never refuses. */
export function html(parts: TemplateStringsArray, ...slots: readonly Slot[]): Html {
  let markup = parts[0] ?? ''
  slots.forEach((slot, at) => {
    markup += show(slot) + (parts[at + 1] ?? '')
  })
  return new Html(markup)
}

/** Escapes text for use between tags and inside quoted attributes. */
function escapeText(text: string): string {
  return text.replace(/[&<>"'`]/g, character => escapes[character] ?? character)
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function show(slot: Slot): string {
  if (slot instanceof Html) return slot.markup
  if (slot === false || slot === null || slot === undefined) return ''
  if (typeof slot === 'string') return escapeText(slot)
  if (typeof slot === 'number') return String(slot)
  return slot.map(show).join('')
}
