type Json = Record<string, unknown>

/** One statement of a description. */
export type Fact = {
  /** The operation, schema or event that the statement is about. */
  readonly name: string
  readonly text: string
  /**
   * A `demand` is something that callers must do, an `offer` something that programs can depend on: a new demand breaks
   * callers, a lost offer breaks readers. A `limit` breaks callers when it becomes tighter, and so does another form
   * (pattern or format) of what they send, since nobody can tell which of two is stricter. A `remark` breaks nobody: the
   * codes of refusals, of which callers must expect new ones.
   */
  readonly kind: 'demand' | 'offer' | 'limit' | 'remark'
}

/**
 * The statements of a description as a sorted list, by which two releases can be compared: operations with their
 * parameters, bodies, statuses, headers, media types and error codes, and each schema's fields with their types, values,
 * limits and forms. Texts and examples are not compared.
 */
export function factsOf(description: Json): Fact[] {
  const facts: Fact[] = []
  const paths = description['paths'] as Record<string, Record<string, Json>>
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods))
      facts.push(...ofOperation(`${method} ${path}`, operation))
  }
  for (const [name, { post }] of Object.entries(description['webhooks'] as Record<string, { post: Json }>))
    facts.push(...ofDelivery(`webhook ${name}`, post))
  const { schemas } = description['components'] as { schemas: Record<string, Json> }
  const sent = namesWithin(description, schemas)
  for (const [name, schema] of Object.entries(schemas))
    facts.push(...ofSchema({ name, isAsked: sent.asked.has(name), isGiven: sent.given.has(name) }, schema))
  // Both forms of a field may have the same values, for example a list or one of its members.
  const each = new Map(facts.map(fact => [keyOf(fact), fact]))
  return [...each.values()].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

/** A fact as one line. */
export function keyOf({ name, text }: Fact): string {
  return `${name}: ${text}`
}

/** The schemas that are part of what callers send, and of what they get; some are part of both. */
function namesWithin(
  description: Json,
  schemas: Readonly<Record<string, Json>>,
): { asked: ReadonlySet<string>; given: ReadonlySet<string> } {
  const asked = new Set<string>()
  const given = new Set<string>()
  const gather = (value: unknown, names: Set<string>): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      const name = key === '$ref' ? nameOf(String(inner)) : ''
      if (name === '' || names.has(name)) gather(inner, names)
      else gather(schemas[name], names.add(name))
    }
  }
  for (const operation of Object.values(description['paths'] as Json).flatMap(methods =>
    Object.values(methods as Json),
  )) {
    const { requestBody, responses } = operation as Json
    gather(requestBody, asked)
    gather(responses, given)
  }
  // What a webhook sends is what a partner gets.
  gather(description['webhooks'], given)
  return { asked, given }
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1) ?? ''
}

type Parameter = { name: string; in: string; required: boolean; schema: Json }

function ofOperation(operationName: string, operation: Json): Fact[] {
  const name = String(operation['operationId'])
  const asked = { name, isAsked: true, isGiven: false }
  return [
    offer(name, operationName),
    ...parametersOf(operation).flatMap(parameter => {
      const field = `${parameter.in} ${parameter.name}`
      return [
        offer(name, `takes ${field}`),
        ...(parameter.required ? [fact('demand', name, `needs ${field}`)] : []),
        ...ofSchema(asked, parameter.schema, `${field}.`),
      ]
    }),
    ...contentOf(operation['requestBody'] as Json | undefined).flatMap(({ type, schema }) => [
      offer(name, `takes a body of ${type}, ${typeOf(schema)}`),
      ...ofSchema(asked, schema, 'body.'),
    ]),
    ...Object.entries(operation['responses'] as Record<string, Json>).flatMap(([status, response]) =>
      ofResponse(name, status, response),
    ),
  ]
}

/** The statements about a webhook. We send it, so its parameters and its body are what partners get. */
function ofDelivery(webhook: string, operation: Json): Fact[] {
  const name = String(operation['operationId'])
  const given = { name, isAsked: false, isGiven: true }
  return [
    offer(name, webhook),
    ...parametersOf(operation).flatMap(parameter => [
      offer(name, `sends ${parameter.in} ${parameter.name}`),
      ...ofSchema(given, parameter.schema, `${parameter.in} ${parameter.name}.`),
    ]),
    ...contentOf(operation['requestBody'] as Json).map(({ type, schema }) =>
      offer(name, `sends a body of ${type}, ${typeOf(schema)}`),
    ),
    ...Object.keys(operation['responses'] as Json).map(status => offer(name, `may be answered ${status}`)),
  ]
}

function ofResponse(name: string, status: string, response: Json): Fact[] {
  const given = { name, isAsked: false, isGiven: true }
  const contents = contentOf(response)
  const headers = Object.entries((response['headers'] ?? {}) as Record<string, { schema: Json }>)
  // The examples of an error are named by its codes.
  const codes = status.startsWith('2') ? [] : contents.flatMap(({ examples }) => Object.keys(examples))
  return [
    offer(name, `answers ${status}`),
    ...headers.flatMap(([header, { schema }]) => [
      offer(name, `answers ${status} with the header ${header}`),
      ...ofSchema(given, schema, `answer ${status} header ${header}.`),
    ]),
    ...contents.flatMap(({ type, schema }) => [
      offer(name, `answers ${status} with ${type}, ${typeOf(schema)}`),
      ...ofSchema(given, schema, `answer ${status}.`),
    ]),
    ...codes.map(code => fact('remark', name, `answers ${status} with the code ${code}`)),
  ]
}

function fact(kind: Fact['kind'], name: string, text: string): Fact {
  return { name, kind, text }
}

function offer(name: string, text: string): Fact {
  return fact('offer', name, text)
}

function parametersOf(operation: Json): Parameter[] {
  return (operation['parameters'] ?? []) as Parameter[]
}

/** The media types of a body, each with its schema and examples. */
function contentOf(body: Json | undefined): { type: string; schema: Json; examples: Json }[] {
  const content = (body?.['content'] ?? {}) as Record<string, { schema?: Json; examples?: Json }>
  return Object.entries(content).map(([type, { schema = {}, examples = {} }]) => ({ type, schema, examples }))
}

/** What JSON Schema calls the limits of a value. */
const limitWords = {
  maxLength: 'at most # characters',
  minLength: 'at least # characters',
  maxItems: 'at most # items',
  minItems: 'at least # items',
  maximum: 'at most #',
  minimum: 'at least #',
} as const

/** The operation or schema whose fields are described, and whether callers send these fields, get them, or both. */
type Subject = { readonly name: string; readonly isAsked: boolean; readonly isGiven: boolean }

function ofSchema(subject: Subject, schema: Json, prefix = ''): Fact[] {
  const { name } = subject
  const properties = (schema['properties'] ?? {}) as Record<string, Json>
  const required = (schema['required'] ?? []) as string[]
  const values = 'const' in schema ? [schema['const']] : ((schema['enum'] ?? []) as unknown[])
  // The members of a list, and the alternatives of `anyOf`, count as the field itself.
  const inside = [schema['items'] ?? [], schema['anyOf'] ?? []].flat() as Json[]
  const about = prefix || 'itself'
  return [
    ...values.map(value => offer(name, `${about} may be ${JSON.stringify(value)}`)),
    ...Object.entries(limitWords)
      .filter(([word]) => typeof schema[word] === 'number')
      .map(([word, text]) => fact('limit', name, `${about} has ${text.replace('#', String(schema[word]))}`)),
    ...formsOf(subject, schema, about),
    ...inside.flatMap(inner => ofSchema(subject, inner, prefix)),
    ...Object.entries(properties).flatMap(([field, inner]) => [
      offer(name, `has ${prefix}${field} of ${typeOf(inner)}`),
      ...ofSchema(subject, inner, `${prefix}${field}.`),
    ]),
    ...required.map(field => fact('demand', name, `needs ${prefix}${field}`)),
  ]
}

/** Pattern and format: what callers send must have them, and what they get always has them. */
function formsOf({ name, isAsked, isGiven }: Subject, schema: Json, about: string): Fact[] {
  const forms = [
    { must: 'look like', does: 'looks like', form: schema['pattern'] },
    { must: 'be a', does: 'is a', form: schema['format'] },
  ].filter(({ form }) => form !== undefined)
  return forms.flatMap(({ must, does, form }) => [
    ...(isAsked ? [fact('limit', name, `${about} must ${must} ${form}`)] : []),
    ...(isGiven ? [offer(name, `${about} ${does} ${form}`)] : []),
  ])
}

function typeOf(schema: Json): string {
  if (typeof schema['$ref'] === 'string') return nameOf(schema['$ref'])
  if (Array.isArray(schema['anyOf'])) return (schema['anyOf'] as Json[]).map(typeOf).join(' or ')
  if (schema['items']) return `list of ${typeOf(schema['items'] as Json)}`
  return [schema['type'] ?? 'anything'].flat().join(' or ')
}
