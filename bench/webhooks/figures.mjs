// Computes figures from measurements, and formats them.
import { percentileOf } from '../generator.mjs'

function ms(value) {
  return value === undefined ? 'none' : `${value.toFixed(1)} ms`
}

/** The figures of latencies in milliseconds, out of `committed` events. */
export function summed(committed, latencies) {
  return {
    committed,
    latencies,
    arrived: latencies.length,
    p50: percentileOf(latencies, 0.5),
    p99: percentileOf(latencies, 0.99),
  }
}

export function latencyText({ p50, p99, arrived, committed }) {
  const late = arrived < committed ? `   ARRIVED ONLY ${arrived} of ${committed}` : ''
  return `p50 ${ms(p50)}   p99 ${ms(p99)}${late}`
}
