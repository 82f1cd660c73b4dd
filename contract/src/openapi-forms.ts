type Json = Record<string, unknown>

/**
 * A schema of a request as it is described: without null, which is taken as not given or, in Update User, as clear, and without
 * `""` in lists of values, so that the types that are generated from it stay plain (contract §2).
 */
export function asked(schema: unknown): unknown {
  return eachPart(schema, part => {
    const { type, enum: values } = part
    const types = Array.isArray(type) ? type.filter(one => one !== 'null') : []
    return {
      ...part,
      ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
      ...(Array.isArray(values) && { enum: values.filter(value => value !== null && value !== '') }),
    }
  })
}

/**
 * A schema of an answer as it is described: open, because a later version may add fields, and a reader made from this one must
 * then ignore them.
 */
export function given(schema: unknown): unknown {
  return eachPart(schema, ({ additionalProperties, ...part }) =>
    additionalProperties === false || additionalProperties === undefined
      ? part
      : { ...part, additionalProperties },
  )
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
