import { randomBytes } from 'node:crypto'
import { UsageError } from '@benefit-enrolment/command'

/** Whether an address leads to this machine. */
export function isLoopback(url: URL): boolean {
  return (
    /^https?:$/.test(url.protocol) &&
    /^(127\.\d+\.\d+\.\d+|0\.0\.0\.0|localhost|\[::1?\])$/.test(url.hostname)
  )
}

/** A user name of Basic credentials. Throws UsageError for one that they cannot hold. */
export function checkedUsername(username: string): string {
  if (username.includes(':')) throw new UsageError('A user name must not have a colon; see --help.')
  return username
}

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Whether a text is `whsec_` and base64 as `newSigningSecret` writes it. */
export function isSigningSecret(text: unknown): text is string {
  const [, encoded = ''] = /^whsec_(.+)$/.exec(String(text)) ?? []
  return encoded !== '' && Buffer.from(encoded, 'base64').toString('base64') === encoded
}
