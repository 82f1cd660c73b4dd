const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: ' ',
}

/** The beginnings of what is read as one: an item of a list, a card, a row, a heading. */
const PART =
  /(?=<(?:li|article|section|form|tr|h[1-6]|dt|details)\b)|<\/(?:li|article|section|ul|ol|dl|form|tr|table|details)>/
const LINE =
  /<\/?(?:p|div|ul|ol|li|dl|dt|dd|tr|th|td|table|label|legend|fieldset|button|summary|section|form|article|option|br|h[1-6])\b[^>]*>/

/**
 * What there is to read in a document, line by line: its words, where links lead, and what is typed and chosen in its forms; an item of a list, a
 * card or a row is one line. What is folded is its summary alone, unless it is to be unfolded. With `about` only the parts that have these words.
 */
export function readable(html: string, about = '', isUnfolded = false): string[] {
  const main = /<main\b[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? html
  return main
    .replace(/<(script|style|svg|template|head)\b[\s\S]*?<\/\1>/g, '')
    .replace(
      /<details(?![^>]* open)[^>]*>\s*<summary>([\s\S]*?)<\/summary>([\s\S]*?)<\/details>/g,
      (_, summary, more) => (isUnfolded ? `<p>${summary}</p>${more}` : `<p>+ ${summary}</p>`),
    )
    .replace(/<a\b[^>]*?href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/g, '$2 →$1 ')
    .replace(/<button\b[^>]*>([\s\S]*?)<\/button>/g, '<p>($1)</p>')
    .replace(/<select\b[^>]*>([\s\S]*?)<\/select>/g, (_, options: string) => {
      const chosen = /<option[^>]* selected[^>]*>([^<]*)/.exec(options)?.[1]
      return ` [${chosen ?? /<option[^>]*>([^<]*)/.exec(options)?.[1] ?? ''}] `
    })
    .replace(/<(?:input|textarea)\b[^>]*>/g, input => {
      if (/ type="hidden"/.test(input)) return ''
      if (/ type="(radio|checkbox)"/.test(input)) return / checked/.test(input) ? ' [x] ' : ' [ ] '
      return ` [${/ value="([^"]*)"/.exec(input)?.[1] ?? ''}] `
    })
    .split(PART)
    .flatMap(part => {
      const lines = part.split(LINE).map(wordsIn).filter(Boolean)
      if (!lines.join(' ').includes(about)) return []
      return /^<(li|article|tr|dt)/.test(part) && lines.length > 0 ? [`- ${lines.join(' · ')}`] : lines
    })
}

function wordsIn(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replace(/\s+/g, ' ')
    .replace(/ ([.,;:)])/g, '$1')
    .trim()
}
