import { onTestFinished, vi } from 'vitest'

/**
 * Until the test is over, timers and `performance` of this process go by ticks: twenty milliseconds at most for each turn of
 * the event loop, however long that took. So a time limit strikes as it should, and a machine that is slow or stands still
 * brings none nearer.
 */
export function goByTicks(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true })
  onTestFinished(() => {
    vi.useRealTimers()
  })
}
