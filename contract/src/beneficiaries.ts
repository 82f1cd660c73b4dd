import { Timestamp, Userid } from './fields.ts'
import { operation, partnerErrors } from './operation.ts'
import { described, orNull, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'
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

/** A beneficiary of a designation (contract §7); `""`: not known. */
export const Beneficiary = shape('Beneficiary', {
  kind: described(
    Type.Enum(['primary', 'contingent']),
    '`contingent`: only where no primary one can receive it',
  ),
  name: string('The full name'),
  relationship: described(Type.Enum([...relationships]), 'What the beneficiary is to the person'),
  share: Type.Integer({ description: 'Percent' }),
  dob: string('Birth date, YYYY-MM-DD; `""`: not known'),
  contact: string('How to reach them; `""`: not known'),
})
/** The shape of {@link Beneficiary}. */
export type Beneficiary = Static<typeof Beneficiary>

/** One version of a person's beneficiaries for a benefit; versions are never edited (contract §7). */
export const Designation = shape('Designation', {
  version: Type.Integer({ description: 'Counted from 1 for each benefit' }),
  who: Type.Enum(['user', 'operatorlink'], {
    description:
      'Who wrote this version: the person (`user`), or `operatorlink`, somebody on the page by a link that an operator made',
  }),
  writtenattimestamp: Timestamp,
  beneficiaries: described(Type.Array(Beneficiary), 'The people who are named'),
})
/** The shape of {@link Designation}. */
export type Designation = Static<typeof Designation>

/** A person's beneficiaries for one benefit. */
export const BenefitBeneficiaries = shape('BenefitBeneficiaries', {
  name: Type.String({ description: 'Short benefit code' }),
  displayname: Type.String(),
  naming: Type.Enum(['required', 'optional'], {
    description: '`required`: without a designation the benefit waits with `actionrequired`',
  }),
  current: described(orNull(Designation), 'The designation in force, or null'),
  versions: described(
    Type.Optional(Type.Array(Designation)),
    'Every designation so far, oldest first; only with `include: ["versions"]`',
  ),
})
/** The shape of {@link BenefitBeneficiaries}. */
export type BenefitBeneficiaries = Static<typeof BenefitBeneficiaries>

const exampleNamed = {
  name: 'life',
  displayname: 'Term life',
  naming: 'required',
  current: {
    version: 1,
    who: 'user',
    writtenattimestamp: '2026-11-20T15:04:05.123Z',
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
    'member has named somebody. `current` is the designation in force, the newest.',
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
    benefits: described(Type.Array(BenefitBeneficiaries), 'Each benefit for which people can be named'),
  }),
  errors: beneficiaryErrors,
  example: {
    body: { userid: 'u-1001' },
    reply: { userid: 'u-1001', serviceid: exampleUser.serviceid, benefits: [exampleNamed] },
  },
})
