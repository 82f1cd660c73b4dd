import { type Alias, Lexer, LineCounter, type Node, parseDocument, visit, type YAMLError } from 'yaml'
import { Cursor, type Reading } from './cursor.ts'
import type { Place, Problem } from './problem.ts'

const MAX_BYTES = 1024 * 1024
const MAX_NESTING = 20
const MAX_ALIASES = 100
// After the first few, complaints about syntax only follow from those before.
const MAX_COMPLAINTS = 5

/**
 * Opens a YAML text: a cursor at its root, and the list that problems found later are added to.
 * `root` is missing when the text is too large, nested too deeply or no YAML; `problems` then says why.
 */
export function openYaml(text: string): { readonly root?: Cursor; readonly problems: Problem[] } {
  const problems: Problem[] = []
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES) {
    const message = `the file has ${bytes} bytes; shorten it to ${MAX_BYTES} (1 MiB) at most`
    return { problems: [{ ...START, message }] }
  }
  const nestedAt = findDeepNesting(text) ?? findDeepIndentation(text)
  if (nestedAt !== undefined) {
    const message = `nested more than ${MAX_NESTING} deep; a catalogue needs 8, so look for a bracket, a dash or an indentation too many`
    return { problems: [{ line: nestedAt, column: 1, path: '', message }] }
  }
  const lines = new LineCounter()
  // The library looks for repeated keys in quadratic time; Cursor.fields does it in one go.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const complaints = [...document.errors, ...document.warnings].slice(0, MAX_COMPLAINTS)
  problems.push(...complaints.map(error => explain(error, lines)))
  if (document.contents === null && problems.length === 0)
    problems.push({ ...START, message: 'the file is empty; write schema, benefits and offers' })
  if (problems.length > 0) return { problems }
  const reading: Reading = {
    lines,
    problems,
    aliases: resolveAliases(document.contents, { lines, problems }),
  }
  if (problems.length > 0) return { problems }
  return { root: new Cursor(reading, document.contents, { path: '', offset: 0 }), problems }
}

const START: Place = { line: 1, column: 1, path: '' }

/** The line where brackets, or dashes on one line, open more levels than any catalogue has: such a text can exhaust the parser. */
function findDeepNesting(text: string): number | undefined {
  let line = 1
  let brackets = 0
  let dashes = 0
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') brackets += 1
    else if (token === ']' || token === '}') brackets -= 1
    else if (token === '-' || token === '?') dashes += 1
    if (brackets > MAX_NESTING || dashes > MAX_NESTING) return line
    const breaks = countLineBreaks(token)
    if (breaks > 0) dashes = 0
    line += breaks
  }
  return undefined
}

/**
 * The line that is indented under more lines than any catalogue nests. Checked here because the parser goes one call
 * deeper for each level, and whether its stack suffices would depend on the machine.
 */
function findDeepIndentation(text: string): number | undefined {
  const open: number[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const indent = line.search(/[^ \r]/)
    if (indent < 0 || line[indent] === '#') continue
    while ((open.at(-1) ?? -1) >= indent) open.pop()
    open.push(indent)
    if (open.length > MAX_NESTING) return index + 1
  }
  return undefined
}

function countLineBreaks(token: string): number {
  let count = 0
  for (let at = token.indexOf('\n'); at !== -1; at = token.indexOf('\n', at + 1)) count += 1
  return count
}

function resolveAliases(root: Node | null, reading: Omit<Reading, 'aliases'>): Map<Alias, Node> {
  const anchors = new Map<string, Node>()
  const aliases = new Map<Alias, Node>()
  let count = 0
  const refuse = (alias: Alias, message: string) => {
    const { line, col } = reading.lines.linePos(alias.range?.[0] ?? 0)
    reading.problems.push({ line, column: col, path: '', message })
  }
  visit(root, {
    Value: (_key, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Alias: (_key, alias) => {
      count += 1
      const target = anchors.get(alias.source)
      if (count === MAX_ALIASES + 1)
        refuse(alias, `more than ${MAX_ALIASES} aliases; write the values out from here on`)
      if (target === undefined)
        refuse(
          alias,
          `*${alias.source} stands for nothing; write &${alias.source} before the value it repeats, further up`,
        )
      else aliases.set(alias, target)
    },
  })
  return aliases
}

const REMEDIES: Partial<Record<YAMLError['code'], string>> = {
  TAB_AS_INDENT: 'a tab cannot indent a line; use spaces',
  BAD_INDENT: 'the indentation does not fit what stands above; align the line, and close every bracket',
  BLOCK_AS_IMPLICIT_KEY: 'a second ": " on the same line; put a text that holds a colon in quotes',
  MISSING_CHAR:
    'something is not closed or lacks its colon; look for a missing quote, bracket or ":" just before this place',
  BAD_SCALAR_START: 'a text cannot begin with this character; put the text in quotes',
  MULTIPLE_DOCS: 'a second document begins here; keep one catalogue in a file and delete the "---"',
  RESOURCE_EXHAUSTION: 'nested too deeply; look for lines that are indented more and more',
  TAG_RESOLVE_FAILED: 'a text that begins with "!" is read as a tag; put it in quotes',
  UNEXPECTED_TOKEN: 'something stands where nothing can; check the quotes and the indentation of this line',
}

function explain(error: YAMLError, lines: LineCounter): Problem {
  const { line, col } = lines.linePos(error.pos[0])
  const remedy = REMEDIES[error.code] ?? 'check the indentation and the quotes of this line'
  return { line, column: col, path: '', message: `not valid YAML: ${remedy} (${error.message})` }
}
