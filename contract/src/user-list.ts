import { requiredTimestamp } from './fields.ts'
import { operation, partnerErrors } from './operation.ts'
import { orNull, parameters, shape } from './shape.ts'
import { type Static, Type } from './typebox.ts'
import { exampleUser, User } from './user.ts'

const { userid, serviceid, status, conditions, currentofferdetails, pendingoffer, benefits, updatedat } =
  User.properties

/** The states in which a user is listed: all but erased. */
export const listedStatuses = ['prefilled', 'registering', 'active', 'cancelled'] as const

/** A user in the list of users: without personal data (contract §16). */
export const ListedUser = shape('ListedUser', {
  userid,
  serviceid,
  status,
  conditions,
  currentofferdetails,
  pendingoffer,
  benefits,
  updatedat,
})
/** The shape of {@link ListedUser}. */
export type ListedUser = Static<typeof ListedUser>

/** Lists a partner's users (contract §16). */
export const listUsers = operation({
  id: 'listUsers',
  method: 'GET',
  path: '/users',
  caller: 'partner',
  scope: 'users:read',
  idempotency: 'ignored',
  tag: 'Users',
  section: 'contract §16',
  summary: 'List all users but erased ones, by serviceid, 500 a page',
  description:
    'To continue, send `next` as `after`; `next` is null at the end. Each page shows its users as of one instant. To ' +
    'learn what has changed since a walk, ask again with the instant at which that walk began as `changedafter`: you ' +
    'get every change, some perhaps a second time. A prefill is a change, too.',
  query: parameters({
    after: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
        'x-rule': 'must be the `next` of an earlier answer',
        description: 'A cursor',
        examples: [exampleUser.serviceid],
      }),
    ),
    changedafter: Type.Optional(
      Type.String({
        ...requiredTimestamp,
        description: 'Only users that changed at this instant or later, by anybody or by time alone',
      }),
    ),
    status: Type.Optional(
      Type.Enum([...listedStatuses], {
        'x-rule': `must be one of ${listedStatuses.join(', ')}`,
        description: 'Only users in this state',
      }),
    ),
  }),
  reply: shape('UserPage', {
    users: Type.Array(ListedUser, { description: 'By serviceid' }),
    next: orNull(Type.String(), { description: 'Send it as `after` to continue; null at the end' }),
  }),
  errors: [...partnerErrors],
  example: {
    reply: {
      users: [
        {
          userid: exampleUser.userid,
          serviceid: exampleUser.serviceid,
          status: exampleUser.status,
          conditions: [],
          currentofferdetails: exampleUser.currentofferdetails,
          pendingoffer: null,
          benefits: exampleUser.benefits,
          updatedat: exampleUser.updatedat,
        },
      ],
      next: null,
    },
  },
})
