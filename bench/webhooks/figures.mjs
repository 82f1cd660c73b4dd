// Computes figures from measurements, and formats them.

export function say(name, text) {
  return process.stdout.write(`${name.padEnd(34)}${text}\n`)
}
function ms(value) {
  return value === undefined ? 'none' : `${value.toFixed(1)} ms`
}

export function percentileOf(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
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
