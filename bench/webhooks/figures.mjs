// How figures are drawn from what was measured, and printed.

export const say = (name, text) => process.stdout.write(`${name.padEnd(34)}${text}\n`)
const ms = value => (value === undefined ? 'none' : `${value.toFixed(1)} ms`)

export const percentileOf = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** The figures of latencies in milliseconds, of so many events that were committed. */
export const summed = (committed, latencies) => ({
  ...{ committed, latencies, arrived: latencies.length },
  ...{ p50: percentileOf(latencies, 0.5), p99: percentileOf(latencies, 0.99) },
})

export const latencyText = ({ p50, p99, arrived, committed }) => {
  const late = arrived < committed ? `   ARRIVED ONLY ${arrived} of ${committed}` : ''
  return `p50 ${ms(p50)}   p99 ${ms(p99)}${late}`
}
