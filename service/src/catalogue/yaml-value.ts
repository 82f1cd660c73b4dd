import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type Pair,
} from 'yaml'
import type { Problem, SourcePosition } from './problem.ts'

const MAX_ALIASES = 100
/** Nobody reads more at once, and each costs a search for its place. */
const MOST_PROBLEMS = 100

/** A YAML document as a JSON value, whose texts have no space around them, with the position of each part. */
export type YamlValue = {
  readonly value: unknown
  /** Line, column and path of the value at a JSON pointer such as `/benefits/0`, or of its key if `key` names one in it. */
  positionOf(pointer: string, key?: unknown): SourcePosition
  /** A number or a text as it was written; `undefined` for groups, lists and missing values. */
  sourceOf(pointer: string): string | undefined
}

/** Reads the value of a document, or says which keys are repeated and which aliases are undefined or too many. */
export function readValue(
  { contents }: Document<Node>,
  lines: LineCounter,
): YamlValue | { readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const nodes = new Map<string, Node>()
  const keys = new Map<string, Node>()
  const anchors = new Map<string, { readonly pointer: string; readonly value: unknown }>()
  /** Where the value of each alias was written. */
  const origins = new Map<string, string>()
  let aliases = 0

  const placeOf = (node: Node | undefined, pointer: string): SourcePosition => {
    const { line, col } = lines.linePos(node?.range?.[0] ?? 0)
    return { line, column: col, path: textOf(pointer) }
  }
  const refuse = (node: Node, message: string, pointer = '') => {
    if (problems.length < MOST_PROBLEMS) problems.push({ ...placeOf(node, pointer), message })
  }

  const read = (node: Node | null, pointer: string): unknown => {
    if (!node || problems.length >= MOST_PROBLEMS) return null
    nodes.set(pointer, node)
    if (isAlias(node)) return repeat(node, pointer)
    const note = <T>(value: T): T => {
      if (node.anchor !== undefined) anchors.set(node.anchor, { pointer, value })
      return value
    }
    if (isMap<Node, Node | null>(node)) {
      const names = new Set<string>()
      return note(Object.fromEntries(node.items.map(pair => readPair(pair, pointer, names))))
    }
    if (isSeq<Node>(node)) {
      const list = note<unknown[]>([])
      for (const item of node.items) list.push(read(item, `${pointer}/${list.length}`))
      return list
    }
    return isScalar(node) ? note(typeof node.value === 'string' ? node.value.trim() : node.value) : null
  }
  const readPair = (
    { key, value }: Pair<Node, Node | null>,
    map: string,
    names: Set<string>,
  ): [string, unknown] => {
    const name = String(isScalar(key) ? key.value : key)
    const pointer = `${map}/${name}`
    if (names.has(name)) refuse(key, `the key ${quote(name)} appears here twice; delete one of the two`, map)
    names.add(name)
    keys.set(pointer, key)
    // A key without a value stands for the value.
    nodes.set(pointer, key)
    return [name, read(value, pointer)]
  }
  /** An alias becomes the value that it repeats, not a copy, so no number of nested aliases exhausts memory. */
  const repeat = (alias: Alias, pointer: string): unknown => {
    const name = alias.source
    const target = anchors.get(name)
    if (target) origins.set(pointer, target.pointer)
    else refuse(alias, `*${name} stands for nothing; write &${name} before the value it repeats, further up`)
    aliases += 1
    if (aliases === MAX_ALIASES + 1)
      refuse(alias, `more than ${MAX_ALIASES} aliases; write the values out from here on`)
    return target?.value
  }

  /** Where the value at a pointer was written: elsewhere, if it stands in a value that an alias repeats. */
  const originOf = (pointer: string): string => {
    const end = pointer.lastIndexOf('/')
    if (end < 0) return pointer
    const own = originOf(pointer.slice(0, end)) + pointer.slice(end)
    return origins.get(own) ?? own
  }
  /** The node at a pointer, or the nearest one above it, where nothing was written. */
  const nodeAt = (origin: string): Node | undefined =>
    nodes.get(origin) ?? (origin === '' ? undefined : nodeAt(origin.slice(0, origin.lastIndexOf('/'))))

  const value = read(contents, '')
  if (problems.length > 0) return { problems }
  return {
    value,
    positionOf(pointer, key) {
      const origin = originOf(pointer)
      return placeOf(keys.get(`${origin}/${key}`) ?? nodeAt(origin), pointer)
    },
    sourceOf(pointer) {
      const node = nodeAt(originOf(pointer))
      return isScalar(node) && node.value !== null ? (node.source ?? String(node.value)) : undefined
    },
  }
}

/** `/benefits/0/rules/0/code` as `benefits[0].rules[0].code`. */
function textOf(pointer: string): string {
  return pointer
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
    .replace(/^\./, '')
}

/** The operator's text, in quotes, on one line and cut to a readable length. */
export function quote(written: string): string {
  const line = written.replace(/\s+/g, ' ')
  return JSON.stringify(line.length > 40 ? `${line.slice(0, 39)}…` : line)
}
