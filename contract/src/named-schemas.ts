import { meaningOf } from './meanings.ts'

type Json = Record<string, unknown>

/** Schemas by their titles: a description contains each once and refers to it everywhere else. */
export type NamedSchemas = {
  /** The schema as plain JSON, with each titled part of it replaced by a reference. */
  readonly refer: (schema: unknown) => Json
  /** All titled schemas so far, by name. */
  readonly all: () => Json
}

/**
 * Collects the titled schemas of a description. Throws when two different schemas have one title: a generated client
 * would have one type for both.
 */
export function collectSchemas(): NamedSchemas {
  const named = new Map<string, { body: Json; text: string }>()
  const refer = (schema: unknown): Json => replace(JSON.parse(JSON.stringify(schema))) as Json
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace)
    if (typeof value !== 'object' || value === null) return value
    const inner = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replace(item)]))
    const { title } = inner
    if (typeof title !== 'string') return inner
    if (inner['properties'])
      inner['properties'] = withMeanings(title, inner['properties'] as Record<string, Json>)
    const text = JSON.stringify(inner)
    const known = named.get(title)
    if (known && known.text !== text) throw new Error(`two different schemas are named ${title}`)
    named.set(title, { body: inner, text })
    return { $ref: `#/components/schemas/${title}` }
  }
  return {
    refer,
    all: () =>
      Object.fromEntries(
        [...named].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, { body }]) => [name, body]),
      ),
  }
}

/** Adds what the fields mean that do not say it. A reference stays alone, because some tools ignore what is beside it. */
function withMeanings(title: string, fields: Record<string, Json>): Json {
  const described = Object.entries(fields).map(([name, field]) => {
    const description = '$ref' in field ? undefined : (field['description'] ?? meaningOf(title, name))
    return [name, description === undefined ? field : { ...field, description }]
  })
  return Object.fromEntries(described)
}
