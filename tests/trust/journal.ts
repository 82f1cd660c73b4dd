import { setTimeout as pause } from 'node:timers/promises'
import { type Client, isBenefitEnrolmentError } from '../../client/src/index.ts'
import { ada } from '../rig.ts'

/** What was asked for one user, and how far it is known: sent and not answered, or acknowledged. */
export type Entry = {
  readonly userid: string
  readonly kind: 'prefill' | 'create' | 'erase'
  /** Tries of it under its one key. */
  sent: number
  isAcknowledged: boolean
}

/** The client's journal: writes that pour in until they are stopped. */
export type Journal = {
  readonly entries: readonly Entry[]
  /** How many were answered 2xx, or by a 409 which says that an earlier try had been. */
  readonly acknowledged: () => number
  /** Answers that were neither that nor a passing failure; there must be none. */
  readonly wrong: readonly string[]
  /** Begins no more, and waits for those under way. */
  stop(): Promise<void>
}

/** `pauseMs`: how long each writer rests after a write, for a load that others can work beside. */
export type JournalOptions = { readonly writers: number; readonly name: string; readonly pauseMs?: number }

const passing = new Set(['network', 'timeout', 'unavailable'])
/** A try that took effect, and whose answer was lost. */
const doneBefore: Readonly<Record<Entry['kind'], string>> = {
  prefill: 'user_exists',
  create: 'idempotency_key_reused',
  erase: '',
}

/**
 * Starts writers that prefill (v2), create and erase new users, each write sent again and again with its key until it is
 * acknowledged; those that are not when the journal is stopped may or may not have taken effect. With several clients,
 * each try goes to the next one.
 */
export function openJournal(clients: readonly Client[], options: JournalOptions): Journal {
  const entries: Entry[] = []
  const wrong: string[] = []
  let isStopped = false
  let turn = 0
  const ask = (userid: string, kind: Entry['kind']): Promise<unknown> => {
    const client = clients[turn++ % clients.length] as Client
    const key = { idempotencyKey: `${userid}-${kind}` }
    if (kind === 'erase') return client.eraseUser({ userid }, key)
    if (kind === 'prefill') return client.prefillUser({ userid, ...ada }, key)
    return client.createUser({ userid, ...ada, offername: 'starter' }, key)
  }
  const write = async (userid: string, kind: Entry['kind']): Promise<void> => {
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
        await pause(20)
      }
    }
  }
  const writer = async (name: string): Promise<void> => {
    for (let count = 0; !isStopped; count += 1) {
      const userid = `${name}-${count}`
      await write(userid, count % 3 === 0 ? 'create' : 'prefill')
      if (count % 4 === 3 && !isStopped) await write(userid, 'erase')
      if (options.pauseMs !== undefined) await pause(options.pauseMs)
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
