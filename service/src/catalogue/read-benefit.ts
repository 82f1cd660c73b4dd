import type { Cursor } from './cursor.ts'
import { type FileMention, isPathOf, isShippedName, PICTURES } from './file-paths.ts'
import { MAX_CENTS } from './limits.ts'
import { AMOUNT_SPANS, BENEFIT_TYPES, type Benefit, type Consent, NAMINGS, type Rule } from './model.ts'
import { readDocuments, readInsurer, readPrice, readWaitingPeriod } from './read-disclosures.ts'
import { MAX_AGE, readBenefitRules } from './read-rules.ts'
import { type Mention, readBilingual, readName } from './read-values.ts'

/** What a benefit names that stands elsewhere: offers in the same file, and other files. */
export type BenefitMentions = { readonly offers: Mention[]; readonly files: FileMention[] }

/** The benefit described here; the offers that its rules name and the files that it brings are added to `mentions`. */
export function readBenefit(at: Cursor, mentions: BenefitMentions): Benefit {
  const fields = at.fields(REQUIRED, OPTIONAL)
  const benefittype = fields.benefittype.oneOf(BENEFIT_TYPES)
  const amount = fields.amount && readAmount(fields.amount)
  if (amount && benefittype && benefittype !== 'dollar')
    fields.amount?.refuse(
      `belongs to benefits of type dollar only; delete it, as this one is of type ${benefittype}`,
    )
  if (!fields.amount && benefittype === 'dollar')
    at.refuse(
      'amount is missing; a benefit of type dollar needs what it pays, such as amount: { cents: 1000000 }',
    )
  const rules = readBenefitRules(fields.rules, mentions.offers)
  const endsatage = fields.endsatage && readEndsAtAge(fields.endsatage, rules)
  const insurer = fields.insurer && readInsurer(fields.insurer)
  const beneficiaries = fields.beneficiaries?.oneOf(NAMINGS)
  return {
    name: readName(fields.name),
    displayname: readBilingual(fields.displayname, 80),
    description: readBilingual(fields.description, 500),
    icon: readIcon(fields.icon, mentions.files),
    benefittype: benefittype ?? 'dollar',
    sortorder: fields.sortorder.integer(0, 1_000_000) ?? 0,
    pays: readBilingual(fields.pays, 1000),
    notcovered: readBilingual(fields.notcovered, 1000),
    cost: readPrice(fields.cost, insurer !== undefined),
    ...(amount && { amount }),
    rules,
    ...(fields.consent && { consent: readConsent(fields.consent) }),
    ...(endsatage !== undefined && { endsatage }),
    ...(insurer && { insurer }),
    ...(fields.documents && { documents: readDocuments(fields.documents, mentions.files) }),
    ...(fields.waitingperiod && { waitingperiod: readWaitingPeriod(fields.waitingperiod) }),
    ...(beneficiaries && { beneficiaries }),
  }
}

const OPTIONAL = [
  'amount',
  'rules',
  'consent',
  'endsatage',
  'insurer',
  'documents',
  'waitingperiod',
  'beneficiaries',
] as const

const REQUIRED = {
  name: 'a short code such as accident',
  displayname: 'the name people see, in en and es',
  description: 'one or two sentences, in en and es',
  icon: 'the name of an icon file such as accident.svg',
  benefittype: `one of ${BENEFIT_TYPES.join(', ')}`,
  sortorder: 'a whole number; lower ones are listed first',
  pays: 'what it pays or gives, in en and es',
  notcovered: 'what it does not cover, in en and es',
  cost: 'cost: { cents: 0, per: month } or what it costs',
}

/** An icon that ships with us by its name, or a picture of the catalogue's own by its path. */
function readIcon(at: Cursor, files: FileMention[]): string {
  const icon = at.textThat(
    text => isShippedName(text) || isPathOf(text, PICTURES),
    'is not an icon; write the name of one that ships with us such as accident.svg, or the path of a PNG or WebP file',
  )
  if (icon !== '') files.push({ at, path: icon, use: 'icon' })
  return icon
}

function readAmount(at: Cursor): Benefit['amount'] {
  const fields = at.fields({ cents: 'the amount in cents' }, ['per'])
  const cents = fields.cents.integer(1, MAX_CENTS) ?? 0
  const per = fields.per?.oneOf(AMOUNT_SPANS)
  return { cents, ...(per && { per }) }
}

function readConsent(at: Cursor): Consent {
  const fields = at.fields({
    version: 'a version such as "2026-01"',
    text: 'the text to agree to, in en and es',
  })
  const remedy = 'is not a version; use up to 64 letters, digits, dots and dashes, such as "2026-01"'
  const version = fields.version.textThat(text => /^[A-Za-z0-9][A-Za-z0-9.-]{0,63}$/.test(text), remedy)
  return { version, text: readBilingual(fields.text, 20_000) }
}

/** Refused unless a rule keeps out those who have reached the age: their cover would end as soon as it begins. */
function readEndsAtAge(at: Cursor, rules: readonly Rule[]): number | undefined {
  const age = at.integer(1, MAX_AGE)
  if (age === undefined) return undefined
  const oldest = Math.min(...rules.map(rule => (rule.kind === 'age' ? (rule.max ?? MAX_AGE) : MAX_AGE)))
  if (oldest >= age)
    at.refuse(
      `people of ${age} can still enrol; add an age rule with max: ${age - 1} or less, or raise endsatage`,
    )
  return age
}
