import type { Instant } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'
import { dueAt } from '../rules/apply-due.ts'
import { type User, versionsOf } from '../rules/state.ts'
import type { UserName } from './load.ts'

/** What an answer was made from, besides the user's state and what was asked. */
export type MadeFrom = { readonly partner: Partner; readonly catalogue: number; readonly now: Instant }

/** Finished answers about one state of one user, each as long as it is the answer. */
export type Answers = {
  /** The answer to what was asked, where the same would be made again now. */
  find(asked: string, from: MadeFrom): string | undefined
  /** Keeps an answer that stays the same until `until`, if nothing changes that it was made from. */
  keep(asked: string, from: MadeFrom, answer: { text: string; until: Instant }): void
}

/** A user as last read or written, with the version of the row. It may be old: the version has to be compared first. */
export type RememberedUser = {
  readonly user: User
  readonly version: number
  /** When something is to be applied to it next. */
  readonly dueAt: Instant | undefined
  /** The catalogue versions by which it is judged. */
  readonly versions: readonly number[]
  readonly answers: Answers
}

/**
 * Users as last read or written: their state and finished answers, never personal data. An erased user is not kept, and
 * one that nobody has asked for within ten minutes is forgotten, since another process may have erased it meanwhile.
 */
export type UserMemory = {
  find(name: UserName): RememberedUser | undefined
  /** Keeps a user as it was read or written, in the place of what was kept of it; returns what is kept now. */
  keep(user: User, version: number): RememberedUser
  forget(name: UserName): void
  /** Answers that are the same for many users, counted with those of single ones. */
  answersToMany(): Answers
  /** A remembered user was compared with the database: it was the same, or not. */
  noteCompared(isSame: boolean): void
  /** Forgets what nobody has asked for lately. */
  tidy(): void
  /** Forgets everybody: after the database was lost, since its successor may give versions out a second time. */
  clear(): void
  numbers(): MemoryNumbers
}

/** What a memory of users tells the operator. */
export type MemoryNumbers = {
  readonly users: number
  /** About what they take, in bytes. */
  readonly bytes: number
  /** Users answered from memory, users that had changed, and users that were not in it, since the start. */
  readonly reads: Readonly<Record<'same' | 'changed' | 'unknown', number>>
  readonly answers: Readonly<Record<'same' | 'made', number>>
}

const MAX_BYTES = 48 * 1024 * 1024
const UNASKED_MS = 10 * 60_000
const MAX_ANSWERS = 3
const MAX_ANSWERS_TO_MANY = 300
/** What a user takes in memory, and each of its enrolments: measured on a heap of 50,000. */
const USER_BYTES = 1000
const ENROLMENT_BYTES = 400

/** Opens a memory of users, bounded by about `maxBytes`: who was asked for longest ago is forgotten first. */
export function openUserMemory(real: () => Instant, maxBytes = MAX_BYTES): UserMemory {
  const kept = new Map<string, Entry>()
  const reads = { same: 0, changed: 0, unknown: 0 }
  const answers = { same: 0, made: 0 }
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
    // An answer may be kept of a user that has just been forgotten: it goes with it.
    if (!entry.isKept) return
    bytes += by
    while (bytes > maxBytes && kept.size > 1) removeOldest()
  }
  return {
    find(name) {
      const key = keyOf(name)
      const entry = kept.get(key)
      if (!entry) {
        reads.unknown += 1
        return undefined
      }
      kept.delete(key)
      kept.set(key, entry)
      entry.askedAt = real()
      return entry
    },
    keep(user, version) {
      const key = keyOf(user)
      const known = kept.get(key)
      if (known) remove(key, known)
      const entry: Entry = {
        ...{ user, version, dueAt: dueAt(user), versions: [...new Set(versionsOf(user))] },
        ...{ askedAt: real(), bytes: 0, isKept: user.status !== 'erased' },
        answers: openAnswers(by => grow(entry, by), answers),
      }
      if (!entry.isKept) return entry
      kept.set(key, entry)
      grow(entry, USER_BYTES + user.enrolments.length * ENROLMENT_BYTES)
      return entry
    },
    forget(name) {
      const key = keyOf(name)
      const entry = kept.get(key)
      if (entry) remove(key, entry)
    },
    answersToMany: () => openAnswers(() => {}, answers, MAX_ANSWERS_TO_MANY),
    noteCompared(isSame) {
      if (isSame) reads.same += 1
      else reads.changed += 1
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

type Entry = RememberedUser & { askedAt: Instant; bytes: number; isKept: boolean }

function keyOf({ partnerId, userid }: UserName): string {
  return `${partnerId} ${userid}`
}

type Kept = MadeFrom & { readonly text: string; readonly until: Instant }

/** Opens answers; the last `most` are kept. `onGrown` is told of the bytes that they take. */
function openAnswers(
  onGrown: (bytes: number) => void,
  count: { same: number; made: number },
  most = MAX_ANSWERS,
): Answers {
  const kept = new Map<string, Kept>()
  return {
    find(asked, { partner, catalogue, now }) {
      const answer = kept.get(asked)
      const isSame =
        answer !== undefined &&
        answer.partner === partner &&
        answer.catalogue === catalogue &&
        // A clock may go back, and a sandbox's forward.
        answer.now <= now &&
        now < answer.until
      if (isSame) count.same += 1
      else count.made += 1
      return isSame ? answer.text : undefined
    },
    keep(asked, from, { text, until }) {
      const size = (of: string | undefined) => (of === undefined ? 0 : of.length + asked.length)
      onGrown(size(text) - size(kept.get(asked)?.text))
      kept.delete(asked)
      kept.set(asked, { ...from, text, until })
      const [oldest] = kept
      if (kept.size <= most || !oldest) return
      kept.delete(oldest[0])
      onGrown(-(oldest[1].text.length + oldest[0].length))
    },
  }
}
