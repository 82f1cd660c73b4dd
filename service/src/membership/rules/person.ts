import type { CreateUser, Prefill, UpdateUser } from '@benefit-enrolment/contract'
import type { PlainDate } from '../../calendar/calendar.ts'
import type { Dependant } from './dependant.ts'
import { type Refusal, refuseField } from './refusal.ts'
import type { Residence } from './terms.ts'

/** An address in the form in which it is kept; absent means not given. */
export type PersonAddress = {
  readonly addline1?: string
  readonly addline2?: string
  readonly addline3?: string
  readonly city?: string
  readonly state?: string
  readonly zipcode?: string
}

/** Personal data of one user; absent means not given. */
export type Person = {
  readonly firstname?: string
  readonly lastname?: string
  readonly email?: string
  readonly zipcode?: string
  readonly state?: string
  readonly dob?: string
  readonly phone?: string
  readonly gender?: string
  readonly address?: PersonAddress
  /** The partner's own facts of an account, by name; no rule reads them. */
  readonly moredetails?: Readonly<Record<string, string>>
  /** The numbers by which insurers know the person, by benefit, where an import told them. */
  readonly memberids?: Readonly<Record<string, string>>
  /** The dependants of an account, as the newest version of their list names them. */
  readonly dependants?: readonly Dependant[]
}

/** Where the person lives and when they were born; `undefined` while one of the two is unknown. */
export function residenceOf(person: Person | undefined): Residence | undefined {
  const state = person?.state ?? person?.address?.state
  const zipcode = person?.zipcode ?? person?.address?.zipcode
  if (!person?.dob || !state || !zipcode) return undefined
  return { dob: person.dob as PlainDate, state, zipcode }
}

const fields = ['firstname', 'lastname', 'email', 'zipcode', 'state', 'dob', 'phone', 'gender'] as const
const addressFields = ['addline1', 'addline2', 'addline3', 'city', 'state', 'zipcode'] as const

type Given = Omit<Prefill | CreateUser, 'userid'> & Pick<CreateUser, 'moredetails'> & { state?: string }

/** The personal data that a request gives; `""` means not given. */
export function personSent(request: Given): Person {
  return updatedPerson({}, request)
}

/** Merges the data of a request into stored data: the request wins, and its address replaces the stored one whole. */
export function mergePerson(stored: Person | undefined, given: Person): Person {
  return { ...stored, ...given }
}

/**
 * The data after an update: absent and `""` mean unchanged, `null` clears; this holds for the fields of the address
 * too. A name of `moredetails` is removed by `""`, too.
 */
export function updatedPerson(
  stored: Person,
  update: Omit<UpdateUser, 'userid' | 'state'> & { state?: string | null },
): Person {
  const person: Record<string, unknown> = { ...stored }
  for (const field of fields) patch(person, field, update[field])
  if (update.address === null) delete person['address']
  else if (update.address) {
    const address: Record<string, unknown> = { ...stored.address }
    for (const field of addressFields) patch(address, field, update.address[field])
    if (Object.keys(address).length > 0) person['address'] = address as PersonAddress
    else delete person['address']
  }
  if (update.moredetails === null) delete person['moredetails']
  else if (update.moredetails) {
    const moredetails: Record<string, unknown> = { ...stored.moredetails }
    for (const [name, value] of Object.entries(update.moredetails)) patch(moredetails, name, value || null)
    person['moredetails'] = moredetails
  }
  return person as Person
}

function patch(target: Record<string, unknown>, field: string, value: string | null | undefined): void {
  if (value === null) delete target[field]
  else if (value) target[field] = value
}

/** A field that an account must have. */
export type NeededField = 'firstname' | 'lastname' | 'email' | 'dob' | 'state' | 'zipcode'

/** The fields that an account must have and that are missing. State and ZIP code may also be given in the address. */
export function missingForAccount(person: Person): NeededField[] {
  const missing: NeededField[] = (['firstname', 'lastname', 'email', 'dob'] as const).filter(
    field => !person[field],
  )
  if (!person.state && !person.address?.state) missing.push('state')
  if (!person.zipcode && !person.address?.zipcode) missing.push('zipcode')
  return missing
}

const MOST_DETAILS = 20

/** Refuses a person of whom the partner would keep more than 20 facts of its own; else `undefined`. */
export function tooManyDetails({ moredetails = {} }: Person): Refusal | undefined {
  return Object.keys(moredetails).length > MOST_DETAILS
    ? refuseField('moredetails', 'maxProperties', `must have at most ${MOST_DETAILS} names`)
    : undefined
}
