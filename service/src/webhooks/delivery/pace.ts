/** Up to how much the lateness of timers is made up for, at rates whose gaps are shorter. */
const LATE_MS = 20

/**
 * When the next delivery may begin after one that begins now, at an endpoint that can bear `rate` deliveries a second;
 * `nextAt` is the former answer. Up to 50 a second the gaps are never shorter than the rate's own.
 */
export function paced(nextAt: number, rate: number, now: number): number {
  const gap = 1000 / rate
  return Math.max(nextAt, gap < LATE_MS ? now - LATE_MS : now) + gap
}
