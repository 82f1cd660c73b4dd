import type { Alias, Document, LineCounter, Node, Pair, YAMLMap } from 'yaml'
import { isAlias, isMap, isPair, isScalar, isSeq, visit } from 'yaml'
import type { Position, Problem } from './problem.ts'

const MAX_ALIASES = 100

/** The path from the root to a value: keys of mappings, and positions in lists. */
export type Path = readonly (string | number)[]

/** A YAML document as a JSON value, whose texts have no space around them, with the position of each part. */
export class YamlValue {
  /** Repeated keys, and aliases that are undefined or too many. Only without such problems is there a value. */
  readonly problems: Problem[] = []
  readonly value: unknown
  readonly #root: Node | null
  readonly #lines: LineCounter
  readonly #targets = new Map<Alias, Node>()
  readonly #pairs = new Map<YAMLMap, Map<string, Pair<Node, Node | null>>>()

  constructor(document: Document<Node>, lines: LineCounter) {
    this.#root = document.contents
    this.#lines = lines
    const anchors = new Map<string, Node>()
    visit(document, {
      Value: (_key, node, parents) => {
        if (node.anchor !== undefined) anchors.set(node.anchor, node)
        if (isScalar(node) && typeof node.value === 'string') node.value = node.value.trim()
        if (isMap<Node, Node | null>(node)) this.#index(node, parents)
      },
      Alias: (_key, alias) => this.#follow(alias, anchors.get(alias.source)),
    })
    // An alias becomes the value that it repeats, not a copy, so no number of nested aliases exhausts memory.
    if (this.problems.length === 0) this.value = document.toJS({ maxAliasCount: -1 })
  }

  /** Line, column and path of the value at this path, or of its key if `key` names one in it. */
  positionOf(path: Path, key?: string): Position {
    const node = this.#nodeAt(path)
    const pair = key !== undefined && isMap(node) ? this.#pairs.get(node)?.get(key) : undefined
    return { ...this.#lineOf(pair?.key ?? node), path: textOf(path) }
  }

  /** A number or a text as it was written; `undefined` for groups, lists and missing values. */
  sourceOf(path: Path): string | undefined {
    const node = this.#nodeAt(path)
    return isScalar(node) && node.value !== null ? (node.source ?? String(node.value)) : undefined
  }

  #nodeAt(path: Path): Node | null {
    return path.reduce<Node | null>((at, step) => {
      const pair = isMap(at) ? this.#pairs.get(at)?.get(String(step)) : undefined
      const node = isSeq<Node>(at) ? (at.items[Number(step)] ?? at) : (pair?.value ?? pair?.key ?? at)
      return isAlias(node) ? (this.#targets.get(node) ?? node) : node
    }, this.#root)
  }

  #index(map: YAMLMap<Node, Node | null>, parents: readonly unknown[]): void {
    const pairs = new Map<string, Pair<Node, Node | null>>()
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : ''
      const message = `the key ${quote(key)} appears here twice; delete one of the two`
      if (pairs.has(key)) this.#refuse(pair.key, message, pathTo(map, parents))
      pairs.set(key, pair)
    }
    this.#pairs.set(map, pairs)
  }

  #follow(alias: Alias, target: Node | undefined): void {
    const name = alias.source
    if (target) this.#targets.set(alias, target)
    else
      this.#refuse(
        alias,
        `*${name} stands for nothing; write &${name} before the value it repeats, further up`,
      )
    if (this.#targets.size === MAX_ALIASES + 1)
      this.#refuse(alias, `more than ${MAX_ALIASES} aliases; write the values out from here on`)
  }

  #refuse(node: Node, message: string, path: Path = []): void {
    this.problems.push({ ...this.#lineOf(node), path: textOf(path), message })
  }

  #lineOf(node: Node | null) {
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0)
    return { line, column: col }
  }
}

/** The path of a value, given its parents from the root down. */
function pathTo(node: Node, parents: readonly unknown[]): Path {
  return parents.flatMap((parent, index): Path => {
    if (isPair(parent)) return [String(isScalar(parent.key) ? parent.key.value : '')]
    return isSeq(parent) ? [parent.items.indexOf(parents[index + 1] ?? node)] : []
  })
}

/** `benefits[0].rules[0].code` */
function textOf(path: Path): string {
  const steps = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`))
  return steps.join('').replace(/^\./, '')
}

/** The operator's text, in quotes, on one line and cut to a readable length. */
export function quote(written: string): string {
  const line = written.replace(/\s+/g, ' ')
  return JSON.stringify(line.length > 40 ? `${line.slice(0, 39)}…` : line)
}
