import { encodeUuid } from '../vault/secret.ts'
import { OAuthRefusal } from './refusal.ts'

/** The client id of a partner. */
export function clientIdOf(partnerId: string): string {
  return `enr_client_${encodeUuid(partnerId)}`
}

/**
 * The client id and secret of a request, by HTTP Basic or in the form (RFC 6749 §2.3.1). Refuses both at once with
 * `invalid_request`; refuses missing credentials and a malformed header with `invalid_client`.
 */
export function readClient(
  form: ReadonlyMap<string, string>,
  authorization: string | undefined,
): { id: string; secret: string } {
  const basic = authorization === undefined ? undefined : readBasic(authorization)
  const id = form.get('client_id')
  const secret = form.get('client_secret')
  if (basic && secret !== undefined) {
    throw new OAuthRefusal(
      'invalid_request',
      'Send the client credentials by HTTP Basic or in the body, not both.',
    )
  }
  if (basic && id !== undefined && id !== basic.id) {
    throw new OAuthRefusal('invalid_request', 'client_id differs from the one of HTTP Basic.')
  }
  if (basic) return basic
  if (id === undefined || secret === undefined) {
    throw new OAuthRefusal(
      'invalid_client',
      'Send client_id and client_secret, by HTTP Basic or in the body.',
    )
  }
  return { id, secret }
}

function readBasic(authorization: string): { id: string; secret: string } {
  const wrong = new OAuthRefusal(
    'invalid_client',
    'The Authorization header must be Basic with client id and secret.',
  )
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) throw wrong
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) throw wrong
  const text = bytes.toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) throw wrong
  const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)].map(formDecode)
  if (id === undefined || secret === undefined) throw wrong
  return { id, secret }
}

/** RFC 6749 §2.3.1: both are form-encoded before they are joined. */
function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
