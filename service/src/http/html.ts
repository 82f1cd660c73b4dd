/** A piece of markup that is safe to send: made by `html` alone, so whatever is not one gets escaped. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** What a template may hold: text is escaped, `Html` stays, lists are joined, nothing shows nothing. */
export type Slot = Html | string | number | false | null | undefined | readonly Slot[]

/** Makes markup from a template in which every interpolation is escaped unless it already is markup. Never refuses. */
export function html(parts: TemplateStringsArray, ...slots: readonly Slot[]): Html {
  let markup = parts[0] ?? ''
  slots.forEach((slot, at) => {
    markup += show(slot) + (parts[at + 1] ?? '')
  })
  return new Html(markup)
}

/** Joins pieces with text between them, as in a list of names. */
export function join(pieces: readonly Slot[], between: string): Html {
  return new Html(pieces.map(show).join(escapeText(between)))
}

/** Text as it may stand between tags and inside quoted attributes. */
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
