type Json = Record<string, unknown>

/** One statement of a description. */
export type Fact = {
  /** The operation, schema or event that the statement is about. */
  readonly name: string
  readonly text: string
  /**
   * A `demand` is something that callers must do, an `offer` something that programs can depend on: a new demand breaks
   * callers, a lost offer breaks readers.
   */
  readonly kind: 'demand' | 'offer'
}

/**
 * The statements of a description as a sorted list, by which two releases can be compared: operations with their
 * parameters and statuses, and each schema's fields with their types. Texts and examples are not compared.
 */
export function factsOf(description: Json): Fact[] {
  const facts: Fact[] = []
  const paths = description['paths'] as Record<string, Record<string, Json>>
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods))
      facts.push(...ofOperation(`${method} ${path}`, operation))
  }
  const { schemas } = description['components'] as { schemas: Record<string, Json> }
  for (const [name, schema] of Object.entries(schemas)) facts.push(...ofSchema(name, schema))
  return facts.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

/** A fact as one line. */
export function keyOf({ name, text }: Fact): string {
  return `${name}: ${text}`
}

/**
 * The breaking differences between two releases: an offer that is gone, or a new demand on something that existed
 * before. All other differences only add.
 */
export function compareFacts(
  before: readonly Fact[],
  after: readonly Fact[],
): { fact: Fact; breaks: boolean }[] {
  const old = new Set(before.map(keyOf))
  const now = new Set(after.map(keyOf))
  const known = new Set(before.map(({ name }) => name))
  const gone = before.filter(fact => !now.has(keyOf(fact)))
  const added = after.filter(fact => !old.has(keyOf(fact)))
  return [
    ...gone.map(fact => ({ fact, breaks: fact.kind === 'offer' })),
    ...added.map(fact => ({ fact, breaks: fact.kind === 'demand' && known.has(fact.name) })),
  ]
}

function ofOperation(place: string, operation: Json): Fact[] {
  const name = String(operation['operationId'])
  const parameters = (operation['parameters'] ?? []) as { name: string; in: string; required: boolean }[]
  return [
    { name, kind: 'offer', text: place },
    ...parameters.map(
      ({ name: field, in: where }): Fact => ({ name, kind: 'offer', text: `takes ${where} ${field}` }),
    ),
    ...parameters
      .filter(({ required }) => required)
      .map(({ name: field, in: where }): Fact => ({ name, kind: 'demand', text: `needs ${where} ${field}` })),
    ...Object.keys(operation['responses'] as Json).map(
      (status): Fact => ({ name, kind: 'offer', text: `answers ${status}` }),
    ),
  ]
}

function ofSchema(name: string, schema: Json, prefix = ''): Fact[] {
  const properties = (schema['properties'] ?? {}) as Record<string, Json>
  const required = (schema['required'] ?? []) as string[]
  const values = (schema['enum'] ?? []) as unknown[]
  return [
    ...values.map(
      (value): Fact => ({
        name,
        kind: 'offer',
        text: `${prefix || 'itself'} may be ${JSON.stringify(value)}`,
      }),
    ),
    ...Object.entries(properties).flatMap(([field, inner]) => [
      { name, kind: 'offer', text: `has ${prefix}${field} of ${typeOf(inner)}` } satisfies Fact,
      ...ofSchema(name, inner, `${prefix}${field}.`),
    ]),
    ...required.map((field): Fact => ({ name, kind: 'demand', text: `needs ${prefix}${field}` })),
  ]
}

function typeOf(schema: Json): string {
  if (typeof schema['$ref'] === 'string') return schema['$ref'].split('/').at(-1) ?? ''
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as Json[]).map(typeOf).join(' or ')
  if (schema['items']) return `list of ${typeOf(schema['items'] as Json)}`
  return [schema['type'] ?? 'anything'].flat().join(' or ')
}
