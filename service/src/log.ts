/** Writes one structured line, which never contains bodies or values of requests. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void

/** The importance of a line; `ENROLMENT_LOG` names the lowest one that is written. */
export const logLevels = ['error', 'warn', 'info'] as const
export type LogLevel = (typeof logLevels)[number]

/** A log that gathers its lines and writes them together. */
type GatheredLog = {
  readonly log: Log
  /**
   * Writes the gathered lines, and the counts of repeated failures. Call it before an exit, because nothing else writes
   * them then.
   */
  readonly flush: () => void
}

/** How long a line waits for others: each write costs 10 to 15 µs, as much as 20 lines. */
const GATHER_MS = 25

/** For how long a repeated failure is counted before the count is logged. */
export const REPEAT_MS = 60_000
/**
 * At most this many different failures are counted, which bounds the memory; all others are logged each time, and so
 * much variety is news in itself.
 */
const MOST_COUNTED = 200

// Events that are not listed are `info`: something was done. A test compares the list with the events of the source.
const levels: Readonly<Record<string, LogLevel>> = {
  audit_failed: 'error',
  clean_up_failed: 'error',
  close_failed: 'error',
  crashed: 'error',
  database_check_failed: 'error',
  database_died: 'error',
  database_restart_failed: 'error',
  database_stop_failed: 'error',
  erasure_not_listed: 'error',
  erasures_failed: 'error',
  erasures_not_listed: 'error',
  failure: 'error',
  feed_failed: 'error',
  finalize_failed: 'error',
  keyring_unreadable: 'error',
  partner_not_opened: 'error',
  quiet_failed: 'error',
  schedule_failed: 'error',
  seal_failed: 'error',
  webhook_days_failed: 'error',
  webhook_failed: 'error',
  webhook_not_opened: 'error',
  webhook_read_failed: 'error',
  webhook_result_refused: 'error',
  webhook_results_not_written: 'error',
  worker_died: 'error',
  worker_not_replaced: 'error',
  analyze_failed: 'warn',
  console_sign_in_failed: 'warn',
  database_account: 'warn',
  database_connection_lost: 'warn',
  database_low_on_space: 'warn',
  database_orphan_found: 'warn',
  erasures_wait: 'warn',
  insecure_base_url: 'warn',
  migration_held_up: 'warn',
  not_ready: 'warn',
  quiet: 'warn',
  scrub_failed: 'warn',
  shed: 'warn',
  'webhook.disabled': 'warn',
  'webhook.failing': 'warn',
  webhook_claims_not_given_back: 'warn',
}

/** The importance of a line with this event. */
export function levelOf(event: string): LogLevel {
  return levels[event] ?? 'info'
}

/** The events whose lines are more important than `info`. */
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
  let lastEvent = ''
  let lastEnd = ''
  const counted = new Map<string, Counted>()
  const isWritten = logLevels.slice(0, logLevels.indexOf(least) + 1)
  const writeOut = () => {
    if (lines === '') return
    const written = lines
    lines = ''
    stream.write(written)
  }
  const endOf = (event: string, level: LogLevel, now: number): string => {
    if (now !== lastInstant || event !== lastEvent) {
      lastInstant = now
      lastEvent = event
      lastEnd = `${JSON.stringify({ at: new Date(now).toISOString(), level, event }).slice(1)}\n`
    }
    return lastEnd
  }
  const add = (event: string, level: LogLevel, fields: Fields) => {
    if (lines === '') setTimeout(writeOut, GATHER_MS).unref()
    const text = JSON.stringify(fields)
    // Put behind the fields as text: a copy of them for each line would cost as much as the rest of it.
    lines += `${text === '{}' ? '{' : `${text.slice(0, -1)},`}${endOf(event, level, real())}`
  }
  const logRepeats = (signature: string) => {
    const one = counted.get(signature)
    counted.delete(signature)
    if (!one || one.times === 0) return
    add(one.event, one.level, { ...one.fields, times: one.times, since: new Date(one.since).toISOString() })
  }
  return {
    log(event, fields = {}) {
      const level = levelOf(event)
      if (!isWritten.includes(level)) return
      // Only failures have a cause; all other lines are written each time.
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
      setTimeout(() => logRepeats(signature), REPEAT_MS).unref()
    },
    flush() {
      for (const signature of [...counted.keys()]) logRepeats(signature)
      writeOut()
    },
  }
}

type Fields = Readonly<Record<string, unknown>>
type Counted = { event: string; level: LogLevel; fields: Fields; times: number; since: number }

/** Two failures are the same if they differ only in the request that they met and in growing counts. */
function signatureOf(event: string, fields: Fields): string {
  return JSON.stringify({ ...fields, event, requestid: '', lost: 0 })
}

/** Describes an unexpected error by its class, code and place; never by its message, which may contain a value. */
export function describeCause(cause: unknown): Record<string, unknown> {
  if (!(cause instanceof Error)) return { cause: typeof cause }
  const frames = (cause.stack ?? '').split('\n').filter(line => line.trimStart().startsWith('at '))
  const { code, constraint, table, node } = cause as Partial<
    Record<'code' | 'constraint' | 'table' | 'node', unknown>
  >
  return {
    cause: cause.name,
    ...(typeof code === 'string' && { causecode: code }),
    ...(typeof constraint === 'string' && { constraint }),
    ...(typeof table === 'string' && { table }),
    ...(typeof node === 'string' && { node }),
    frames: frames
      .slice(0, 6)
      .map(line => line.trim().replace(/\(?(?:file:\/\/)?\/.*\/(?=[^/]+:\d+:\d+\)?$)/, '(')),
    ...(cause.cause ? { because: describeCause(cause.cause) } : {}),
  }
}
