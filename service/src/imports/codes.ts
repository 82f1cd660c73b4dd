/**
 * What the codes of an import mean, for who corrects the file. Codes that are not here are those of the catalogue's own
 * rules, whose texts are in the catalogue.
 */
export const IMPORT_CODES: Readonly<Record<string, string>> = {
  required: 'it is missing',
  format:
    'not in the form that the field has: dates are YYYY-MM-DD, and benefits and consents as docs/moving-in.md says',
  pattern: 'it has characters that the field cannot have',
  enum: 'none of the values that the field knows: states by their two letters',
  const: 'none of the values that the field knows',
  anyOf: 'none of the forms that the field knows',
  type: 'text where a list, or a list where text belongs; a number is written as text',
  minLength: 'too short',
  maxLength: 'too long',
  maxItems: 'too many',
  maxProperties: 'too many names',
  unknown_field: 'an import has no such field',
  future: 'a day that has not come yet',
  range: 'before 1900, before the benefit that covers a dependant, or more than 90 days ahead',
  two_changes:
    'a second day to come on which the benefit would cover more people: take it out, and plan it by a change of cover after the first',
  duplicate: 'it is there twice',
  different: 'this person is a member already, and this differs from the file; nothing was changed',
  offername_unknown: 'no offer of this name is open to the partner',
  partnername_not_allowed: 'a name of another partner',
  benefit_unknown: 'no benefit of this name is in the catalogue',
  not_selectable: 'the offer does not have this benefit',
  unknown: 'no benefit that asks for a consent has this name',
  user_erased: 'this person was erased, and is never taken in again',
  slots_exceeded: 'more benefits were picked than the offer has slots',
  consent_required: 'the benefit asks for a consent, and the file has none',
  beneficiary_required: 'the benefit asks for a beneficiary',
  too_long: 'the line is longer than 64 KiB',
  encoding: 'the line is not UTF-8',
  quote: 'a quote in the line is never closed, or text follows it',
  columns: 'the line has another number of cells than the header',
  malformed_json: 'the line is not JSON in UTF-8',
}

/** What these codes mean, each once; codes of the catalogue's rules are left out. */
export function explained(codes: readonly string[]): string[] {
  return [...new Set(codes)].sort().flatMap(code => {
    const words = IMPORT_CODES[code]
    return words === undefined ? [] : [`${code}: ${words}`]
  })
}
