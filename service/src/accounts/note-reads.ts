import type { Trail } from '../audit/trail.ts'
import type { beneficiaryHandlers } from './beneficiary-handlers.ts'
import type { accountHandlers } from './handlers.ts'

/** Records who fetched which user, and who read a user's beneficiaries. */
export function noteReads<
  T extends Pick<ReturnType<typeof accountHandlers>, 'getUser'> &
    Pick<ReturnType<typeof beneficiaryHandlers>, 'getBeneficiaries'>,
>(trail: Trail, handlers: T): T {
  const note = (action: string, request: Parameters<T['getUser']>[0], serviceId: string | undefined) =>
    trail.note({
      partnerId: request.caller.partner.partnerId,
      actorKind: 'credential',
      actor: request.caller.credentialId,
      action,
      result: 'shown',
      address: request.address(),
      requestId: request.requestId,
      ...(serviceId === undefined ? {} : { serviceId }),
    })
  return {
    ...handlers,
    getUser: async (request: Parameters<T['getUser']>[0]) => {
      const user = await handlers.getUser(request)
      note('getUser', request, 'serviceid' in user ? user.serviceid : undefined)
      return user
    },
    getBeneficiaries: async (request: Parameters<T['getBeneficiaries']>[0]) => {
      const found = await handlers.getBeneficiaries(request)
      note('getBeneficiaries', request as never, 'serviceid' in found ? found.serviceid : undefined)
      return found
    },
  }
}
