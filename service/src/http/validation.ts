import type { FieldProblem } from '@benefit-enrolment/contract'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { isRealDate, parseTimestamp } from '../calendar/calendar.ts'
import { badField, badFields } from './service-error.ts'

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  coerceTypes: false,
  removeAdditional: false,
})
ajv.addFormat('birthdate', {
  type: 'string',
  validate: text => text === '' || (isRealDate(text) && text >= '1900-01-01'),
})
ajv.addFormat('plaindate', { type: 'string', validate: text => text === '' || isRealDate(text) })
ajv.addFormat('timestamp', {
  type: 'string',
  validate: text => text === '' || parseTimestamp(text) !== undefined,
})

/** Checks a part of a request; gives it back as it is, or throws a 400 that names each wrong field and its rule. */
export type Check = (value: unknown) => void

/** Compiles a schema of the contract; `where` names the part in messages about the whole of it. */
export const compileCheck = (schema: unknown, where: 'body' | 'query' | 'path'): Check => {
  const validate: ValidateFunction = ajv.compile(schema as object)
  return value => {
    if (validate(value)) return
    throw badFields(problemsOf(validate.errors ?? [], where))
  }
}

/** What remains of a request, or of a query, without its empty strings: `""` means not given (contract §2). */
export type Given<T> = { readonly [Name in keyof T]: Exclude<T[Name], ''> }

/** A query or the top of a body without its empty strings; for bodies whose strings are all optional. */
export const withoutEmpty = <T extends object>(part: T): Given<T> =>
  Object.fromEntries(Object.entries(part).filter(([, value]) => value !== '')) as Given<T>

/** The parameters of a query that are not empty. Refuses with `bad_request` one that is sent twice. */
export const queryOf = (sent: unknown): Record<string, unknown> => {
  const given = withoutEmpty(sent as Record<string, unknown>)
  const twice = Object.keys(given).find(name => Array.isArray(given[name]))
  if (twice !== undefined) throw badField(safeName(twice), 'duplicate', 'must be sent once')
  return given
}

/** The most fields that one problem names; a body of 64 KiB could hold thousands of wrong ones. */
const maxProblems = 50

const problemsOf = (errors: readonly ErrorObject[], where: string): FieldProblem[] => {
  const problems = new Map<string, FieldProblem>()
  for (const error of errors) {
    const problem = problemOf(error, where)
    if (problem && !problems.has(problem.field)) problems.set(problem.field, problem)
    if (problems.size === maxProblems) break
  }
  return [...problems.values()]
}

const problemOf = (error: ErrorObject, where: string): FieldProblem | undefined => {
  const parent = fieldOf(error.instancePath)
  const inside = (name: string) => (parent === '' ? name : `${parent}.${name}`)
  if (error.keyword === 'required') {
    const field = inside(String(error.params['missingProperty']))
    return { field, code: 'required', message: `${field} is required` }
  }
  if (error.keyword === 'additionalProperties') {
    const field = inside(safeName(String(error.params['additionalProperty'])))
    return {
      field,
      code: 'unknown_field',
      message: `${field} is not a field of this request; compare its spelling`,
    }
  }
  const field = parent === '' ? where : parent
  const rule = (error.parentSchema as { 'x-rule'?: string } | undefined)?.['x-rule']
  return { field, code: error.keyword, message: `${field} ${rule ?? plainRule(error)}` }
}

const plainRule = (error: ErrorObject): string =>
  error.keyword === 'type'
    ? `must be ${article(String(error.params['type']))}`
    : (error.message ?? 'is not valid')

const article = (type: string): string =>
  type === 'object' ? 'a JSON object' : type === 'array' ? 'a list' : `a ${type}`

/** `/address/zipcode` and `/benefits/0` as `address.zipcode` and `benefits[0]`. */
const fieldOf = (path: string): string =>
  path
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (whole, part) => (/^\d+$/.test(part) ? `${whole}[${part}]` : whole === '' ? part : `${whole}.${part}`),
      '',
    )

/** A name that the caller made up: shown when it looks like a name, as values are never echoed. */
const safeName = (name: string): string => (/^[A-Za-z_][\w-]{0,39}$/.test(name) ? name : '(unnamed)')
