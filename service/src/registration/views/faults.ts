import type { en } from './texts.en.ts'

/** The inputs that can be wrong, by the name they are posted under. */
export type InputName =
  | 'firstname'
  | 'lastname'
  | 'dobmonth'
  | 'dobday'
  | 'dobyear'
  | 'email'
  | 'phone'
  | 'addline1'
  | 'addline2'
  | 'addline3'
  | 'city'
  | 'state'
  | 'zipcode'
  | 'gender'
  | 'benefit'
  | 'offername'
  | 'effective'
  | 'out'
  | 'in'
  | `consent.${string}`
  | `person${number}.${string}`
  | 'form'

/** An error of an input; its words are in the texts under `errors`, so that they follow a change of language. */
export type FieldError = {
  readonly input: InputName
  readonly code: ErrorCode
  /** The number in the words: a limit, or the attempts left. */
  readonly count?: number
  /** What the input is about, where several inputs of the view can have the same error. */
  readonly about?: string
  /** What the person can do instead of mending it. */
  readonly wayout?: WayOut
}

/** What somebody can do who does not want to agree: the key of its words. */
export type WayOut = keyof typeof en.check.wayout

/** What is wrong with a posted form. */
export type Faults = { readonly errors: readonly FieldError[] }

/** Whether a form was refused. */
export function isFaulty(parsed: unknown): parsed is Faults {
  return Array.isArray((parsed as Partial<Faults>).errors)
}

/** Every error that the page can name: those that have words. */
type ErrorCode = keyof typeof en.errors
