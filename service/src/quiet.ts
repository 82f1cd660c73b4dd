import type { Operation } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import type { Database, Executor } from './db/database.ts'
import { sql, timestamp } from './db/sql.ts'
import { ServiceError } from './http/service-error.ts'

/** Whether this copy must not act: no deliveries, no due changes, no writes. */
export async function isQuiet(db: Executor): Promise<boolean> {
  const [row] = await db.query<{ quiet: boolean }>(sql`
    select quiet_since is not null as quiet from installation`)
  return row?.quiet ?? false
}

/** Makes a copy quiet; a copy that is already quiet keeps the time since when. */
export async function makeQuiet(db: Executor, now: number): Promise<void> {
  await db.query(sql`update installation set quiet_since = ${timestamp(now)} where quiet_since is null`)
}

/** Lets a copy act again; false when it was not quiet. */
export async function resume(db: Executor): Promise<boolean> {
  const rows = await db.query(sql`
    update installation set quiet_since = null where quiet_since is not null returning 1`)
  return rows.length > 0
}

/** A process that waits until its copy may act. */
export type Quiet = { isQuiet(): boolean; close(): Promise<void> }

const CHECK_MS = 1000

/** Checks once a second whether a quiet copy may act again, and then calls `onResume` once. A copy that is not quiet is never checked. */
export function watchQuiet(context: {
  database: Database
  isQuiet: boolean
  onResume: () => void
  onError: (error: unknown) => void
}): Quiet {
  let quiet = context.isQuiet
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<void> = Promise.resolve()
  const check = async () => {
    try {
      if (!(await isQuiet(context.database))) quiet = false
    } catch (error) {
      context.onError(error)
    }
    if (isClosed) return
    if (quiet) wait()
    else context.onResume()
  }
  const wait = () => {
    timer = setTimeout(() => {
      checking = check()
    }, CHECK_MS)
  }
  if (quiet) wait()
  return {
    isQuiet: () => quiet,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await checking
    },
  }
}

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
