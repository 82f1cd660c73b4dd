/** The part of a JSON Schema that says what kind of value a place takes. */
export type Shape = {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: boolean | Shape
  readonly items?: Shape
  readonly 'x-rule'?: string
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

/**
 * A value without the fields that are null although the schema has no null for them: many languages write out what they do not
 * have. What the schema does not name stays, and so does null in a list, for the check to refuse it.
 */
export function withoutNulls(shape: Shape, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const { items } = shape
    return items ? value.map(item => withoutNulls(items, item)) : value
  }
  const { properties = {}, additionalProperties } = shape
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined
  const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    const field = Object.hasOwn(properties, name) ? properties[name] : others
    if (field && inner === null && !kindsOf(field).has('null')) return []
    return [[name, field ? withoutNulls(field, inner) : inner]]
  })
  return Object.fromEntries(entries)
}

/** The rule that a value of the wrong type, or a missing one, breaks: "must be text, not a number"; `undefined` when its type is right. */
export function typeRule(shape: Shape, value: unknown): string | undefined {
  const kinds = kindsOf(shape)
  const kind = kindOf(value)
  // 36.5 is of the right type for most people, and the rule of its place says that it must be whole.
  const isRight = kinds.size === 0 || kinds.has(kind) || (kind === 'number' && kinds.has('integer'))
  if (isRight) return undefined
  const wanted = [...kinds].filter(one => one !== 'null').map(one => WORDS[one])
  return `must be ${wanted.join(' or ')}${value === undefined ? '' : `, not ${WORDS[kind]}`}`
}

function kindsOf({ type, enum: values }: Shape): ReadonlySet<string> {
  return new Set(type === undefined ? values?.map(kindOf) : [type].flat())
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
