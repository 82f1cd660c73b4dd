import { setTimeout as pause } from 'node:timers/promises'
import { type Client, isBenefitEnrolmentError } from '../../client/src/index.ts'
import { isLong } from '../long.ts'
import { ada, child } from '../rig.ts'
import type { Kind } from './effects.ts'

/** The requests for one user, each sent and unanswered, or acknowledged. */
export type Entry = {
  readonly userid: string
  readonly kind: Kind
  /** The attempts under its one key. */
  sent: number
  isAcknowledged: boolean
  /** When and why each attempt that was repeated had failed. */
  failures?: readonly string[]
}

/** The client's journal: writes that are sent until they are stopped. */
export type Journal = {
  readonly entries: readonly Entry[]
  /** How many were answered 2xx, or with a 409 that says that an earlier attempt succeeded. */
  readonly acknowledged: () => number
  /** All other answers except passing failures; there must be none. */
  readonly wrong: readonly string[]
  /** Starts no more writes, and waits for those under way. */
  stop(): Promise<void>
}

/**
 * `pauseMs`: how long each writer rests after a write; by default 300 ms, and none for the full figures. A test waits for a number of
 * writes or of kills, so a writer without rest would only add events that have to be delivered and checked.
 */
export type JournalOptions = { readonly writers: number; readonly name: string; readonly pauseMs?: number }

/** The kinds of writes that the writers send. */
type Sent = 'prefill' | 'create' | 'erase'

/** `request_timeout`: the machine stood still before the whole request had arrived. */
const passing = new Set(['network', 'timeout', 'unavailable', 'request_timeout'])
/** The code that says that an earlier attempt took effect and its answer was lost. */
const doneBefore: Readonly<Record<Sent, string>> = {
  prefill: 'user_exists',
  create: 'idempotency_key_reused',
  erase: '',
}

/**
 * Starts writers that prefill (v2), create and erase new users. Each write is repeated with its key until it is
 * acknowledged; one that is not acknowledged when the journal stops may or may not have taken effect. With several
 * clients, each attempt uses the next one.
 */
export function openJournal(clients: readonly Client[], options: JournalOptions): Journal {
  const { pauseMs = isLong ? 0 : 300 } = options
  // Writers that ask a service or a node that is down over and over keep the machine from starting it.
  const retryMs = isLong ? 20 : 100
  const entries: Entry[] = []
  const wrong: string[] = []
  let isStopped = false
  let turn = 0
  const ask = (userid: string, kind: Sent): Promise<unknown> => {
    const client = clients[turn++ % clients.length] as Client
    const key = { idempotencyKey: `${userid}-${kind}` }
    if (kind === 'erase') return client.eraseUser({ userid }, key)
    if (kind === 'prefill') return client.prefillUser({ userid, ...ada }, key)
    const family = { benefits: ['dental'], dependants: [child] }
    return client.createUser({ userid, ...ada, offername: 'starter', ...family }, key)
  }
  const write = async (userid: string, kind: Sent): Promise<void> => {
    const entry: Entry = { userid, kind, sent: 0, isAcknowledged: false }
    entries.push(entry)
    while (!isStopped) {
      entry.sent += 1
      try {
        await ask(userid, kind)
        entry.isAcknowledged = true
        return
      } catch (error) {
        const code = isBenefitEnrolmentError(error) ? error.code : String(error)
        if (code === doneBefore[kind] && kind === 'prefill') {
          entry.isAcknowledged = true
          return
        }
        if (!passing.has(code)) {
          wrong.push(`${kind} ${code}`)
          return
        }
        entry.failures = [...(entry.failures ?? []), `${new Date().toISOString()} ${code}`]
        await pause(retryMs)
      }
    }
  }
  const writer = async (name: string): Promise<void> => {
    for (let count = 0; !isStopped; count += 1) {
      const userid = `${name}-${count}`
      await write(userid, count % 3 === 0 ? 'create' : 'prefill')
      if (count % 4 === 3 && !isStopped) await write(userid, 'erase')
      if (pauseMs > 0) await pause(pauseMs)
    }
  }
  const writers = Array.from({ length: options.writers }, (_, index) => writer(`${options.name}-${index}`))
  return {
    entries,
    wrong,
    acknowledged: () => entries.filter(entry => entry.isAcknowledged).length,
    async stop() {
      isStopped = true
      await Promise.all(writers)
    },
  }
}

/** The journal of a test that sends its writes itself. */
export type OwnJournal = Pick<Journal, 'entries' | 'wrong'> & {
  /** Sends one write and returns its answer; when it fails, as `ask` does, it may or may not have taken effect. */
  write<T>(userid: string, kind: Kind, ask: () => Promise<T>): Promise<T>
  /** Notes a write that took effect, of which there is no answer. */
  note(userid: string, kind: Kind): void
}

/**
 * Opens one. A write that must have no effect is sent beside it, as is a repeat of one that is in it: the ledger finds
 * what such a request did.
 */
export function openOwnJournal(): OwnJournal {
  const entries: Entry[] = []
  const enter = (userid: string, kind: Kind, isAcknowledged: boolean) => {
    const entry: Entry = { userid, kind, sent: 1, isAcknowledged }
    entries.push(entry)
    return entry
  }
  return {
    entries,
    wrong: [],
    async write(userid, kind, ask) {
      const entry = enter(userid, kind, false)
      const answer = await ask()
      entry.isAcknowledged = true
      return answer
    },
    note(userid, kind) {
      enter(userid, kind, true)
    },
  }
}
