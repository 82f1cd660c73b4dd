/** A function with a name, where it stands, and how many lines are its own. */
export type Measured = { readonly name: string; readonly line: number; readonly own: number }

/**
 * The named functions of a formatted source text. A function's own lines are those that are not in a function with a
 * name inside it: what holds state and gives its steps names may be long as a whole.
 */
export function functionsOf(text: string): readonly Measured[] {
  const lines = text.split('\n')
  const spans = lines.flatMap((line, from) => {
    const name = beginning.exec(line)?.slice(1).find(Boolean)
    const open = name ? openingOf(lines, from) : undefined
    if (!name || open === undefined) return []
    const end = `${indentOf(lines[open] ?? '')}}`
    const to = lines.findIndex((other, at) => at > open && other.startsWith(end) && !other.endsWith('{'))
    return to < 0 ? [] : [{ name, from, to }]
  })
  return spans.map(({ name, from, to }) => {
    const inside = spans.filter(other => other.from > from && other.to <= to)
    const isOwn = (at: number) => !inside.some(other => other.from <= at && at <= other.to)
    const own = lines.slice(from, to + 1).filter((_, index) => isOwn(from + index)).length
    return { name, line: from + 1, own }
  })
}

/** A declaration, an arrow function with a name, or a method. */
const beginning =
  /^ *(?:export )?(?:async )?function\*? (\w+)|^ *(?:export )?const (\w+)(?:: .+)? = (?:async )?(?:<.*>)?(?:\(|\w+ =>)|^ *(?:async )?(?!if|for|while|switch|catch)(\w+)\(.*\)(?:: .+)? \{$/

function indentOf(line: string): string {
  return /^ */.exec(line)?.[0] ?? ''
}

/** The line that opens the body: the header goes on over lines that stand deeper, or begin with a bracket. */
function openingOf(lines: readonly string[], from: number): number | undefined {
  const indent = indentOf(lines[from] ?? '')
  for (let at = from; ; at += 1) {
    const line = lines[at] ?? ''
    if (line.endsWith('{')) return at
    const next = lines[at + 1] ?? ''
    if (!next.startsWith(`${indent} `) && !/^[)}\]]/.test(next.slice(indent.length))) return undefined
  }
}
