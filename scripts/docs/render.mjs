// Renders Markdown as HTML for the docs site. Links between documents become addresses of the site; a link to a
// document that is not published stops the build.
import { Marked } from 'marked'

/** The address of the pages in the build; the service replaces it with its own. */
export const baseMark = 'https://benefits.example.com'

const languages = {
  sh: 'Shell',
  ts: 'TypeScript',
  js: 'JavaScript',
  html: 'HTML',
  jsx: 'React',
  json: 'JSON',
  http: 'HTTP',
  python: 'Python',
  php: 'PHP',
  ruby: 'Ruby',
  java: 'Java',
  csharp: 'C#',
  go: 'Go',
}

/** The id of a heading, formed as code hosting sites form it, so that a link works in both places. */
export function idOf(text) {
  return text
    .toLowerCase()
    .replace(/<[^>]+>/g, '')
    .replace(/&[a-z0-9#]+;/g, '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function escaped(text) {
  return text.replace(/[&<>"]/g, sign => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign])
}

/** A document as the site has it: without comments, which are for maintainers, and pictures, which would double the package. */
export function published(markdown) {
  return (
    markdown
      // A comma or a period behind a comment belongs to the word before it.
      .replace(/ *<!--[\s\S]*?-->(?=[,.;:])/g, '')
      .replace(/<!--[\s\S]*?-->\n?/g, '')
      .replace(/^!\[.*\]\(screenshots\/.*\)\n/gm, '')
  )
}

/**
 * Renders one document. `linkOf` turns the address of a link to another document into an address of the site, or
 * throws. Returns the HTML, and the document's sections for the contents and the search.
 */
export function render(markdown, linkOf) {
  let tables = 0
  // Each labeled region of a page needs a name of its own.
  const countTable = () => {
    tables += 1
    return tables
  }
  const sections = []
  const ids = new Set()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const title = this.parser.parseInline(tokens)
        const text = this.parser.parseInline(tokens, this.parser.textRenderer)
        // Documents and comments cite sections by their number, so the number makes the id.
        const number = /^(\d+(?:\.\d+)?)\.? /.exec(text)?.[1]
        const base = number ? `section-${number}` : idOf(text)
        let id = base
        for (let count = 1; ids.has(id); count += 1) id = `${base}-${count}`
        ids.add(id)
        sections.push({ id, title: text.replace(/<[^>]+>/g, ''), depth })
        if (depth === 1) return `<h1>${title}</h1>\n`
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${title}</a></h${depth}>\n`
      },
      code({ text, lang = '' }) {
        if (lang === 'mermaid') return moves(text, countTable())
        return `<pre tabindex="0" role="group" aria-label="${languages[lang] ?? 'Example'}"><code>${escaped(text)}</code></pre>\n`
      },
      codespan({ text }) {
        // Browsers break a line behind any hyphen, which would leave the first one of an option alone.
        const words = escaped(text).replace(/(?<=^|\s)--[\w-]+/g, '<span class="option">$&</span>')
        return `<code>${words}</code>`
      },
      table(token) {
        const cell = (at, tag) =>
          `<${tag}${tag === 'th' ? ' scope="col"' : ''}>${this.parser.parseInline(at.tokens)}</${tag}>`
        const head = `<tr>${token.header.map(at => cell(at, 'th')).join('')}</tr>`
        const rows = token.rows.map(row => `<tr>${row.map(at => cell(at, 'td')).join('')}</tr>`).join('\n')
        return `<div class="wide" tabindex="0" role="region" aria-label="Table ${countTable()}"><table><thead>${head}</thead>\n<tbody>${rows}</tbody></table></div>\n`
      },
      link({ href, tokens }) {
        // Markdown makes a link of every email address; those of the docs are examples, and nobody reads mail there.
        if (href.startsWith('mailto:')) return this.parser.parseInline(tokens)
        return `<a href="${escaped(linkOf(href))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  const html = groupSamples(marked.parse(published(markdown)))
  noteTexts(html, sections)
  return { html, sections }
}

/**
 * Puts samples of the same request in several languages together: the first is open, the others open on request. Two
 * blocks in one language are steps to do one after the other, so all of them stay open.
 */
function groupSamples(html) {
  return html.replace(
    /(?:<pre tabindex="0" role="group" aria-label="[^"]*">(?:(?!<\/pre>)[\s\S])*<\/pre>\n){2,}/g,
    blocks => {
      const samples = [
        ...blocks.matchAll(/<pre tabindex="0" role="group" aria-label="([^"]*)">[\s\S]*?<\/pre>\n/g),
      ]
      if (new Set(samples.map(([, label]) => label)).size < samples.length) return blocks
      return samples
        .map(
          ([block, label], at) =>
            `<details class="sample"${at === 0 ? ' open' : ''}><summary>${label}</summary>\n${block}</details>\n`,
        )
        .join('')
    },
  )
}

/** A state diagram as a table of its transitions, which needs no script and can be read aloud. */
function moves(text, number) {
  const found = [...text.matchAll(/^\s*(\[\*\]|\w+) --> (\[\*\]|\w+)(?: : (.+))?$/gm)]
  // In some drawings no arrow has words.
  const heads = found.some(([, , , when]) => when) ? ['from', 'to', 'when'] : ['from', 'to']
  const name = (state, place) => (state === '[*]' ? `<em>${place}</em>` : `<code>${escaped(state)}</code>`)
  const rows = found.map(([, from, to, when = '']) => {
    const cells = [name(from, 'beginning'), name(to, 'end'), escaped(when)].slice(0, heads.length)
    return `<tr>${cells.map(cell => `<td>${cell}</td>`).join('')}</tr>`
  })
  const head = `<tr>${heads.map(one => `<th scope="col">${one}</th>`).join('')}</tr>`
  return `<div class="wide" tabindex="0" role="region" aria-label="Moves ${number}"><table><thead>${head}</thead>\n<tbody>${rows.join('\n')}</tbody></table></div>\n`
}

/** Adds the plain text below each heading, for the search. */
function noteTexts(html, sections) {
  const parts = html.split(/(?=<h[1-6][ >])/).slice(-sections.length)
  for (const [at, section] of sections.entries())
    section.text = parts[at]
      .replace(/^<h\d[\s\S]*?<\/h\d>|<summary>[\s\S]*?<\/summary>/g, '')
      .replace(/<\/(p|li|td|th|pre)>/g, ' ')
      .replace(/<[^>]+>/g, '')
      .replace(/&(\w+|#39);/g, (sign, name) => signs[name] ?? sign)
      .replace(/\s+/g, ' ')
      .trim()
}

const signs = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
