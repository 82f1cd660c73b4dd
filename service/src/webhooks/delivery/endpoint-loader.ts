import type { Database } from '../../db/database.ts'
import { describeCause, type Log } from '../../log.ts'
import type { Directory } from '../../partners/directory.ts'
import { credentialsOf, type WireCredentials } from '../endpoint/credentials.ts'
import { type EndpointRow, readEndpoints } from '../endpoint/endpoint.ts'
import { openSecrets } from '../endpoint/secrets.ts'

/** An endpoint with what its tries are authenticated and signed with. */
export type LoadedEndpoint = { readonly endpoint: EndpointRow; readonly credentials: WireCredentials }

/** Reads endpoints with what is needed to send to them. */
export type Opening = {
  /** Opens the secrets of these endpoints. One that cannot be opened is left out: it must stop nobody else. */
  read(ids: readonly { partnerId: string; endpointId: string }[]): Promise<LoadedEndpoint[]>
  /** Forgets what was told of endpoints that are not ours any more; their new owner tells of them. */
  forgetOthers(ours: ReadonlySet<string>): void
}

/** Opens the reading of endpoints. That one cannot be opened is told when it begins and when it ends. */
export function openEndpointLoader(context: {
  database: Database
  directory: Pick<Directory, 'partner'>
  log: Log
}): Opening {
  const { database, directory, log } = context
  const closed = new Set<string>()

  const openOne = async (endpoint: EndpointRow): Promise<LoadedEndpoint[]> => {
    const { partner_id: partnerId, endpoint_id: endpointId } = endpoint
    const about = { partnerid: partnerId, webhookid: endpointId }
    try {
      const partner = await directory.partner(partnerId)
      if (!partner) throw new Error('an endpoint without a partner')
      const secrets = openSecrets({ partnerId, endpointId, key: partner.key }, endpoint.sealed_secrets)
      const credentials = credentialsOf(endpoint, secrets)
      if (closed.delete(endpointId)) log('webhook_opened', about)
      return [{ endpoint, credentials }]
    } catch (error) {
      if (!closed.has(endpointId)) log('webhook_not_opened', { ...about, ...describeCause(error) })
      closed.add(endpointId)
      return []
    }
  }

  return {
    async read(ids) {
      const rows = await readEndpoints(database, ids)
      return (await Promise.all(rows.map(openOne))).flat()
    },
    forgetOthers(ours) {
      for (const endpointId of closed) if (!ours.has(endpointId)) closed.delete(endpointId)
    },
  }
}
