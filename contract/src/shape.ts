import { type TNull, type TObject, type TProperties, type TSchema, type TUnion, Type } from 'typebox'

type Words = Readonly<Record<string, unknown>>

/** An object of exactly these fields; descriptions and generated clients know it by its title. */
export function shape<Fields extends TProperties>(
  title: string,
  fields: Fields,
  more: Words = {},
): TObject<Fields> {
  return Type.Object(fields, { additionalProperties: false, title, ...more })
}

/** The parameters of a path or a query: exactly these. */
export function parameters<Fields extends TProperties>(fields: Fields): TObject<Fields> {
  return Type.Object(fields, { additionalProperties: false })
}

/** A value of this schema, or null. */
export function orNull<Schema extends TSchema>(schema: Schema, more: Words = {}): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], more)
}
