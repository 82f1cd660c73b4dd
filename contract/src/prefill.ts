import { personFields, Userid } from './fields.ts'
import { operation, partnerErrors } from './operation.ts'
import { shape } from './shape.ts'
import { type Static, Type } from './typebox.ts'

/** The prefill record (interface §2.1); only `userid` is required (contract §5). */
export const Prefill = shape('Prefill', {
  firstname: personFields.firstname,
  lastname: personFields.lastname,
  email: personFields.email,
  zipcode: personFields.zipcode,
  dob: personFields.dob,
  userid: Userid,
  phone: personFields.phone,
  gender: personFields.gender,
  address: personFields.address,
})
/** The shape of {@link Prefill}. */
export type Prefill = Static<typeof Prefill>

/** A realistic prefill record for examples and the demo. */
export const examplePrefill: Prefill = {
  firstname: 'Ada',
  lastname: 'Rivera',
  email: 'ada.rivera@example.com',
  zipcode: '33101',
  dob: '1990-03-27',
  userid: 'u-1001',
  phone: '3055550142',
  gender: 'F',
  address: {
    addline1: '12 Ocean Drive',
    addline2: '',
    addline3: '',
    city: 'Miami',
    state: 'FL',
    zipcode: '33101',
  },
}

/** Stores prefill data (interface §4.1, contract §4 and §5). */
export const prefillUser = operation({
  id: 'prefillUser',
  method: 'POST',
  path: '/user/prefill',
  caller: 'partner',
  scope: 'prefill:write',
  idempotency: 'prefill',
  tag: 'Users',
  section: 'interface §4.1',
  summary: 'Store data that fills the registration page of one user',
  description:
    'With `Version: v2` and an Idempotency-Key the write is idempotent: the same request again answers 409 with ' +
    '`Idempotency-Replayed: true`. A new key creates the entry or replaces it whole. Advice: make the key a hash ' +
    'of the body together with a counter, so that older data can be written again. An entry lives 90 days.',
  headers: {
    'idempotency-key': {
      schema: Type.String({ minLength: 1, maxLength: 255, pattern: '^[!-~]+$' }),
      description: 'Unique per request; usually a hash of the request body',
    },
    version: {
      schema: Type.Enum(['v1', 'v2']),
      description: '`v2` enables idempotency; `v1` or absent: none',
    },
  },
  body: Prefill,
  reply: Type.Literal('prefill saved'),
  errors: [
    ...partnerErrors,
    'idempotency_key_missing',
    'idempotency_key_invalid',
    'unsupported_version',
    'user_exists',
    'prefill_superseded',
    'idempotency_key_reused',
    'user_erased',
  ],
  example: { body: examplePrefill, reply: 'prefill saved' },
})
