import { cancelUser, createUser, eraseUser, updateUser } from './accounts.ts'
import { optionalText } from './fields.ts'
import { operation } from './operation.ts'
import { examplePrefill, prefillUser } from './prefill.ts'
import { ABSENT, parameters, refusedWith, shape } from './shape.ts'
import { type Static, Type } from './typebox.ts'

/** The operations that a line of a bulk may name, by that name (contract §18). */
export const bulkOperations = {
  prefill: prefillUser,
  create: createUser,
  update: updateUser,
  cancel: cancelUser,
  erase: eraseUser,
} as const

/** The name of an operation in a line of a bulk. */
export type BulkOperation = keyof typeof bulkOperations

const names = Object.keys(bulkOperations) as BulkOperation[]

/** A line of a bulk (contract §18). */
export const BulkLine = shape(
  'BulkLine',
  {
    operation: Type.Enum(names, { 'x-rule': `must be one of ${names.join(', ')}` }),
    key: optionalText(257, {
      description: 'The `Idempotency-Key` of the request that the line stands for; a prefill needs one',
    }),
    body: Type.Object(
      {},
      {
        'x-rule': 'must be a JSON object',
        description: 'The body of that request; for a cancel `{userid, effective?, reason?}`',
      },
    ),
  },
  refusedWith({ operation: [{ operation: { const: 'prefill' }, key: ABSENT }] }),
)
/** The shape of {@link BulkLine}. */
export type BulkLine = Static<typeof BulkLine>

/** A line of the answer to a bulk (contract §18). */
export const BulkAnswer = shape('BulkAnswer', {
  line: Type.Integer({ description: 'The number of the line that it answers; blank lines are counted' }),
  status: Type.Integer({ description: 'The status of the request that the line stands for' }),
  body: Type.Unknown({ description: 'The body of its answer, or its problem document' }),
})
/** The shape of {@link BulkAnswer}. */
export type BulkAnswer = Static<typeof BulkAnswer>

/** The body of a cancel in a bulk, whose single request takes these from its path and query. */
export const BulkCancel = shape('BulkCancel', {
  ...cancelUser.params.properties,
  effective: cancelUser.query.properties.effective,
  reason: cancelUser.query.properties.reason,
})
/** The shape of {@link BulkCancel}. */
export type BulkCancel = Static<typeof BulkCancel>

/** Takes many writes in one request (contract §18). */
export const bulk = operation({
  id: 'bulk',
  method: 'POST',
  path: '/user/bulk',
  caller: 'partner',
  lines: true,
  idempotency: 'ignored',
  tag: 'Users',
  section: 'contract §18',
  summary: 'Send many prefills, creates, updates, cancels and erasures in one request, a line each',
  description:
    'Body and answer are NDJSON: one JSON object a line, 64 KiB a line and 5 MiB in all. Each line is the request that it ' +
    'names, with its scope, rules, events and idempotency, in the order of the lines; the answer has a line for each, in ' +
    'the same order, and begins before the last line has arrived. So read while you send: the service stops reading from a ' +
    'client that does not read. A line that cannot be read gets its own 400 or 413, and the rest goes on. Beyond 5 MiB the ' +
    'last line of the answer has status 413, after 100 lines that cannot be read it has 400, and what came before stands. ' +
    'Eight bulks of a partner are answered at once; the next is 429. If the connection breaks, send all again, with the ' +
    'same keys. The token needs the scope of each operation that you name.',
  query: parameters({
    dryrun: Type.Optional(
      Type.Enum(['true', 'false'], {
        'x-rule': 'must be true or false',
        description:
          '`true`: get what each line by itself would be answered; nothing is written, keys are ignored',
      }),
    ),
  }),
  body: BulkLine,
  reply: BulkAnswer,
  errors: ['bad_request', 'duplicate_header', 'unauthorized', 'invalid_api_key'],
  example: {
    body: {
      operation: 'prefill',
      key: '7c2f4f0e-6b1d-4c8e-9d0a-3f1e5b7a9c21',
      body: { userid: examplePrefill.userid, firstname: examplePrefill.firstname },
    },
    reply: { line: 1, status: 200, body: 'prefill saved' },
  },
})
