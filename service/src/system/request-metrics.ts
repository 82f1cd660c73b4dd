import { type RequestCounts, timeBounds } from '../http/request-counts.ts'

/** The request counts as Prometheus text: answers by operation and status, and durations by operation. */
export function requestMetrics(counts: RequestCounts): string {
  const total = 'http_requests_total'
  const seconds = 'http_request_seconds'
  const totals = [
    `# HELP ${total} Requests that were answered, by operation and status; requests refused for load are counted apart`,
    `# TYPE ${total} counter`,
  ]
  const times = [
    `# HELP ${seconds} From the headers of a request to its answer, by operation`,
    `# TYPE ${seconds} histogram`,
  ]
  for (const each of counts.all()) {
    const label = `operation="${each.operation}"`
    for (const [status, count] of each.statuses) totals.push(`${total}{${label},status="${status}"} ${count}`)
    let count = 0
    for (const [index, one] of each.buckets.entries()) {
      count += one
      times.push(`${seconds}_bucket{${label},le="${timeBounds[index] ?? '+Inf'}"} ${count}`)
    }
    times.push(`${seconds}_sum{${label}} ${each.seconds()}`, `${seconds}_count{${label}} ${count}`)
  }
  return `${[...totals, '', ...times].join('\n')}\n`
}
