// What the generators of load have in common: the person whom they send, and how they read answers.

/** A person with all details that a partner may send. */
export const person = {
  firstname: 'Ada',
  lastname: 'Rivera',
  email: 'ada.rivera@example.com',
  zipcode: '33101',
  dob: '1990-03-27',
  phone: '3055550142',
  gender: 'F',
  address: {
    addline1: '12 Ocean Drive',
    addline2: '',
    addline3: '',
    city: 'Miami',
    state: 'FL',
    zipcode: '33101',
  },
}

/** The status and the end of the complete answer at the beginning of the received bytes, or undefined. */
export function readAnswer(received) {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const text = received.latin1Slice(0, end)
  const isChunked = /\r\ntransfer-encoding: chunked/i.test(text)
  const total = isChunked
    ? received.indexOf('\r\n0\r\n\r\n', end) + 7
    : end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
  if (received.length < total || total <= end) return undefined
  const hasRetryAfter = /\r\nretry-after: \d+/i.test(text)
  return { status: text.slice(9, 12), total, isLast: /\r\nconnection: close/i.test(text), hasRetryAfter }
}

/** The value below which this share of the values lies; `undefined` of none. */
export function percentileOf(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** The milliseconds within which half of the requests were answered, and 99 of a hundred, with so many decimals. */
export function millisecondsOf(times, decimals) {
  const at = share => Number((percentileOf(times, share) ?? 0).toFixed(decimals))
  return { median: at(0.5), p99: at(0.99) }
}
