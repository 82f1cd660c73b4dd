import { noteRead, type Trail } from '../audit/trail.ts'
import type { beneficiaryHandlers } from './beneficiary-handlers.ts'
import type { accountHandlers } from './handlers.ts'

/** Records who fetched which user, and who read a user's beneficiaries. */
export function noteReads<
  T extends Pick<ReturnType<typeof accountHandlers>, 'getUser'> &
    Pick<ReturnType<typeof beneficiaryHandlers>, 'getBeneficiaries'>,
>(trail: Trail, handlers: T): T {
  return {
    ...handlers,
    getUser: async (request: Parameters<T['getUser']>[0]) => {
      const user = await handlers.getUser(request)
      noteRead(trail, 'getUser', request, 'serviceid' in user ? user.serviceid : undefined)
      return user
    },
    getBeneficiaries: async (request: Parameters<T['getBeneficiaries']>[0]) => {
      const found = await handlers.getBeneficiaries(request)
      noteRead(trail, 'getBeneficiaries', request, 'serviceid' in found ? found.serviceid : undefined)
      return found
    },
  }
}
