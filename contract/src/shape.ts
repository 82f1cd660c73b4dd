import { type TNull, type TObject, type TProperties, type TSchema, type TUnion, Type } from './typebox.ts'

type Words = Readonly<Record<string, unknown>>

/** An object of exactly these fields; descriptions and generated clients know it by its title. */
export function shape<Fields extends TProperties>(
  title: string,
  fields: Fields,
  more: Words = {},
): TObject<Fields> {
  return Type.Object(fields, { additionalProperties: false, title, ...more })
}

/** A text, with what it means. */
export function string(description: string) {
  return Type.String({ description })
}

/** The same schema, with what it means where it is used. */
export function described<Schema extends TSchema>(schema: Schema, description: string): Schema {
  // TypeBox keeps what a schema is in properties that a spread leaves out.
  const parts = Object.getOwnPropertyDescriptors({ ...schema, description })
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(schema), ...parts }) as Schema
}

/** The parameters of a path or a query: exactly these. */
export function parameters<Fields extends TProperties>(fields: Fields): TObject<Fields> {
  return Type.Object(fields, { additionalProperties: false })
}

/** A value of this schema, or null. */
export function orNull<Schema extends TSchema>(schema: Schema, more: Words = {}): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], more)
}

/** In `refusedWith`: the field is not given. */
export const ABSENT = { not: {} }

/**
 * Words of a request: with a field, a body is refused whose fields are these, by field. In a description `oneOf` could say so, but
 * generators make a type of each choice, and read no `dependentSchemas`. Each says `not`, because Redocly takes other schemas
 * inside for closed ones. The service refuses by its own words, which name the field.
 */
export function refusedWith(refused: Readonly<Record<string, readonly Words[]>>): Words {
  const described = Object.entries(refused).map(([name, bodies]) => {
    const refusals = bodies.map(fields => {
      const given = Object.keys(fields).filter(field => fields[field] !== ABSENT)
      return { properties: fields, ...(given.length > 0 && { required: given }) }
    })
    return [name, { not: refusals.length === 1 ? refusals[0] : { anyOf: refusals } }]
  })
  return { dependentSchemas: Object.fromEntries(described) }
}
