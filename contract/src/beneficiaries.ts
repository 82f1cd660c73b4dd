import { type Static, Type } from 'typebox'
import { CodeName, forms, OptionalTimestamp, Timestamp, Userid } from './fields.ts'
import { keyedErrors, operation, partnerErrors } from './operation.ts'
import { orNull, shape } from './shape.ts'
import { exampleUser } from './user.ts'

/** The possible relationships of a beneficiary to the person (contract §7). */
export const relationships = [
  'spouse',
  'partner',
  'child',
  'parent',
  'sibling',
  'relative',
  'friend',
  'trust',
  'estate',
  'other',
] as const
/** The relationship of a beneficiary to the person. */
export type Relationship = (typeof relationships)[number]

/** The most people that one designation may name. */
export const MOST_BENEFICIARIES = 20

function line(minLength: number, maxLength: number, description: string) {
  return Type.String({
    minLength,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    'x-rule': `must be ${minLength} to ${maxLength} characters without control characters`,
    description,
  })
}

const kind = Type.Enum(['primary', 'contingent'], {
  'x-rule': 'must be primary or contingent',
  description: '`contingent`: only where no primary one can receive it',
})
const relationship = Type.Enum([...relationships], {
  'x-rule': `must be one of ${relationships.join(', ')}`,
})
const share = Type.Integer({
  minimum: 1,
  maximum: 100,
  'x-rule': 'must be a whole number from 1 to 100',
  description: 'Percent; the shares of all primary ones sum to 100, and so do those of all contingent ones',
})

/** A beneficiary in a proposal (contract §7); `""` in an optional field means not given. */
export const ProposedBeneficiary = shape(
  'ProposedBeneficiary',
  {
    kind,
    name: line(1, 200, 'Full name, of a person or of a trust'),
    relationship,
    share,
    dob: Type.Optional(Type.String({ ...forms.dob, description: 'Birth date, YYYY-MM-DD' })),
    contact: Type.Optional(line(0, 200, 'How to reach them: a phone number or an address')),
  },
  { 'x-rule': 'must be an object' },
)
/** The shape of {@link ProposedBeneficiary}. */
export type ProposedBeneficiary = Static<typeof ProposedBeneficiary>

/** A beneficiary of a designation (contract §7); `""`: not known. */
export const Beneficiary = shape('Beneficiary', {
  kind: Type.Enum(['primary', 'contingent']),
  name: Type.String(),
  relationship: Type.Enum([...relationships]),
  share: Type.Integer({ description: 'Percent' }),
  dob: Type.String(),
  contact: Type.String(),
})
/** The shape of {@link Beneficiary}. */
export type Beneficiary = Static<typeof Beneficiary>

/** One version of a person's beneficiaries for a benefit; versions are never edited (contract §7). */
export const Designation = shape('Designation', {
  version: Type.Integer({ description: 'Counted from 1 for each benefit' }),
  status: Type.Enum(['proposed', 'confirmed', 'dropped'], {
    description: 'It counts once it is `confirmed`; the newest confirmed one is in force',
  }),
  who: Type.Enum(['partner', 'user', 'operator', 'operatorlink'], {
    description:
      'Who wrote this version; `operatorlink`: somebody on the page, by a link that an operator made',
  }),
  writtenattimestamp: Timestamp,
  decidedattimestamp: OptionalTimestamp,
  beneficiaries: Type.Array(Beneficiary),
})
/** The shape of {@link Designation}. */
export type Designation = Static<typeof Designation>

const OptionalDesignation = orNull(Designation)

/** A person's beneficiaries for one benefit. */
export const BenefitBeneficiaries = shape('BenefitBeneficiaries', {
  name: Type.String({ description: 'Short benefit code' }),
  displayname: Type.String(),
  naming: Type.Enum(['required', 'optional'], {
    description: '`required`: without a confirmed designation the benefit waits with `actionrequired`',
  }),
  current: OptionalDesignation,
  proposed: OptionalDesignation,
  versions: Type.Optional(Type.Array(Designation)),
})
/** The shape of {@link BenefitBeneficiaries}. */
export type BenefitBeneficiaries = Static<typeof BenefitBeneficiaries>

const exampleNamed = {
  name: 'life',
  displayname: 'Term life',
  naming: 'required',
  current: null,
  proposed: {
    version: 1,
    status: 'proposed',
    who: 'partner',
    writtenattimestamp: '2026-11-20T15:04:05.123Z',
    decidedattimestamp: null,
    beneficiaries: [
      { kind: 'primary', name: 'Grace King', relationship: 'spouse', share: 100, dob: '', contact: '' },
    ],
  },
} as const

const beneficiaryErrors = [...partnerErrors, 'user_not_found', 'user_cancelled'] as const

/** Reads a member's beneficiaries (contract §7). */
export const getBeneficiaries = operation({
  id: 'getBeneficiaries',
  method: 'POST',
  path: '/user/account/beneficiaries/get',
  caller: 'partner',
  scope: 'beneficiaries:read',
  idempotency: 'ignored',
  tag: 'Users',
  section: 'contract §7',
  summary: 'Read whom a member names as beneficiaries, for each benefit that takes them',
  description:
    'One element for each benefit of the offer that takes beneficiaries, and for each other benefit for which the ' +
    'member has named somebody. `current` is the designation in force, `proposed` the one that waits for the ' +
    'confirmation of the member.',
  body: shape('GetBeneficiaries', {
    userid: Userid,
    include: Type.Optional(
      Type.Array(Type.Enum(['versions'], { 'x-rule': 'must be versions' }), {
        maxItems: 1,
        'x-rule': 'must be an empty list or ["versions"]',
        description: '`versions`: the newest 200 of all benefits together, oldest first',
      }),
    ),
  }),
  reply: shape('Beneficiaries', {
    userid: Type.String(),
    serviceid: Type.String(),
    benefits: Type.Array(BenefitBeneficiaries),
  }),
  errors: beneficiaryErrors,
  example: {
    body: { userid: 'u-1001' },
    reply: { userid: 'u-1001', serviceid: exampleUser.serviceid, benefits: [exampleNamed] },
  },
})

/** Proposes beneficiaries to a member (contract §7). */
export const proposeBeneficiaries = operation({
  id: 'proposeBeneficiaries',
  method: 'POST',
  path: '/user/account/beneficiaries/propose',
  caller: 'partner',
  scope: 'beneficiaries:write',
  idempotency: 'keyed',
  tag: 'Users',
  section: 'contract §7',
  summary: 'Propose beneficiaries for one benefit; they count once the member has confirmed them',
  description:
    'A proposal takes the place of an earlier one that still waits. What is in force stays in force until the member ' +
    'confirms the proposal on the page, which raises `user_update_successful`.',
  body: shape('ProposeBeneficiaries', {
    userid: Userid,
    name: CodeName,
    beneficiaries: Type.Array(ProposedBeneficiary, {
      minItems: 1,
      maxItems: MOST_BENEFICIARIES,
      'x-rule': `must be a list of 1 to ${MOST_BENEFICIARIES} beneficiaries`,
    }),
  }),
  reply: BenefitBeneficiaries,
  errors: [...beneficiaryErrors, ...keyedErrors, 'benefit_unknown', 'ineligible'],
  example: {
    body: {
      userid: 'u-1001',
      name: 'life',
      beneficiaries: [{ kind: 'primary', name: 'Grace King', relationship: 'spouse', share: 100 }],
    },
    reply: exampleNamed,
  },
})
