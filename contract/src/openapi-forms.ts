type Json = Record<string, unknown>

/** Formats that only the service knows: besides real dates and times they take `""`, which means not given. */
const ownFormats: readonly unknown[] = ['birthdate', 'plaindate', 'timestamp']

/**
 * A schema of a request as it is described: without null, which is taken as not given or, in Update User, as clear, without
 * `""` in lists of values, so that the types that are generated from it stay plain (contract §2), and without formats of our own.
 */
export function asked(schema: unknown): unknown {
  return eachPart(schema, ({ format, ...part }) => {
    const { type, enum: values } = part
    const types = Array.isArray(type) ? type.filter(one => one !== 'null') : []
    return {
      ...part,
      ...(format !== undefined && !ownFormats.includes(format) && { format }),
      ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
      ...(Array.isArray(values) && { enum: values.filter(value => value !== null && value !== '') }),
    }
  })
}

/**
 * A schema of an answer as it is described: open, because a later version may add fields, and a reader made from this one must
 * then ignore them. A list of values with `""` is described as text, because generators give that value no name of use.
 */
export function given(schema: unknown): unknown {
  return eachPart(schema, ({ additionalProperties, ...part }) => {
    const { enum: values, ...others } = part
    const described = Array.isArray(values) && values.includes('') ? { type: 'string', ...others } : part
    return additionalProperties === false || additionalProperties === undefined
      ? described
      : { ...described, additionalProperties }
  })
}

/**
 * A description as other generators read it. A list of values says its type: without, NSwag sends numbers, and the Go client of
 * oapi-codegen panics at an absent parameter. What may be null says so in its type or by `oneOf`, because NSwag does not look into
 * `anyOf`. Patterns have no `\uXXXX`, which PHP refuses: they forbid only the control characters of ASCII, the service the others too.
 */
export function forGenerators(description: Json): Json {
  return eachPart(description, part => {
    const { enum: values, type, pattern, anyOf } = part
    if (Array.isArray(anyOf) && anyOf.some(isNull))
      return orNull(
        part,
        anyOf.filter(one => !isNull(one)),
      )
    const isOfTexts = Array.isArray(values) && values.every(value => typeof value === 'string')
    return {
      ...(isOfTexts && type === undefined && { type: 'string' }),
      ...part,
      ...(typeof pattern === 'string' && { pattern: withoutUnicode(pattern) }),
    }
  }) as Json
}

function isNull(schema: Json): boolean {
  return schema['type'] === 'null'
}

function orNull({ anyOf: _, ...part }: Json, others: readonly Json[]): Json {
  const [only] = others
  const isPlain =
    typeof only?.['type'] === 'string' && !('title' in only || 'enum' in only || 'const' in only)
  if (only && others.length === 1 && isPlain) return { ...only, ...part, type: [only['type'], 'null'] }
  return { oneOf: [...others, { type: 'null' }], ...part }
}

function withoutUnicode(pattern: string): string {
  return pattern
    .replaceAll('\\u0000-\\u001f\\u007f-\\u009f', '\\x00-\\x1f\\x7f')
    .replace(/(\\u[0-9a-f]{4}-?)+/g, '')
}

/** The schema as plain JSON, with each part replaced by what `change` makes of it. */
function eachPart(schema: unknown, change: (part: Json) => Json): unknown {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return change(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)])))
  }
  return walk(JSON.parse(JSON.stringify(schema)))
}
