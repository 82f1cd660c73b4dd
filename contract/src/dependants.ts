import { forms, OptionalTimestamp, optionalText, Timestamp, Userid } from './fields.ts'
import { keyedErrors, operation, partnerErrors } from './operation.ts'
import { described, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'

/** The possible relationships of a dependant to the member (contract §19). */
export const dependantRelationships = ['spouse', 'domesticpartner', 'child'] as const

/** The most dependants that a user may have. */
export const MOST_DEPENDANTS = 20

const line = (maxLength: number) => ({
  minLength: 1,
  maxLength,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  'x-rule': `must be 1 to ${maxLength} characters without control characters`,
})

/** What a request says of a dependant. */
export const dependantFields = {
  relationship: Type.Enum([...dependantRelationships], {
    'x-rule': `must be one of ${dependantRelationships.join(', ')}`,
    description: 'What the dependant is to the member',
  }),
  firstname: Type.String({ ...line(100), description: 'Given name' }),
  lastname: Type.String({ ...line(100), description: 'Family name' }),
  dob: Type.String({
    ...forms.dob,
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
    description: 'Birth date, YYYY-MM-DD',
  }),
  gender: Type.Optional(
    Type.Enum(['M', 'F', 'X', 'U', 'N', 'O', ''], {
      'x-rule': 'must be one of M, F, X, U, N, O',
      description: 'Single-letter code',
    }),
  ),
}

/** The id of a dependant; ids are ours. */
export const DependantId = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-rule': 'must be 1 to 64 characters',
  description: 'Our id of a dependant',
})

/** Dependants by their ids, each once. */
export const DependantIds = Type.Array(DependantId, {
  maxItems: MOST_DEPENDANTS,
  uniqueItems: true,
  'x-rule': `must be a list of at most ${MOST_DEPENDANTS} different ids of dependants`,
  description: 'Whom the benefit covers beside the member, by their ids',
})

/** A benefit that covers a dependant, or will (contract §19). */
export const DependantCover = shape('DependantCover', {
  name: Type.String({ description: 'Short benefit code' }),
  state: described(
    Type.Enum(['scheduled', 'covered', 'endscheduled']),
    '`scheduled`, `covered`, or `endscheduled`: covered until a dated end',
  ),
  startsattimestamp: Timestamp,
  endsattimestamp: OptionalTimestamp,
})
/** The shape of {@link DependantCover}. */
export type DependantCover = Static<typeof DependantCover>

/** A dependant of a member, and what covers it (contract §19). */
export const Dependant = shape('Dependant', {
  dependantid: Type.String(),
  relationship: described(Type.Enum([...dependantRelationships]), 'What the dependant is to the member'),
  firstname: string('Given name'),
  lastname: string('Family name'),
  dob: string('Birth date, YYYY-MM-DD'),
  gender: Type.String({ description: '"" when not given' }),
  benefits: described(Type.Array(DependantCover), 'What covers the dependant, or will'),
})
/** The shape of {@link Dependant}. */
export type Dependant = Static<typeof Dependant>

/** A dependant in a list that replaces the present one. */
export const GivenDependant = shape('GivenDependant', {
  dependantid: optionalText(64, { description: 'Absent or "": a new dependant' }),
  ...dependantFields,
})

const shared = {
  method: 'POST',
  caller: 'partner',
  tag: 'Users',
  section: 'contract §19',
} as const
const dependantErrors = [...partnerErrors, 'user_not_found', 'user_cancelled'] as const
const exampleId = '019abc12-3456-7def-8123-456789abcdf0'
const exampleDependant = {
  relationship: 'child',
  firstname: 'Ada',
  lastname: 'King',
  dob: '2019-05-04',
  gender: 'F',
} as const

/** Reads the dependants of a member (contract §19). */
export const getDependants = operation({
  ...shared,
  id: 'getDependants',
  path: '/user/account/dependants/get',
  scope: 'dependants:read',
  idempotency: 'ignored',
  summary: 'Read the dependants of a member, and which benefits cover each',
  body: shape('GetDependants', { userid: Userid }),
  reply: shape('Dependants', {
    userid: Type.String(),
    version: Type.Integer({ description: 'Counted from 1; 0 before the first list' }),
    dependants: Type.Array(Dependant),
  }),
  errors: dependantErrors,
  example: {
    body: { userid: 'u-1001' },
    reply: {
      userid: 'u-1001',
      version: 1,
      dependants: [
        {
          dependantid: exampleId,
          ...exampleDependant,
          benefits: [
            {
              name: 'dental',
              state: 'covered',
              startsattimestamp: '2026-11-20T15:04:05.123Z',
              endsattimestamp: null,
            },
          ],
        },
      ],
    },
  },
})

/** Replaces the list of dependants of a member (contract §19). */
export const setDependants = operation({
  ...shared,
  id: 'setDependants',
  path: '/user/account/dependants/set',
  scope: 'users:write',
  idempotency: 'keyed',
  summary: 'Replace the list of dependants of a member',
  description:
    'An entry without `dependantid` is new. With `version`, the list is replaced only if that is still the newest. Being on the ' +
    'list covers nobody: create, enrol, swap and `POST /user/benefits/cover` name who is covered. Each version is kept.',
  body: shape('SetDependants', {
    userid: Userid,
    version: described(
      Type.Optional(
        Type.Integer({ minimum: 0, maximum: 2_147_483_647, 'x-rule': 'must be a version that get answered' }),
      ),
      'The version that this list was made from; absent: any',
    ),
    dependants: described(
      Type.Array(GivenDependant, {
        maxItems: MOST_DEPENDANTS,
        'x-rule': `must be a list of at most ${MOST_DEPENDANTS} dependants`,
      }),
      'The whole list: who is missing is no dependant any more',
    ),
  }),
  reply: shape('DependantList', {
    userid: Type.String(),
    version: described(Type.Integer(), 'The version of the list, counted from 1'),
    dependants: Type.Array(shape('DependantName', { dependantid: Type.String() }), {
      description: 'In the order sent',
    }),
  }),
  errors: [
    ...dependantErrors,
    ...keyedErrors,
    'dependant_unknown',
    'version_conflict',
    'dependant_covered',
    'dependant_not_eligible',
  ],
  example: {
    body: { userid: 'u-1001', version: 0, dependants: [exampleDependant] },
    reply: { userid: 'u-1001', version: 1, dependants: [{ dependantid: exampleId }] },
  },
})
