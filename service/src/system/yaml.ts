import { setImmediate as turn } from 'node:timers/promises'
import { stringify } from 'yaml'

type Json = Readonly<Record<string, unknown>>

/**
 * Writes a document as YAML in slices, and lets the event loop run after each. Written in one piece, the
 * description takes 700 ms the first time, during which no other request would be answered.
 */
export async function yamlInSlices(document: Json): Promise<string> {
  const parts: string[] = []
  for (const [name, value] of Object.entries(document)) {
    if (!isFilled(value)) {
      parts.push(stringify({ [name]: value }, options))
      continue
    }
    parts.push(`${name}:\n`)
    for (const [key, inner] of Object.entries(value)) {
      parts.push(indent(stringify({ [key]: inner }, options)))
      await turn()
    }
  }
  return parts.join('')
}

const options = { aliasDuplicateObjects: false } as const

function isFilled(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}
