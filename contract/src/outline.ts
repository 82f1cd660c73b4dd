type Json = { readonly [name: string]: unknown }

/**
 * What programs depend on in a description: its operations, webhooks and schemas without texts and examples. Of examples the names are
 * kept, since those of a refusal are its error codes.
 */
export function outlineOf({ openapi, info, paths, webhooks, components }: Json): Json {
  const { schemas } = components as Json
  return { openapi, info, ...(outline({ paths, webhooks, components: { schemas } }) as Json) }
}

function outline(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(outline)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => !isText(name, inner))
      .map(([name, inner]) => [name, name === 'examples' ? namesOf(inner) : outline(inner)]),
  )
}

/** A field of a schema may have the name of a text, but is an object. */
function isText(name: string, value: unknown): boolean {
  if (name === 'example' || name === 'tags' || name.startsWith('x-')) return true
  if (name === 'examples') return Array.isArray(value)
  return ['description', 'summary', 'title', 'externalDocs'].includes(name) && typeof value === 'string'
}

function namesOf(examples: unknown): Json {
  return Object.fromEntries(Object.keys(examples as Json).map(name => [name, {}]))
}
