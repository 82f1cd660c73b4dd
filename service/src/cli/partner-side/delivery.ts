import { basicAuthorization } from '../../webhooks/egress/envelope.ts'
import { UsageError } from '../command.ts'

/** Whether an address leads to this machine. */
export function isLoopback(url: URL): boolean {
  return /^https?:$/.test(url.protocol) && /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname)
}

/** The value of an Authorization header with Basic credentials. Throws UsageError for a user name that has none. */
export function basicPair(username: string, password: string): string {
  if (username.includes(':')) throw new UsageError('A user name must not have a colon; see --help.')
  return basicAuthorization(username, password)
}
