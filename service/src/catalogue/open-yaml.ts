import { Composer, CST, Lexer, LineCounter, Parser, type YAMLError, YAMLParseError } from 'yaml'
import type { Problem } from './problem.ts'
import { readValue, type YamlValue } from './yaml-value.ts'

const MAX_BYTES = 1024 * 1024
const MAX_NESTING = 20
// Syntax errors after the first few are only consequences of those.
const MAX_COMPLAINTS = 5

/**
 * Opens a YAML text as a value that knows the position of each part, or says why it cannot: the text is too large, nested
 * too deeply or not YAML.
 */
export function openYaml(text: string): YamlValue | { readonly problems: readonly Problem[] } {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES)
    return refuse(`the file has ${bytes} bytes; shorten it to ${MAX_BYTES} (1 MiB) at most`)
  const lines = new LineCounter()
  const tokens = tokensOf(text, lines)
  if (typeof tokens === 'number')
    return refuse(
      `nested more than ${MAX_NESTING} deep; a catalogue needs 8, so look for a bracket, a dash or an indentation too many`,
      tokens,
    )
  // The library searches for repeated keys in quadratic time; `readValue` does it in a single pass.
  const [document, second] = new Composer({ uniqueKeys: false }).compose(tokens, true, text.length)
  const { errors = [], warnings = [], contents = null } = document ?? {}
  const complaints = [...errors, ...warnings].slice(0, MAX_COMPLAINTS)
  if (second)
    complaints.push(
      new YAMLParseError([second.range[0], second.range[1]], 'MULTIPLE_DOCS', 'more than one document'),
    )
  if (complaints.length > 0) return { problems: complaints.map(error => explain(error, lines)) }
  if (!document || contents === null) return refuse('the file is empty; write schema, benefits and offers')
  return readValue(document, lines)
}

function refuse(message: string, line = 1): { readonly problems: readonly Problem[] } {
  return { problems: [{ line, column: 1, path: '', message }] }
}

/**
 * The tokens from which the library makes a document, or the line at which the text nests deeper than any catalogue.
 * The library calls itself once for each level, so without this limit it would depend on the machine which text
 * overflows the stack.
 */
function tokensOf(text: string, lines: LineCounter): CST.Token[] | number {
  const parser = new Parser(lines.addNewLine)
  const tokens: CST.Token[] = []
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    const isDeep =
      parser.stack.length > MAX_NESTING && parser.stack.filter(CST.isCollection).length > MAX_NESTING
    if (isDeep) return lines.linePos(parser.offset).line
  }
  return [...tokens, ...parser.end()]
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
