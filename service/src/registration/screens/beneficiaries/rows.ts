import { MOST_BENEFICIARIES, type Relationship, relationships } from '@benefit-enrolment/contract'
import { faultsOfDesignation, type NamedBeneficiary } from '../../../membership/rules/beneficiaries.ts'
import { parseBirthDate, typed } from '../../steps/step.ts'
import { dateFields } from '../../views/birth-date.ts'
import { type FieldError, isFaulty, type Parsed } from '../../views/faults.ts'
import type { IsoDate } from '../../views/parts.ts'

/** The inputs of a person of whom nothing was typed, by the last part of their names: `person2.share` is a second person's. */
const blank = {
  name: '',
  relationship: '',
  kind: 'primary',
  share: '',
  dobmonth: '',
  dobday: '',
  dobyear: '',
  contact: '',
}

/** The last part of an input's name. */
export type BeneficiaryField = keyof typeof blank

/** One person's inputs as typed. */
export type BeneficiaryRow = Readonly<Record<BeneficiaryField, string>>

/** The name of an input of the person with this number, counted from 1. */
export function beneficiaryInput(at: number, field: BeneficiaryField): `person${number}.${BeneficiaryField}` {
  return `person${at}.${field}`
}

/** The rows of people who are already named; one blank row if there are none. */
export function rowsOf(people: readonly NamedBeneficiary[]): readonly BeneficiaryRow[] {
  if (people.length === 0) return [{ ...blank, share: '100' }]
  return people.map(({ share, dob, contact = '', ...one }) => ({
    ...one,
    contact,
    share: String(share),
    ...dateFields(dob),
  }))
}

/**
 * The rows as typed, those second in line last; with one more if `add` was pressed, and without the one whose `remove`
 * was pressed.
 */
export function rowsIn(form: URLSearchParams): readonly BeneficiaryRow[] {
  const count = Math.min(Math.max(1, Number(form.get('rows')) || 1), MOST_BENEFICIARIES)
  const all = Array.from({ length: count }, (_, at) => rowAt(form, at + 1))
  const left = all.filter((_, at) => String(at + 1) !== form.get('remove'))
  const rows = left.length > 0 ? left : [blank]
  const added = addedKind(form)
  return rowsInOrder(added && rows.length < MOST_BENEFICIARIES ? [...rows, { ...blank, kind: added }] : rows)
}

/** The place in line for which a row was asked for; `undefined`: none was. */
export function addedKind(form: URLSearchParams): NamedBeneficiary['kind'] | undefined {
  const added = form.get('add')
  return added === null ? undefined : added === 'contingent' ? 'contingent' : 'primary'
}

function rowsInOrder(rows: readonly BeneficiaryRow[]): readonly BeneficiaryRow[] {
  return [...rows].sort((a, b) => Number(a.kind === 'contingent') - Number(b.kind === 'contingent'))
}

/** Whether the form only asks for other rows. */
export function changesRows(form: URLSearchParams): boolean {
  return form.has('add') || form.has('remove')
}

/**
 * Reads the beneficiaries; empty rows do not count. Refuses missing values, wrong dates and shares that do not add up.
 */
export function parseBeneficiaries(
  form: URLSearchParams,
  today: IsoDate,
): Parsed<readonly NamedBeneficiary[]> {
  const rows = rowsIn(form)
  const errors: FieldError[] = []
  const people: NamedBeneficiary[] = []
  for (const [index, row] of rows.entries()) {
    if (isEmpty(row)) continue
    const read = readRow(row, index + 1, today)
    if (isFaulty(read)) errors.push(...read.errors)
    people.push(isFaulty(read) ? sharer(row) : read)
  }
  // A wrong share says enough: their sum would be wrong with it.
  const isSummed = !errors.some(({ code }) => code === 'beneficiary_share')
  const whole = isSummed ? faultsOfDesignation(people) : []
  errors.push(...whole.map(code => ({ input: firstInput(rows, code), code, count: sumFor(people, code) })))
  return errors.length > 0 ? { errors } : inOrder(people)
}

/** Somebody whose other answers are wrong, so that the shares can be added up nevertheless. */
function sharer({ share, kind }: BeneficiaryRow): NamedBeneficiary {
  return { name: '-', relationship: 'other', share: shareOf(share), kind: kindOf(kind) }
}

function kindOf(kind: string): NamedBeneficiary['kind'] {
  return kind === 'contingent' ? 'contingent' : 'primary'
}

/** The share as a number; 0 when it is none. */
function shareOf(text: string): number {
  const written = text.normalize('NFKC').replace(/\s*%$/, '')
  return /^\d{1,3}$/.test(written) ? Number(written) : 0
}

function rowAt(form: URLSearchParams, at: number): BeneficiaryRow {
  const fields = Object.keys(blank) as BeneficiaryField[]
  const read = fields.map(field => [field, typed(form, beneficiaryInput(at, field))])
  return Object.fromEntries(read) as BeneficiaryRow
}

function readRow(row: BeneficiaryRow, at: number, today: IsoDate): Parsed<NamedBeneficiary> {
  const errors: FieldError[] = []
  const refuse = (field: BeneficiaryField, code: FieldError['code']) =>
    errors.push({ input: beneficiaryInput(at, field), code, count: at })
  const { name, contact } = row
  if (name === '' || name.length > 200) refuse('name', 'beneficiary_name')
  const relationship = relationships.find(known => known === row.relationship)
  if (!relationship) refuse('relationship', 'beneficiary_relationship')
  const share = shareOf(row.share)
  if (share < 1 || share > 100) refuse('share', 'beneficiary_share')
  const dob = dobOf(row, today)
  if (isFaulty(dob)) refuse('dobmonth', dobFaults[dob.errors[0]?.code ?? ''] ?? 'beneficiary_dob')
  if (contact.length > 200) refuse('contact', 'beneficiary_contact')
  if (errors.length > 0) return { errors }
  return {
    kind: kindOf(row.kind),
    name,
    share,
    relationship: relationship as Relationship,
    ...(isFaulty(dob) || dob === '' ? {} : { dob }),
    ...(contact ? { contact } : {}),
  }
}

/** What is wrong with a real date of birth, by the error of `parseBirthDate`. */
const dobFaults: Readonly<Record<string, FieldError['code']>> = {
  dob_future: 'beneficiary_dob_future',
  dob_early: 'beneficiary_dob_early',
}

/** The date of a row, `''` when none is given; refuses what `parseBirthDate` refuses. */
function dobOf({ dobmonth, dobday, dobyear }: BeneficiaryRow, today: IsoDate): Parsed<IsoDate | ''> {
  if (dobmonth === '' && dobday === '' && dobyear === '') return ''
  const parsed = parseBirthDate(new URLSearchParams({ dobmonth, dobday, dobyear }), today)
  return isFaulty(parsed) ? parsed : parsed.dob
}

function isEmpty({ name, relationship, contact, dobmonth, dobday, dobyear }: BeneficiaryRow): boolean {
  return [name, relationship, contact, dobmonth, dobday, dobyear].every(text => text === '')
}

/** The share of the first row of a kind, where an error about the whole kind is shown. */
function firstInput(rows: readonly BeneficiaryRow[], code: string): FieldError['input'] {
  if (code === 'primary_missing') return beneficiaryInput(1, 'name')
  const kind = code === 'contingent_shares' ? 'contingent' : 'primary'
  return beneficiaryInput(rows.findIndex(row => row.kind === kind && !isEmpty(row)) + 1, 'share')
}

function sumFor(people: readonly NamedBeneficiary[], code: string): number {
  const kind = code === 'contingent_shares' ? 'contingent' : 'primary'
  return people.filter(one => one.kind === kind).reduce((sum, { share }) => sum + share, 0)
}

function inOrder(people: readonly NamedBeneficiary[]): readonly NamedBeneficiary[] {
  return [...people].sort((a, b) => Number(a.kind === 'contingent') - Number(b.kind === 'contingent'))
}
