import { setTimeout } from 'node:timers/promises'
import { describeCause, type Log } from '../log.ts'

/**
 * Resolves with the first SIGTERM, SIGINT or SIGHUP, and ends the process when stopping takes too long. Where `onHangUp`
 * returns a function, SIGHUP calls it and does not stop.
 */
export function signalled(
  log: Log,
  drainSeconds = 0,
  onHangUp: () => (() => void) | undefined = () => undefined,
): Promise<string> {
  return new Promise(resolve => {
    let firstAt = 0
    const onSignal = (signal: string) => {
      const instead = signal === 'SIGHUP' ? onHangUp() : undefined
      if (instead) {
        instead()
        return
      }
      const now = Date.now()
      if (firstAt > 0 && now - firstAt > 1000) process.exit(130)
      if (firstAt > 0) return
      firstAt = now
      log('stopping', { signal })
      // A part that hangs must not keep the process longer than an orchestrator waits.
      const longestMs = 14_000 + (signal === 'SIGTERM' ? drainSeconds * 1000 : 0)
      void setTimeout(longestMs, undefined, { ref: false }).then(() => process.exit(1))
      resolve(signal)
    }
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, onSignal)
    process.on('uncaughtException', error => {
      log('crashed', describeCause(error))
      process.exit(1)
    })
  })
}
