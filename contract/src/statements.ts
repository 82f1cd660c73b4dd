import { OptionalTimestamp } from './fields.ts'
import { operation, partnerErrors } from './operation.ts'
import { described, orNull, parameters, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'
import { User } from './user.ts'

const monthForm = { pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' }
const Cents = Type.Integer({
  description: 'In cents of the US dollar; negative in an adjustment that takes back',
})

/** One month of a partner (contract §16). */
export const Statement = shape('Statement', {
  month: string('The calendar month in your time zone, YYYY-MM'),
  status: described(
    Type.Enum(['open', 'final']),
    '`open`: counted each time it is asked for; `final`: it never changes again',
  ),
  users: described(Type.Integer(), 'How many users have a line'),
  personcents: Cents,
  partnercents: Cents,
  finalizedat: described(OptionalTimestamp, 'When it became final, or null'),
})
/** The shape of {@link Statement}. */
export type Statement = Static<typeof Statement>

/** One line of a month (contract §16). */
export const StatementLine = shape('StatementLine', {
  userid: string(`The partner's identifier of the user, today's; \`""\` for an erased user`),
  serviceid: Type.String(),
  kind: described(
    Type.Enum(['benefit', 'offer', 'adjustment']),
    'A benefit, an offer, or what changed about an earlier month',
  ),
  name: string('The benefit; `""` for an offer'),
  offer: string('The offer, or the one under which the benefit was held'),
  fromdate: described(Type.String({ format: 'date' }), 'The first day counted in the month'),
  todate: described(
    Type.String({ format: 'date' }),
    'The last day counted in the month, as it will be if nothing changes',
  ),
  personcents: Cents,
  takenby: described(
    Type.Enum(['partner', 'insurer', '']),
    'Who takes that from the person, `partner` or `insurer`; `""` where the benefit costs nothing',
  ),
  partnercents: Cents,
  about: string('The month that an adjustment corrects; else `""`'),
  moredetails: User.properties.moredetails,
  days: Type.Integer({
    description: 'How many days from `fromdate` to `todate` were in force; a gap leaves some out',
  }),
  tier: Type.Optional(
    string('Of a benefit that may cover dependants: whose price it is, that of the first day counted'),
  ),
})
/** The shape of {@link StatementLine}. */
export type StatementLine = Static<typeof StatementLine>

const shared = {
  method: 'GET',
  caller: 'partner',
  scope: 'statements:read',
  idempotency: 'ignored',
  tag: 'Statements',
  section: 'contract §16',
} as const

/** Lists a partner's months (contract §16). */
export const listStatements = operation({
  ...shared,
  id: 'listStatements',
  path: '/statements',
  summary: 'List your months, newest first, two years at most, with what each comes to',
  description:
    'The running month is always the first. A month is `open`, and counted anew each time, until it becomes `final` three ' +
    'days after its end, or earlier if the operator says so. `personcents` is what you deduct from your users, `partnercents` ' +
    'what you pay the operator, each with adjustments.',
  reply: shape('Statements', { statements: described(Type.Array(Statement), 'Your months, newest first') }),
  errors: [...partnerErrors],
  example: {
    reply: {
      statements: [
        {
          month: '2026-12',
          status: 'open',
          users: 212,
          personcents: 137_800,
          partnercents: 42_400,
          finalizedat: null,
        },
      ],
    },
  },
})

/** Lists the lines of a month (contract §16). */
export const listStatementLines = operation({
  ...shared,
  id: 'listStatementLines',
  path: '/statements/{month}/lines',
  summary: 'List the lines of a month, 500 a page; with `Accept: text/csv` all of them as one file',
  description:
    'A line for each user and benefit, and for each user and offer, that was in force at any time of the month, also where it ' +
    'costs nothing. The lines of a final month never change: what changes about it later comes as `adjustment`, with the month ' +
    'in `about`, in the oldest month that is still open. To continue, send `next` as `after`; `next` is null at the end.',
  params: parameters({
    month: Type.String({
      ...monthForm,
      'x-rule': 'must be a month YYYY-MM',
      description: 'The month, YYYY-MM',
      examples: ['2026-12'],
    }),
  }),
  query: parameters({
    after: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.[0-9]{1,4}$',
        'x-rule': 'must be the `next` of an earlier answer',
        description: 'A cursor',
        examples: ['019abc12-3456-7def-8123-456789abcdef.2'],
      }),
    ),
  }),
  reply: shape('StatementLines', {
    lines: described(Type.Array(StatementLine), 'The lines of this page, user by user'),
    next: orNull(Type.String(), { description: 'Send it as `after` to continue; null at the end' }),
  }),
  errors: [...partnerErrors, 'statement_not_found'],
  example: {
    reply: {
      lines: [
        {
          userid: 'u-1001',
          serviceid: '019abc12-3456-7def-8123-456789abcdef',
          kind: 'benefit',
          name: 'accident',
          offer: 'starter',
          fromdate: '2026-12-01',
          todate: '2026-12-31',
          personcents: 650,
          takenby: 'partner',
          partnercents: 0,
          about: '',
          moredetails: { costcenter: '17' },
          days: 31,
        },
      ],
      next: null,
    },
  },
})
