import { onTestFinished, vi } from 'vitest'

/**
 * Until the test is over, timers and `performance` of this process count in ticks: at most twenty milliseconds for each
 * turn of the event loop, however long it took. So time limits work as they should, and a machine that is slow or
 * stands still reaches none of them sooner.
 */
export function goByTicks(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true })
  onTestFinished(() => {
    vi.useRealTimers()
  })
}
