import { type Bilingual, LANGUAGES } from './languages.ts'

/**
 * A part of a JSON Schema, for values of one type. Besides its keywords it has the words for its mistakes: `description` says what
 * to add when the part is missing, `remedy` what to write in place of a wrong text, and `whenEmpty` and `whenMany` what to do about
 * a group or a list with too few or too many members.
 */
export type SchemaNode<Value = unknown> = {
  /** Never there: it carries the type. */
  readonly value?: Value
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean' | readonly ['string', 'object']
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly enum?: readonly string[]
  readonly description?: string
  readonly remedy?: string
  readonly whenEmpty?: string
  readonly whenMany?: string
  readonly [keyword: string]: unknown
}

/** The type of the values for which a part of a schema is. */
export type ValueOf<Part> = Part extends SchemaNode<infer Value> ? Value : never

type Required = Readonly<Record<string, readonly [missing: string, part: SchemaNode]>>
type Optional = Readonly<Record<string, SchemaNode>>
type Members<R extends Required, O extends Optional> = {
  readonly [Key in keyof R]: ValueOf<R[Key][1]>
} & { readonly [Key in keyof O]?: ValueOf<O[Key]> }
type Words = Readonly<Record<string, unknown>>

/** A mapping with only these keys; for each required one, what to add when it is missing. */
export function group<R extends Required, O extends Optional = Record<never, never>>(
  required: R,
  optional = {} as O,
  more: Words = {},
): SchemaNode<Members<R, O>> {
  const parts = Object.entries(required).map(([key, [description, part]]) => [key, { ...part, description }])
  const properties = { ...Object.fromEntries(parts), ...optional }
  return { type: 'object', properties, required: Object.keys(required), additionalProperties: false, ...more }
}

/** A list of at most `maxItems`. */
export function list<Item>(
  items: SchemaNode<Item>,
  maxItems: number,
  more: Words = {},
): SchemaNode<readonly Item[]> {
  return { type: 'array', items, maxItems, ...more }
}

/**
 * A list of codes without repetitions. An empty list is refused, because it would mean the same as no list, or would
 * admit nobody.
 */
export function setOf<Item>(
  items: SchemaNode<Item>,
  maxItems: number,
  more: Words = {},
): SchemaNode<readonly Item[]> {
  const whenEmpty = 'is an empty list; name at least one, or delete the key'
  return list(items, maxItems, { minItems: 1, uniqueItems: true, whenEmpty, ...more })
}

/** One of these texts. */
export function oneOf<const Choice extends string>(
  choices: readonly Choice[],
  remedy?: string,
): SchemaNode<Choice> {
  return { type: 'string', enum: choices, ...(remedy && { remedy }) }
}

/** A text of this form, for programs. */
export function coded({ source }: RegExp, remedy: string): SchemaNode<string> {
  return { type: 'string', pattern: source, remedy }
}

/** A text for people. */
export function text(maxLength: number): SchemaNode<string> {
  // No control characters except line ends, and no lone surrogate.
  return { type: 'string', minLength: 1, maxLength, pattern: '^(\\n|[^\\p{Cc}\\p{Cs}])*$' }
}

/** A text for people in English and Spanish, and in further languages of the page where they are given. */
export function bilingual(max: number): SchemaNode<Bilingual> {
  const further = LANGUAGES.filter(language => language !== 'en' && language !== 'es')
  return group(
    { en: ['the English text', text(max)], es: ['the Spanish text', text(max)] },
    Object.fromEntries(further.map(language => [language, text(max)])),
  )
}

/** A whole number. */
export function whole(minimum: number, maximum: number): SchemaNode<number> {
  return { type: 'integer', minimum, maximum }
}
