import type { IncomingHttpHeaders } from 'node:http'
import { defaultScopes, type Operation } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { type Directory, FRESH_MS } from './directory.ts'
import type { Partner } from './partner.ts'
import { findChangedCallers } from './store.ts'

/** Who calls a partner operation. */
export type Caller = {
  readonly partner: Partner
  readonly scopes: readonly string[]
  /** The client secret that the caller's token was issued from. */
  readonly credentialId: string
}

/** Remembers callers whose token and API key were right, by both headers. */
export type Callers = {
  /** The caller of a request's headers, or `undefined` when it must be authenticated again. */
  find(headers: IncomingHttpHeaders): Caller | undefined
  /**
   * The id of the partner to which a request's headers last belonged, whether they are still valid or not; "" when memory does
   * not know. By it capacity is divided before anything is looked up.
   */
  guessPartner(request: { readonly headers: IncomingHttpHeaders }): string
  /** Keeps a caller as it was read at `readAt`, until `endsAt` at the latest. */
  keep(headers: IncomingHttpHeaders, caller: Caller, read: { readAt: Instant; endsAt: Instant }): void
  /** Reads nothing more. */
  close(): void
}

type KnownCaller = { readonly caller: Caller; readonly readAt: Instant; readonly until: Instant }

/** A cell of which callers are kept. */
type WatchedCell = {
  /** The database as of this instant says whom to forget, and they are forgotten. */
  readAt: Instant
  /** Until when its callers are kept. */
  until: Instant
}

/** The most callers that are kept. Each is a token with its API key, so a partner's process needs one an hour. */
const MAX_CALLERS = 10_000
/** For how long a caller is kept: a whole look-up notes uses, and rehashes keys under the current pepper. */
const LONGEST_MS = 20_000
/** How often it is read whom to forget: twice within the second that contract §3 allows. */
const EVERY_MS = 400

/**
 * Opens a memory of callers. What is taken away from one, by whatever process, ends within the second of contract §3: it is
 * in `caller_changes`, from where each process reads whom to forget; and where that could not be read for a second, nobody is
 * answered from memory who was looked up before.
 */
export function openCallers(context: {
  directory: Directory
  database: Database
  real: () => Instant
}): Callers {
  const { directory, database, real } = context
  const kept = new Map<string, KnownCaller>()
  const cells = new Map<string, WatchedCell>()
  const forget = (partnerIds: ReadonlySet<string>) => {
    if (partnerIds.size === 0) return
    for (const [name, { caller }] of kept) if (partnerIds.has(caller.partner.partnerId)) kept.delete(name)
  }
  directory.onForget(partnerId => forget(new Set([partnerId])))
  let isClosed = false
  const watch = async (name: string, cell: WatchedCell) => {
    if (isClosed || real() >= cell.until) {
      cells.delete(name)
      return
    }
    const readAt = real()
    try {
      forget(await findChangedCallers(database.cells().find(one => one.cell === name) ?? database))
      cell.readAt = readAt
    } catch {
      // Callers are looked up meanwhile, and these requests fail themselves if they must.
    }
    setTimeout(() => void watch(name, cell), EVERY_MS).unref()
  }
  return {
    find(headers) {
      const found = kept.get(keyOf(headers))
      if (!found) return undefined
      const now = real()
      const cell = cells.get(database.cellOf(found.caller.partner.partnerId))
      const isFresh = now - Math.max(found.readAt, cell?.readAt ?? 0) < FRESH_MS
      return isFresh && now < found.until ? found.caller : undefined
    },
    guessPartner: ({ headers }) => kept.get(keyOf(headers))?.caller.partner.partnerId ?? '',
    keep(headers, caller, { readAt, endsAt }) {
      const { partnerId } = caller.partner
      const cellName = database.cellOf(partnerId)
      const cell = cells.get(cellName) ?? { readAt: 0, until: 0 }
      // It may have been read before what this process has been told since.
      if (readAt < cell.readAt) return
      const name = keyOf(headers)
      const until = Math.min(readAt + LONGEST_MS, endsAt)
      // The one that was kept longest ago is dropped first.
      kept.delete(name)
      kept.set(name, { caller, readAt, until })
      const [oldest] = kept.keys()
      if (kept.size > MAX_CALLERS && oldest !== undefined) kept.delete(oldest)
      cell.until = Math.max(cell.until, until)
      if (cells.has(cellName)) return
      cells.set(cellName, cell)
      setTimeout(() => void watch(cellName, cell), EVERY_MS).unref()
    },
    close() {
      isClosed = true
    },
  }
}

/** The two headers that identify a caller. None contains a line break, so two different pairs never have the same key. */
function keyOf({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string {
  return apiKey === undefined ? authorization : `${authorization}\n${apiKey}`
}

/**
 * Whether a caller may call an operation: the token has the scope, and the operator has not since withdrawn it from the
 * partner.
 */
export function mayCall({ partner, scopes }: Caller, { scope }: Operation): boolean {
  if (scope === undefined) return true
  return scopes.includes(scope) && (partner.scopes ?? defaultScopes).includes(scope)
}
