import type { IncomingHttpHeaders } from 'node:http'
import { parseSecret } from '../vault/secret.ts'
import { splitSecretId } from './directory.ts'

/** The credential that a refused request names, known or not; never the secret. */
export function refusedCredential(headers: IncomingHttpHeaders): {
  partnerId: string | undefined
  credentialId: string
} {
  const { authorization = '' } = headers
  const [, scheme = '', sent = ''] = /^(Bearer|Basic) +(\S+) *$/i.exec(authorization) ?? []
  const secret =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(sent, 'base64').toString('latin1').split(':').slice(1).join(':')
      : sent
  // Only a text with the right checksum names a credential; others would fill the log with noise.
  const id = splitSecretId(parseSecret(secret)?.id ?? '')
  return { partnerId: id?.partnerId, credentialId: id?.ownId ?? '' }
}
