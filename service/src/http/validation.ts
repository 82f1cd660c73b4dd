import type { FieldProblem } from '@benefit-enrolment/contract'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { isDateTime, isRealDate, parseTimestamp } from '../calendar/calendar.ts'
import { type Shape, typeRule, withoutNulls } from './body-shape.ts'
import { safeName } from './safe-name.ts'
import { badField, badFields } from './service-error.ts'

const formats = {
  birthdate: (text: string) => text === '' || (isRealDate(text) && text >= '1900-01-01'),
  plaindate: (text: string) => text === '' || isRealDate(text),
  'date-time': isDateTime,
  timestamp: (text: string) => text === '' || parseTimestamp(text) !== undefined,
}

function openAjv(allErrors: boolean): Ajv {
  const ajv = new Ajv({
    allErrors,
    verbose: true,
    strict: false,
    coerceTypes: false,
    removeAdditional: false,
    // V8 drops what never runs, too; Ajv takes two fifths of a compilation for it.
    code: { optimize: false },
  })
  // Which fields need or exclude each other the handlers say, who name them and take `""` as not given. (This Ajv knows neither
  // `dependentRequired` nor `dependentSchemas`.)
  ajv.removeKeyword('minProperties')
  for (const [name, validate] of Object.entries(formats)) ajv.addFormat(name, { type: 'string', validate })
  return ajv
}

// Ajv checks the length of a list or text before its items or pattern, so the first fault of an overlong list is its
// length. Gathering all faults would check 20,000 items before reporting that at most 200 are allowed.
const firstFault = openAjv(false)
const allFaults = openAjv(true)

/**
 * Checks a part of a request and returns it without the fields that are null where null means not given (contract §2);
 * throws a 400 that names wrong fields and their rules.
 */
export type Check = (value: unknown) => unknown

/**
 * A check by a schema of the contract; `where` names the part in messages about the whole of it. For a small part all
 * wrong fields are reported, for a large one only the first, so that the cost of a refusal is bounded. It is compiled when it
 * is first needed: all at once they were a fifth of a start.
 */
export function compileCheck(schema: unknown, where: 'body' | 'query' | 'path' | 'line'): Check {
  let isRight: ValidateFunction | undefined
  let gather: ValidateFunction | undefined
  return sent => {
    isRight ??= firstFault.compile(schema as object)
    if (isRight(sent)) return sent
    const value = withoutNulls(schema as Shape, sent)
    if (isRight(value)) return value
    if (!isSmall(value)) throw badFields(problemsOf(isRight.errors ?? [], where))
    gather ??= allFaults.compile(schema as object)
    gather(value)
    throw badFields(problemsOf(gather.errors ?? [], where))
  }
}

const SMALL_PARTS = 512
const CHARACTERS_IN_PART = 32

/** Whether a value has at most 512 parts; parts are values, names, and each 32 characters of a text. */
function isSmall(value: unknown): boolean {
  let left = SMALL_PARTS
  const count = (one: unknown): boolean => {
    left -= typeof one === 'string' ? 1 + one.length / CHARACTERS_IN_PART : 1
    if (left < 0 || typeof one !== 'object' || one === null) return left >= 0
    if (Array.isArray(one)) return one.length <= left && one.every(count)
    for (const name in one) if (!count(name) || !count((one as Record<string, unknown>)[name])) return false
    return true
  }
  return count(value)
}

/** A request or query without its empty strings: `""` means not given (contract §2). */
export type Given<T> = { readonly [Name in keyof T]: Exclude<T[Name], ''> }

/** A query, or the top level of a body, without its empty strings; for bodies whose strings are all optional. */
export function withoutEmpty<T extends object>(part: T): Given<T> {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== '')) as Given<T>
}

/** The query of an address as it was sent: all after the first question mark. */
export function queryTextOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

/**
 * The parameters of a query; the check names unknown ones. Refuses with `bad_request` one that is repeated or empty, and one that
 * is not percent-encoded UTF-8: Fastify would pass it on undecoded.
 */
export function queryOf({
  url,
  query,
}: {
  readonly url: string
  readonly query: unknown
}): Record<string, unknown> {
  const sent = url.includes('%') ? queryTextOf(url).split('&') : []
  const broken = sent.find(isBroken)
  if (broken !== undefined)
    throw badField(safeName(broken.replace(/=.*/, '')), 'format', 'must be percent-encoded UTF-8')
  const given = query as Record<string, unknown>
  for (const [name, value] of Object.entries(given)) {
    if (Array.isArray(value)) throw badField(safeName(name), 'duplicate', 'must be sent once')
    if (value === '') throw badField(safeName(name), 'empty', 'must not be empty; leave it out')
  }
  return given
}

function isBroken(parameter: string): boolean {
  try {
    decodeURIComponent(parameter)
    return false
  } catch {
    return true
  }
}

/** The most fields that one problem names; a body of 64 KiB could hold thousands of wrong ones. */
const MAX_PROBLEMS = 50

function problemsOf(errors: readonly ErrorObject[], where: string): FieldProblem[] {
  const problems = new Map<string, FieldProblem>()
  // When one of several forms is allowed, the faults against each form say less than the rule for all of them.
  const forms = errors.filter(error => error.keyword === 'anyOf').map(error => error.instancePath)
  for (const error of errors) {
    const isOfOneForm = error.keyword !== 'anyOf' && forms.some(path => error.instancePath.startsWith(path))
    if (isOfOneForm) continue
    const problem = problemOf(error, where)
    if (problem && !problems.has(problem.field)) problems.set(problem.field, problem)
    if (problems.size === MAX_PROBLEMS) break
  }
  return [...problems.values()]
}

function problemOf(error: ErrorObject, where: string): FieldProblem | undefined {
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
  const shape = error.parentSchema as Shape
  const mistyped = typeRule(shape, error.data)
  if (mistyped) return { field, code: 'type', message: `${field} ${mistyped}` }
  const rule = shape['x-rule'] ?? error.message ?? 'is not valid'
  return { field, code: error.keyword, message: `${field} ${rule}` }
}

/** `/address/zipcode` and `/benefits/0` as `address.zipcode` and `benefits[0]`. */
function fieldOf(path: string): string {
  return (
    path
      .split('/')
      .slice(1)
      // A name may be the caller's own, as those of `moredetails` are.
      .map(name => (/^\d+$/.test(name) ? name : safeName(name)))
      .reduce(
        (path, name) => (/^\d+$/.test(name) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`),
        '',
      )
  )
}
