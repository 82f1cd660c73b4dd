import type { Say } from './say.ts'
import { errorTexts, wayOutTexts } from './texts.ts'

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
  | `cover.${string}`
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
export type WayOut = keyof typeof wayOutTexts

/** What is wrong with a posted form. */
export type Faults = { readonly errors: readonly FieldError[] }

/** Whether a form was refused. */
export function isFaulty(parsed: unknown): parsed is Faults {
  return Array.isArray((parsed as Partial<Faults>).errors)
}

/** Every error that the page can name: those that have words. */
type ErrorCode = keyof typeof errorTexts

/** The result of reading a posted form: validated values, or what is wrong with it. */
export type Parsed<Values> = Values | Faults

/** The sentence that says what is wrong with an input. */
export function errorText(say: Say, { code, count = 0, about, wayout }: FieldError): string {
  const one = {
    dob_mismatch: 'dob_mismatch_last',
    benefits_many: 'benefits_many_for_one',
    cover_many: 'cover_many_one',
  } as const
  const known =
    count === 1 && (code === 'dob_mismatch' || code === 'benefits_many' || code === 'cover_many')
      ? one[code]
      : code
  const fault = say(errorTexts[known], count)
  const said = wayout === undefined ? fault : say(wayOutTexts[wayout], fault)
  return about === undefined ? said : `${said}: ${about}`
}
