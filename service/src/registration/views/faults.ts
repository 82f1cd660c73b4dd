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
}

/** What is wrong with a posted form. */
export type Faults = { readonly errors: readonly FieldError[] }

/** Whether a form was refused. */
export function isFaulty(parsed: unknown): parsed is Faults {
  return Array.isArray((parsed as Partial<Faults>).errors)
}

/** Every error that the page can name. */
export type ErrorCode =
  | 'firstname_missing'
  | 'lastname_missing'
  | 'name_long'
  | 'dob_invalid'
  | 'dob_mismatch'
  | 'email_invalid'
  | 'phone_invalid'
  | 'zipcode_invalid'
  | 'state_missing'
  | 'line_long'
  | 'gender_unknown'
  | 'benefits_missing'
  | 'benefits_many'
  | 'benefit_unavailable'
  | 'swap_missing'
  | 'swap_in_missing'
  | 'swap_add_missing'
  | 'offer_missing'
  | 'when_missing'
  | 'consent_missing'
  | 'consent_unconfirmed'
  | 'beneficiary_name'
  | 'beneficiary_relationship'
  | 'beneficiary_share'
  | 'beneficiary_dob'
  | 'beneficiary_contact'
  | 'primary_missing'
  | 'primary_shares'
  | 'contingent_shares'
