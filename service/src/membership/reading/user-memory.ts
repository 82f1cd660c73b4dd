import type { Instant } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'
import { dueAt } from '../rules/apply-due.ts'
import { type User, versionsOf } from '../rules/state.ts'
import { nameOf, type UserName } from './load.ts'

/**
 * A user as last read or written, with the version of the row. It may be outdated, so the version must be compared
 * first.
 */
export type RememberedUser = {
  readonly user: User
  readonly version: number
  /** When the user's next change is due. */
  readonly dueAt: Instant | undefined
  /** The catalogue versions that apply to the user. */
  readonly versions: readonly number[]
  /** Answers about this state of this user; `undefined` when the user is not kept. */
  readonly answers: FinishedAnswers | undefined
}

/**
 * Users as last read or written: their state and finished answers, never personal data. An erased user is not kept. A
 * user whom nobody has asked for within ten minutes is forgotten, because another process may have erased it.
 */
export type UserMemory = {
  find(name: UserName): RememberedUser | undefined
  /**
   * Keeps a user as it was written, in place of the earlier one, but only if the user was read or written before within a
   * short time. Many new users are never asked for, and garbage collections that copy them cost 5 % of a prefill.
   */
  keepWritten(user: User, version: number): void
  /**
   * Keeps a user on its second read within a short time. Most users are read once, and copying them in garbage
   * collections costs a quarter of a read.
   */
  keepIfReadAgain(user: User, version: number): RememberedUser
  forget(name: UserName): void
  /** Answers that are the same for many users; the request contains the name of their common state. */
  readonly shared: FinishedAnswers
  /** Counts a comparison of a remembered user with the database: unchanged or not. */
  noteCompared(isSame: boolean): void
  /** Counts an answer: found here or among a user's own, or made anew. */
  noteAnswer(isFound: boolean): void
  /** Forgets users whom nobody has asked for lately. */
  tidy(): void
  /**
   * Forgets all users, after the connection to the database was lost: its successor may assign the same versions again.
   */
  clear(): void
  numbers(): MemoryNumbers
}

/** What a memory of users reports to the operator. */
type MemoryNumbers = {
  readonly users: number
  /** The approximate size in bytes. */
  readonly bytes: number
  /** Users answered from memory, users that had changed, and users not in memory, since the start. */
  readonly reads: Readonly<Record<'same' | 'changed' | 'unknown', number>>
  readonly answers: Readonly<Record<'same' | 'made', number>>
}

const MAX_BYTES = 48 * 1024 * 1024
const MAX_SHARED_BYTES = 16 * 1024 * 1024
const UNASKED_MS = 10 * 60_000
const MAX_ANSWERS = 3
/** The memory that a user takes, and each of its enrolments: measured on a heap of 50,000 users. */
const USER_BYTES = 1000
const ENROLMENT_BYTES = 400
/** For about this many users the memory knows that they were read. */
const NOTED_READS = 2 ** 16
/** How many users whose ids end alike share a group of places. */
const GROUP = 4

/** Opens a memory of users, limited to about `maxBytes`: the user that was asked for longest ago is forgotten first. */
export function openUserMemory(
  real: () => Instant,
  maxBytes = MAX_BYTES,
  maxSharedBytes = MAX_SHARED_BYTES,
): UserMemory {
  const kept = new Map<string, Entry>()
  const reads = { same: 0, changed: 0, unknown: 0 }
  const answers = { same: 0, made: 0 }
  const wasReadLately = openNotedReads()
  let bytes = 0
  const remove = (key: string, entry: Entry) => {
    kept.delete(key)
    entry.isKept = false
    bytes -= entry.bytes
  }
  const removeOldest = () => {
    const [oldest] = kept
    if (oldest) remove(...oldest)
  }
  const grow = (entry: Entry, by: number) => {
    entry.bytes += by
    // An answer may be kept for a user that has just been forgotten; it is dropped with the user.
    if (!entry.isKept) return
    bytes += by
    while (bytes > maxBytes && kept.size > 1) removeOldest()
  }
  const replace = (user: User, version: number, isToBeKept: boolean): Entry => {
    const key = nameOf(user)
    const known = kept.get(key)
    if (known) remove(key, known)
    const isKept = user.status !== 'erased' && (isToBeKept || known !== undefined)
    const entry: Entry = {
      user,
      version,
      isKept,
      dueAt: dueAt(user),
      versions: versionsOf(user),
      askedAt: real(),
      bytes: 0,
      answers: undefined,
    }
    if (!isKept) return entry
    entry.answers = openFinishedAnswers({ most: MAX_ANSWERS, onGrown: by => grow(entry, by) })
    kept.set(key, entry)
    grow(entry, USER_BYTES + user.enrolments.length * ENROLMENT_BYTES)
    return entry
  }
  return {
    shared: openFinishedAnswers({ mostBytes: maxSharedBytes }),
    find(name) {
      const key = nameOf(name)
      const entry = kept.get(key)
      if (!entry) {
        reads.unknown += 1
        return undefined
      }
      const now = real()
      // The order is kept only to the second, because moving an entry to the end of the map costs more than finding it.
      if (now - entry.askedAt >= 1000 || now < entry.askedAt) {
        kept.delete(key)
        kept.set(key, entry)
        entry.askedAt = now
      }
      return entry
    },
    keepWritten(user, version) {
      if (wasReadLately(user.serviceId) || kept.has(nameOf(user))) replace(user, version, true)
    },
    keepIfReadAgain: (user, version) => replace(user, version, wasReadLately(user.serviceId)),
    forget(name) {
      const key = nameOf(name)
      const entry = kept.get(key)
      if (entry) remove(key, entry)
    },
    noteCompared(isSame) {
      if (isSame) reads.same += 1
      else reads.changed += 1
    },
    noteAnswer(isFound) {
      if (isFound) answers.same += 1
      else answers.made += 1
    },
    tidy() {
      const longAgo = real() - UNASKED_MS
      for (const [key, entry] of kept) {
        if (entry.askedAt > longAgo) return
        remove(key, entry)
      }
    },
    clear() {
      for (const [key, entry] of kept) remove(key, entry)
    },
    numbers: () => ({ users: kept.size, bytes, reads: { ...reads }, answers: { ...answers } }),
  }
}

type Entry = RememberedUser & {
  askedAt: Instant
  bytes: number
  isKept: boolean
  answers: FinishedAnswers | undefined
}

/**
 * Records that a user was read, and returns whether that was recorded before; later reads of other users gradually
 * overwrite the record. Each id has four places, of which the newest reads are kept: with one place two users who are
 * read by turns would overwrite each other's for ever, and both be loaded each time.
 */
function openNotedReads(): (serviceId: string) => boolean {
  const noted = new Uint32Array(NOTED_READS)
  return serviceId => {
    // The end of an id is random.
    const end = Number.parseInt(serviceId.slice(-8), 16) >>> 0
    const group = (end % (NOTED_READS / GROUP)) * GROUP
    for (let slot = group; slot < group + GROUP; slot += 1) if (noted[slot] === end) return true
    noted.copyWithin(group + 1, group, group + GROUP - 1)
    noted[group] = end
    return false
  }
}

/** The objects from which an answer was made, besides the user's state and the request. */
type MadeFrom = { readonly partner: Partner; readonly catalogue: number; readonly now: Instant }

/** Finished answers as JSON in UTF-8; each is valid for a limited time. */
export type FinishedAnswers = {
  /** The earlier answer to this request, if the same answer would be made now. */
  find(asked: string, from: MadeFrom): Buffer | undefined
  /** Keeps an answer that is valid until `until`, unless one of the objects changes from which it was made. */
  keep(asked: string, from: MadeFrom, answer: { json: Buffer; until: Instant }): void
}

type ReadyAnswer = MadeFrom & { readonly json: Buffer; readonly until: Instant }

/**
 * Opens a set of answers; the answer kept longest ago is dropped first. `onGrown` is called with the bytes that they
 * take.
 */
export function openFinishedAnswers({
  most = Number.POSITIVE_INFINITY,
  mostBytes = Number.POSITIVE_INFINITY,
  onGrown = () => {},
}: {
  most?: number
  mostBytes?: number
  onGrown?: (bytes: number) => void
}): FinishedAnswers {
  const kept = new Map<string, ReadyAnswer>()
  let bytes = 0
  const grow = (by: number) => {
    bytes += by
    onGrown(by)
  }
  const remove = (asked: string) => {
    const known = kept.get(asked)
    if (known && kept.delete(asked)) grow(-(known.json.length + asked.length))
  }
  return {
    find(asked, { partner, catalogue, now }) {
      const answer = kept.get(asked)
      const isSame =
        answer !== undefined &&
        answer.partner === partner &&
        answer.catalogue === catalogue &&
        // A clock can be set back, and a sandbox's clock can be moved forward.
        answer.now <= now &&
        now < answer.until
      return isSame ? answer.json : undefined
    },
    keep(asked, from, { json, until }) {
      remove(asked)
      kept.set(asked, {
        partner: from.partner,
        catalogue: from.catalogue,
        now: from.now,
        json,
        until,
      })
      grow(json.length + asked.length)
      while (kept.size > most || bytes > mostBytes) {
        const [oldest] = kept.keys()
        remove(oldest ?? '')
      }
    },
  }
}
