/** Writes one structured line; never bodies, never values of requests. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void

/** How much a line matters; `ENROLMENT_LOG` names the least that is written. */
export const logLevels = ['error', 'warn', 'info'] as const
export type LogLevel = (typeof logLevels)[number]

/** A log whose lines are gathered. */
export type GatheredLog = {
  readonly log: Log
  /** Writes what has been gathered, and what was counted instead of written: before an exit, since nothing else does then. */
  readonly flush: () => void
}

/** How long a line waits for others: each write costs 10 to 15 µs, as much as 20 lines. */
const GATHER_MS = 25

/** For how long a failure that comes again is counted, before the count is told. */
export const REPEAT_MS = 60_000
/** Failures that differ beyond these are all told: it bounds memory, and so much variety is news in itself. */
const MOST_COUNTED = 200

// What is not listed is `info`: that something was done. A test holds the list against the events of the source.
const levels: Readonly<Record<string, LogLevel>> = {
  audit_failed: 'error',
  close_failed: 'error',
  crashed: 'error',
  database_check_failed: 'error',
  database_died: 'error',
  database_restart_failed: 'error',
  database_stop_failed: 'error',
  erasure_not_listed: 'error',
  erasures_not_listed: 'error',
  failure: 'error',
  keyring_unreadable: 'error',
  quiet_failed: 'error',
  schedule_failed: 'error',
  seal_failed: 'error',
  webhook_days_failed: 'error',
  webhook_failed: 'error',
  webhook_not_opened: 'error',
  webhook_read_failed: 'error',
  webhook_release_refused: 'error',
  webhook_result_refused: 'error',
  webhook_results_not_written: 'error',
  analyze_failed: 'warn',
  console_passkey_refused: 'warn',
  console_sign_in_failed: 'warn',
  database_account: 'warn',
  database_connection_lost: 'warn',
  database_low_on_space: 'warn',
  database_orphan_found: 'warn',
  insecure_base_url: 'warn',
  migration_held_up: 'warn',
  not_ready: 'warn',
  quiet: 'warn',
  scrub_failed: 'warn',
  shed: 'warn',
  'webhook.disabled': 'warn',
  'webhook.failing': 'warn',
  webhook_leases_not_given_up: 'warn',
  webhook_leases_not_renewed: 'warn',
}

/** How much a line of this event matters. */
export function levelOf(event: string): LogLevel {
  return levels[event] ?? 'info'
}

/** The events whose lines are more than `info`. */
export const listedEvents: readonly string[] = Object.keys(levels)

/**
 * Opens a log of JSON lines on a stream; control characters are escaped by JSON itself. Lines are written together
 * every 25 ms, in order: a process that is killed loses the last of them. Those below `least` are left out. A failure
 * that comes again within a minute, the same but for the request it met, is counted: one line tells at the end of the
 * minute how many there were, with the last one's fields.
 */
export function openLog(
  stream: { write(text: string): unknown },
  real: () => number,
  least: LogLevel = 'info',
): GatheredLog {
  let lines = ''
  let lastInstant = Number.NaN
  let lastTime = ''
  const counted = new Map<string, Counted>()
  const isWritten = logLevels.slice(0, logLevels.indexOf(least) + 1)
  const writeOut = () => {
    if (lines === '') return
    const written = lines
    lines = ''
    stream.write(written)
  }
  const timeAt = (now: number): string => {
    if (now !== lastInstant) {
      lastInstant = now
      lastTime = new Date(now).toISOString()
    }
    return lastTime
  }
  const add = (event: string, level: LogLevel, fields: Fields) => {
    if (lines === '') setTimeout(writeOut, GATHER_MS).unref()
    lines += `${JSON.stringify({ ...fields, at: timeAt(real()), level, event })}\n`
  }
  const tell = (signature: string) => {
    const one = counted.get(signature)
    counted.delete(signature)
    if (!one || one.times === 0) return
    add(one.event, one.level, { ...one.fields, times: one.times, since: new Date(one.since).toISOString() })
  }
  return {
    log(event, fields = {}) {
      const level = levelOf(event)
      if (!isWritten.includes(level)) return
      // Only failures have a cause; everything else is told each time.
      if (!('cause' in fields)) {
        add(event, level, fields)
        return
      }
      const signature = signatureOf(event, fields)
      const known = counted.get(signature)
      if (known) {
        known.times += 1
        known.fields = fields
        return
      }
      add(event, level, fields)
      if (counted.size >= MOST_COUNTED) return
      counted.set(signature, { event, level, fields, times: 0, since: real() })
      setTimeout(() => tell(signature), REPEAT_MS).unref()
    },
    flush() {
      for (const signature of [...counted.keys()]) tell(signature)
      writeOut()
    },
  }
}

type Fields = Readonly<Record<string, unknown>>
type Counted = { event: string; level: LogLevel; fields: Fields; times: number; since: number }

/** What makes two failures the same: all but which request they met, and counts that grow. */
function signatureOf(event: string, fields: Fields): string {
  return JSON.stringify({ ...fields, event, requestid: '', lost: 0 })
}

/** Of an unexpected error: its class, code and place; never its message, which may hold a value. */
export function describeCause(cause: unknown): Record<string, unknown> {
  if (!(cause instanceof Error)) return { cause: typeof cause }
  const frames = (cause.stack ?? '').split('\n').filter(line => line.trimStart().startsWith('at '))
  const { code, constraint, table } = cause as { code?: unknown; constraint?: unknown; table?: unknown }
  return {
    cause: cause.name,
    ...(typeof code === 'string' ? { causecode: code } : {}),
    ...(typeof constraint === 'string' ? { constraint } : {}),
    ...(typeof table === 'string' ? { table } : {}),
    frames: frames
      .slice(0, 6)
      .map(line => line.trim().replace(/\(?(?:file:\/\/)?\/.*\/(?=[^/]+:\d+:\d+\)?$)/, '(')),
    ...(cause.cause ? { because: describeCause(cause.cause) } : {}),
  }
}
