import type { Faults, FieldError, WayOut } from './faults.ts'
import type { Parsed } from './form.ts'
import type { ConsentText } from './parts.ts'

/**
 * The benefits that can be chosen, and how many of them fit, beside those that need no slot; `required` when the person would
 * otherwise have none.
 */
export type Slots = {
  readonly selectable: readonly string[]
  readonly slots: number
  readonly slotless?: readonly string[]
  readonly required: boolean
}

/** Reads the chosen benefits, in the order shown. Refuses more than fit, none when one is required, and closed ones. */
export function parseBenefits(form: URLSearchParams, allowed: Slots): Parsed<readonly string[]> {
  const posted = form.getAll('benefit')
  const chosen = allowed.selectable.filter(name => posted.includes(name))
  if (posted.some(name => !allowed.selectable.includes(name)))
    return refused({ input: 'benefit', code: 'benefit_unavailable' })
  const { slotless = [] } = allowed
  if (chosen.filter(name => !slotless.includes(name)).length > allowed.slots)
    return refused({ input: 'benefit', code: 'benefits_many', count: allowed.slots })
  if (chosen.length === 0 && allowed.required) return refused({ input: 'benefit', code: 'benefits_missing' })
  return chosen
}

/** What can be exchanged: benefits held, benefits to have instead, and free slots. */
export type Swappable = {
  readonly held: readonly string[]
  readonly available: readonly string[]
  readonly freeslots: number
}

/** Each new benefit of a swap, with the one that it replaces; those that fill free slots come last. */
export type SwapChoice = readonly { readonly add: string; readonly remove: string | undefined }[]

/** Reads the benefit to give up, or `free` for a free slot; refuses one that cannot be given up. */
export function parseSwapOut(form: URLSearchParams, slots: readonly string[]): Parsed<string> {
  const out = form.get('out') ?? ''
  if (slots.includes(out)) return out
  return refused({ input: 'out', code: 'swap_missing' })
}

/** Reads the new benefit; refuses a form without one, and one that is not open. */
export function parseSwapIn(
  form: URLSearchParams,
  available: readonly string[],
  slot: 'instead' | 'free',
): Parsed<string> {
  const chosen = form.get('in') ?? ''
  if (available.includes(chosen)) return chosen
  const missing = slot === 'free' ? 'swap_add_missing' : 'swap_in_missing'
  return refused({ input: 'in', code: chosen === '' ? missing : 'benefit_unavailable' })
}

/** Reads a swap; `undefined` for an empty one, the same new benefit twice, and benefits that are not open. */
export function parseSwap(form: URLSearchParams, allowed: Swappable): SwapChoice | undefined {
  const free = Array.from({ length: allowed.freeslots }, (_, at) => `free${at + 1}`)
  const chosenFor = (slot: string, remove?: string) => {
    const add = form.get(`replace.${slot}`)
    return add ? [{ add, remove }] : []
  }
  const pairs = [
    ...allowed.held.flatMap(name => chosenFor(name, name)),
    ...free.flatMap(slot => chosenFor(slot)),
  ]
  const added = new Set(pairs.map(({ add }) => add))
  const isOpen = [...added].every(name => allowed.available.includes(name))
  return pairs.length > 0 && added.size === pairs.length && isOpen ? pairs : undefined
}

/** Reads the chosen offer; refuses a form without one, and an offer that is not open. */
export function parseOffer(form: URLSearchParams, open: readonly string[]): Parsed<string> {
  const offername = form.get('offername') ?? ''
  if (open.includes(offername)) return offername
  return refused({ input: 'offername', code: 'offer_missing' })
}

/** Reads when a cancel takes effect; refuses a form without an answer. */
export function parseCancel(form: URLSearchParams): Parsed<'endofperiod' | 'immediate'> {
  const effective = form.get('effective')
  if (effective === 'endofperiod' || effective === 'immediate') return effective
  return refused({ input: 'effective', code: 'when_missing' })
}

/**
 * Refuses each consent that was not given to the version now shown, by its title if there are several; `undefined` when
 * all were. `act`: what the button of the form does, which the refusal names; `wayOut`: what the
 * person can do instead of giving a consent, if anything.
 */
export function checkConsents(
  form: URLSearchParams,
  wanted: readonly Pick<ConsentText, 'name' | 'version' | 'title'>[],
  act: 'enroll' | 'confirm',
  wayOut: (consent: string) => WayOut | undefined = () => undefined,
): Faults | undefined {
  const missing = wanted.filter(({ name, version }) => form.get(`consent.${name}`) !== version)
  const code = act === 'enroll' ? 'consent_missing' : 'consent_unconfirmed'
  const errors = missing.map(({ name, title }): FieldError => {
    const wayout = wayOut(name)
    const error: FieldError = { input: `consent.${name}`, code, ...(wayout && { wayout }) }
    return wanted.length > 1 ? { ...error, about: title } : error
  })
  return errors.length > 0 ? { errors } : undefined
}

function refused(error: FieldError): Faults {
  return { errors: [error] }
}
