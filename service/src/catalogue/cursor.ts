import { type Alias, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair } from 'yaml'
import type { Place, Problem } from './problem.ts'

/** What all cursors of one file share: its lines, what its aliases stand for, and the problems found so far. */
export type Reading = {
  readonly lines: LineCounter
  readonly aliases: ReadonlyMap<Alias, Node>
  readonly problems: Problem[]
}

/** The named values of a mapping: every required one, and those optional ones that were written. */
export type Fields<R extends string, O extends string> = { readonly [K in R]: Cursor } & {
  readonly [K in O]?: Cursor
}

/**
 * One value of a YAML file and the place where it stands.
 *
 * Reading never throws: what does not fit is noted as a problem, and a harmless stand-in ('' or 0 or []) comes
 * back, so that all problems of a file are found in one go. Whoever reads throws the result away when there is
 * any problem.
 */
export class Cursor {
  readonly path: string
  readonly #reading: Reading
  readonly #node: Node | undefined
  readonly #offset: number

  /** A cursor without a node stands for a required value that is missing and was already complained about. */
  constructor(reading: Reading, node: Node | null | undefined, at: { path: string; offset: number }) {
    this.#reading = reading
    this.#node = isAlias(node) ? reading.aliases.get(node) : (node ?? undefined)
    this.path = at.path
    this.#offset = node?.range?.[0] ?? at.offset
  }

  /** Line, column and path of this value. */
  get place(): Place {
    return this.#placeOf(this.#offset)
  }

  /** Whether this is a list without an element. */
  get isEmpty(): boolean {
    return isSeq(this.#node) && this.#node.items.length === 0
  }

  /** Notes a problem at this value; the message says what is wrong and what to do. */
  refuse(message: string): void {
    this.#reading.problems.push({ ...this.place, message })
  }

  /** The text, without space around it; refused when it is no text, empty, longer than `max` or has control characters. */
  text(max: number): string {
    const text = this.#string()
    if (text === undefined) return ''
    if (text === '') this.refuse('is empty; write the text')
    if (text.length > max) this.refuse(`has ${text.length} characters; shorten it to ${max} at most`)
    if (/[^\P{Cc}\n]|\p{Cs}/u.test(text))
      this.refuse('holds a control character or half a character; delete it')
    return text
  }

  /** The text when `fits` says yes, else '' and the refusal `"text" <remedy>`. */
  textThat(fits: (text: string) => boolean, remedy: string): string {
    const text = this.#string()
    if (text === undefined) return ''
    if (fits(text)) return text
    this.refuse(`${quote(text)} ${remedy}`)
    return ''
  }

  /** The one of `choices` that is written here; `undefined` and a refusal for anything else. */
  oneOf<const T extends string>(choices: readonly T[]): T | undefined {
    const text = this.#string()
    const choice = choices.find(each => each === text)
    if (choice === undefined && text !== undefined) {
      const remedy = choices.length === 1 ? `write ${choices[0]}` : `use one of ${choices.join(', ')}`
      this.refuse(`${quote(text)} is not allowed here; ${remedy}`)
    }
    return choice
  }

  /** The whole number from `min` to `max`; `undefined` and a refusal for anything else. */
  integer(min: number, max: number): number | undefined {
    const node = this.#node
    if (node === undefined) return undefined
    const value = isScalar(node) ? node.value : undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    const found = isScalar(node) && node.value !== null ? `, instead of ${quote(node.source ?? '')}` : ''
    const wanted = min === max ? min : `one from ${min} to ${max}`
    this.refuse(`must be a whole number; write ${wanted}, without quotes${found}`)
    return undefined
  }

  /** The elements of a list of at most `max`; [] and a refusal when it is no list or longer. */
  items(max: number): Cursor[] {
    const node = this.#node
    if (node === undefined) return []
    if (!isSeq<Node>(node)) {
      this.refuse('must be a list; write it as [a, b], or one element a line with "- " before it')
      return []
    }
    if (node.items.length > max) {
      this.refuse(`has ${node.items.length} elements; ${max} are allowed, take some out`)
      return []
    }
    return node.items.map((item, index) => this.#child(item, `[${index}]`))
  }

  /**
   * The values of a mapping. `required` says for each key what to add when it is missing. Missing, repeated and
   * unknown keys and keys without a value are refused.
   */
  fields<R extends string, O extends string = never>(
    required: Readonly<Record<R, string>>,
    optional: readonly O[] = [],
  ): Fields<R, O> {
    const names: string[] = [...Object.keys(required), ...optional]
    const found = new Map<string, Cursor>()
    for (const pair of this.#pairs(names)) {
      const key = this.#keyOf(pair, names, found)
      if (key !== undefined) found.set(key, this.#valueOf(pair, key))
    }
    for (const [key, remedy] of Object.entries<string>(required)) {
      if (found.has(key)) continue
      if (this.#node !== undefined && isMap(this.#node)) this.refuse(`${key} is missing; add ${remedy}`)
      found.set(key, this.#child(undefined, this.#under(key)))
    }
    return Object.fromEntries(found) as Fields<R, O>
  }

  #pairs(names: readonly string[]): readonly Pair<Node, Node | null>[] {
    if (this.#node === undefined) return []
    if (isMap<Node, Node | null>(this.#node)) return this.#node.items
    this.refuse(`must be a group of keys; write ${names.join(', ')} below it, each as "key: value"`)
    return []
  }

  #keyOf(pair: Pair<Node, Node | null>, names: readonly string[], found: ReadonlyMap<string, Cursor>) {
    const key = isScalar(pair.key) ? String(pair.key.value) : ''
    const problem = !names.includes(key)
      ? `unknown key ${quote(key)}; correct it or delete it: the keys here are ${names.join(', ')}`
      : found.has(key)
        ? `the key ${quote(key)} stands here twice; delete one of the two`
        : undefined
    if (problem === undefined) return key
    const offset = pair.key.range?.[0] ?? this.#offset
    this.#reading.problems.push({ ...this.#placeOf(offset), message: problem })
    return undefined
  }

  #valueOf(pair: Pair<Node, Node | null>, key: string): Cursor {
    const value = pair.value ?? undefined
    if (value !== undefined && !(isScalar(value) && value.value === null))
      return this.#child(value, this.#under(key))
    this.#child(value ?? pair.key, this.#under(key)).refuse('has no value; write one or delete the key')
    return this.#child(undefined, this.#under(key))
  }

  #string(): string | undefined {
    const node = this.#node
    if (node === undefined) return undefined
    if (isScalar(node) && typeof node.value === 'string') return node.value.trim()
    if (isScalar(node) && node.value !== null) {
      const source = node.source ?? String(node.value)
      this.refuse(`${source} is read as ${typeof node.value}, not as text; put it in quotes: "${source}"`)
    } else this.refuse('must be a text; write one')
    return undefined
  }

  #under(key: string): string {
    return this.path === '' ? key : `.${key}`
  }

  #child(node: Node | undefined, step: string): Cursor {
    return new Cursor(this.#reading, node, { path: this.path + step, offset: this.#offset })
  }

  #placeOf(offset: number): Place {
    const { line, col } = this.#reading.lines.linePos(offset)
    return { line, column: col, path: this.path }
  }
}

/** What the operator wrote, in quotes, on one line and cut to a readable length. */
function quote(written: string): string {
  const line = written.replace(/\s+/g, ' ')
  return JSON.stringify(line.length > 40 ? `${line.slice(0, 39)}…` : line)
}
