import type { Operation } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from './service-error.ts'

/**
 * While this copy of the service is quiet, refuses everything but reads: writes and the page get `unavailable`. Tokens
 * are issued, because nobody could read without one.
 */
export function refuseWhileQuiet(
  app: FastifyInstance,
  { isQuiet, pagesBelow }: { isQuiet: () => boolean; pagesBelow: string },
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isQuiet() || request.is404) return done()
    const { operation, url = '' } = request.route
    const isRefused = operation
      ? !isRead(operation)
      : url.startsWith(pagesBelow) || !/^(GET|HEAD)$/.test(request.method)
    done(isRefused ? new ServiceError('unavailable', undefined, { headers: retryLater }) : undefined)
  })
}

const retryLater = { 'Retry-After': '30' }

/** Reads that are sent by POST, and the exchange of credentials for a token. */
const readsByPost = new Set(['listAvailableOffers', 'previewOfferChange', 'exchangeResult'])

function isRead({ id, method, scope, caller }: Operation): boolean {
  return method === 'GET' || caller === 'client' || readsByPost.has(id) || (scope?.endsWith(':read') ?? false)
}
