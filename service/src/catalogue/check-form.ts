import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { isRealDate } from '../calendar/calendar.ts'
import type { Problem } from './problem.ts'
import { repeatsIn } from './repeats.ts'
import { CATALOGUE_SCHEMA } from './schema.ts'
import type { SchemaNode } from './schema-parts.ts'
import { quote, type YamlValue } from './yaml-value.ts'

/**
 * Every mistake that a schema finds in a file, that of catalogues unless another is given. Wrong values are then replaced by `undefined`, so that later checks
 * see only right ones.
 */
export function checkForm(yaml: YamlValue, schema: SchemaNode = CATALOGUE_SCHEMA): Problem[] {
  const errors = errorsIn(yaml.value, schema)
  const problems = errors.flatMap(error => explain(error, yaml))
  for (const { keyword, instancePath } of errors)
    if (!OF_GROUPS.has(keyword)) removeMember(yaml.value, instancePath)
  // A number that is both too large and not whole is reported as one mistake.
  return [...new Map(problems.map(problem => [`${problem.path}: ${problem.message}`, problem])).values()]
}

// A group or a list with such a mistake stays in the value, because its members may be right and are checked further.
const OF_GROUPS = new Set([
  'required',
  'additionalProperties',
  'oneOf',
  'anyOf',
  'minProperties',
  'minItems',
  'uniqueItems',
])

const compiled = new WeakMap<SchemaNode, ValidateFunction>()

/**
 * The mistakes that the schema finds, without those that only follow from another: for a value of the wrong type, or a
 * list that is too long, nothing else is reported.
 */
function errorsIn(value: unknown, schema: SchemaNode): ErrorObject[] {
  const validate = compiled.get(schema) ?? compile(schema)
  compiled.set(schema, validate)
  validate(value)
  const all = (validate.errors ?? []).filter(error => !/\/(oneOf|anyOf)\//.test(error.schemaPath))
  const pathsOf = (word: string) => all.filter(one => one.keyword === word).map(one => one.instancePath)
  const mistyped = new Set(pathsOf('type'))
  const tooLong = pathsOf('maxItems')
  return all.filter(
    ({ keyword, instancePath: path }) =>
      (keyword === 'type' || !mistyped.has(path)) && !tooLong.some(list => path.startsWith(`${list}/`)),
  )
}

function compile(schema: SchemaNode): ValidateFunction {
  return new Ajv({ allErrors: true, allowUnionTypes: true, verbose: true, formats: { date: isRealDate } })
    .addVocabulary(['remedy', 'whenEmpty', 'whenMany'])
    .compile(schema)
}

function removeMember(value: unknown, pointer: string): void {
  type Members = Record<string, unknown>
  const steps = pointer.split('/').slice(1)
  const last = steps.pop()
  const parent = steps.reduce<unknown>((at, key) => (at as Members | undefined)?.[key], value)
  if (last !== undefined) (parent as Members)[last] = undefined
}

function explain(
  { keyword, instancePath, params, data, parentSchema }: ErrorObject,
  yaml: YamlValue,
): Problem[] {
  if (keyword === 'uniqueItems')
    return repeatsIn(data as string[]).map(({ value, index }) => ({
      ...yaml.positionOf(`${instancePath}/${index}`),
      message: `${quote(value)} stands in this list twice; delete one of the two`,
    }))
  const message = MESSAGES[keyword]?.({
    part: parentSchema as SchemaNode,
    data,
    params,
    source: yaml.sourceOf(instancePath),
  })
  return [
    {
      ...yaml.positionOf(instancePath, params['additionalProperty']),
      message: message ?? 'does not fit here',
    },
  ]
}

type Misfit = {
  readonly part: SchemaNode
  readonly data: unknown
  readonly params: Readonly<Record<string, unknown>>
  readonly source: string | undefined
}

const MESSAGES: Readonly<Record<string, (found: Misfit) => string>> = {
  type: mistyped,
  minimum: mistyped,
  maximum: mistyped,
  minLength: () => 'is empty; write the text',
  maxLength: ({ part, data }) =>
    `has ${[...String(data)].length} characters; shorten it to ${part['maxLength']} at most`,
  pattern: misspelt,
  format: misspelt,
  enum: misspelt,
  required: ({ part, params: { missingProperty: key } }) =>
    `${key} is missing; add ${part.properties?.[String(key)]?.description}`,
  additionalProperties: ({ part, params: { additionalProperty: key } }) =>
    `unknown key ${quote(String(key))}; correct it or delete it: the keys here are ${keysOf(part)}`,
  oneOf: ({ part, data }) => {
    const optional = Object.keys(part.properties ?? {}).filter(key => !part.required?.includes(key))
    const kinds = optional.filter(key => key in (data as object))
    return kinds.length > 0 ? `has ${kinds.join(' and ')}; ${part.whenMany}` : `${part.whenEmpty}`
  },
  anyOf: ({ part }) => `${part.whenEmpty}`,
  minItems: ({ part }) => `${part.whenEmpty}`,
  minProperties: ({ part }) => `${part.whenEmpty}`,
  maxItems: ({ part, data }) =>
    `has ${(data as unknown[]).length} elements; ${part['maxItems']} are allowed, take some out`,
}

function mistyped({ part, data, source }: Misfit): string {
  if (data === null) return 'has no value; write one or delete the key'
  if (Array.isArray(part.type))
    return `must be a code, or a group of keys; write a code, or ${keysOf(part)} below it, each as "key: value"`
  if (part.type === 'object')
    return `must be a group of keys; write ${keysOf(part)} below it, each as "key: value"`
  if (part.type === 'array')
    return 'must be a list; write it as [a, b], or one element a line with "- " before it'
  if (part.type === 'integer') {
    const { minimum, maximum } = part
    const wanted = minimum === maximum ? minimum : `one from ${minimum} to ${maximum}`
    return `must be a whole number; write ${wanted}, without quotes${source === undefined ? '' : `, instead of ${quote(source)}`}`
  }
  if (part.type === 'boolean') return 'must be true or false; write one of the two, without quotes'
  if (source === undefined) return 'must be a text; write one'
  return `${source} is read as ${typeof data}, not as text; put it in quotes: "${source}"`
}

function misspelt({ part, data }: Misfit): string {
  if (part.remedy) return `${quote(String(data))} ${part.remedy}`
  if (!part.enum) return 'holds a control character or half a character; delete it'
  const choice = part.enum.length === 1 ? 'write' : 'use one of'
  return `${quote(String(data))} is not allowed here; ${choice} ${part.enum.join(', ')}`
}

function keysOf(part: SchemaNode): string {
  return Object.keys(part.properties ?? {}).join(', ')
}
