import type { Database } from '../../db/database.ts'
import { describeCause, type Log } from '../../log.ts'
import type { Directory } from '../../partners/directory.ts'
import { credentialsOf, type WireCredentials } from '../endpoint/credentials.ts'
import { type EndpointRow, type NamedEndpoint, readEndpoints } from '../endpoint/endpoint.ts'
import { openSecrets } from '../endpoint/secrets.ts'

/** An endpoint with the credentials and keys that its attempts need. */
export type LoadedEndpoint = { readonly endpoint: EndpointRow; readonly credentials: WireCredentials }

/** Reads endpoints with everything needed to send to them. One whose secrets cannot be opened is left out. */
type EndpointLoader = (ids: readonly NamedEndpoint[]) => Promise<LoadedEndpoint[]>

/** Opens the loader. It logs once when the secrets of an endpoint cannot be opened, and once when they can be again. */
export function openEndpointLoader(context: {
  database: Database
  directory: Pick<Directory, 'partner'>
  log: Log
}): EndpointLoader {
  const { database, directory, log } = context
  const closed = new Set<string>()

  const open = async (endpoint: EndpointRow): Promise<LoadedEndpoint[]> => {
    const { partner_id: partnerId, endpoint_id: endpointId } = endpoint
    const about = { partnerid: partnerId, webhookid: endpointId }
    try {
      const partner = await directory.partner(partnerId)
      if (!partner) throw new Error('an endpoint without a partner')
      const secrets = openSecrets({ partnerId, endpointId, key: partner.key }, endpoint.sealed_secrets)
      const credentials = credentialsOf(secrets)
      if (closed.delete(endpointId)) log('webhook_opened', about)
      return [{ endpoint, credentials }]
    } catch (error) {
      if (!closed.has(endpointId)) log('webhook_not_opened', { ...about, ...describeCause(error) })
      closed.add(endpointId)
      return []
    }
  }

  return async ids => (await Promise.all((await readEndpoints(database, ids)).map(open))).flat()
}
