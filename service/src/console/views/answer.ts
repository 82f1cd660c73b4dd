import type { ErrorClass } from '../../webhooks/egress/outcome.ts'

/** What an attempt to deliver came to, such as `HTTP 422` or `no connection`. */
export function answerInWords(status: number | null, error: string | null): string {
  if (status !== null) return `HTTP ${status}`
  return WORDS[error as ErrorClass] ?? 'no answer'
}

const WORDS: Readonly<Record<ErrorClass, string>> = {
  dns: 'name not found',
  blocked_address: 'address not allowed',
  connect: 'no connection',
  tls: 'no secure connection',
  timeout: 'no answer in time',
  reset: 'connection broken off',
  protocol: 'answer is not HTTP',
  headers_too_large: 'headers too long',
  token: 'no access token to be had',
  token_refused: 'no access token: our credentials were refused',
  exhausted: 'not sent: no connections left here',
  resolver: 'not sent: no name server answers',
  proxy: 'not sent: the proxy refused us or did not answer',
  stalled: 'not sent: this service stood still',
  stopped: 'not sent: this service was stopping',
  unexpected: 'not sent: a fault of this service',
}
