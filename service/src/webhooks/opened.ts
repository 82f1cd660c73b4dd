import type { Database } from '../db/database.ts'
import { describeCause, type Log } from '../log.ts'
import type { Directory } from '../partners/directory.ts'
import { credentialsOf, type WireCredentials } from './credentials.ts'
import { type EndpointRow, readEndpoints } from './endpoint.ts'
import { openSecrets } from './secrets.ts'

/** An endpoint with what its tries are authenticated and signed with. */
export type OpenedEndpoint = { readonly endpoint: EndpointRow; readonly credentials: WireCredentials }

/** Reads endpoints and opens their secrets. One that cannot be opened is left out and told of: it must stop nobody else. */
export const readOpened = async (
  ids: readonly { partnerId: string; endpointId: string }[],
  context: { database: Database; directory: Pick<Directory, 'partner'>; log: Log },
): Promise<OpenedEndpoint[]> => {
  const rows = await readEndpoints(context.database, ids)
  const opened = await Promise.all(rows.map(endpoint => openOne(endpoint, context)))
  return opened.flat()
}

const openOne = async (
  endpoint: EndpointRow,
  context: { directory: Pick<Directory, 'partner'>; log: Log },
): Promise<OpenedEndpoint[]> => {
  const { partner_id: partnerId, endpoint_id: endpointId } = endpoint
  try {
    const partner = await context.directory.partner(partnerId)
    if (!partner) throw new Error('an endpoint without a partner')
    const secrets = openSecrets({ partnerId, endpointId, key: partner.key }, endpoint.sealed_secrets)
    return [{ endpoint, credentials: credentialsOf(endpoint, secrets) }]
  } catch (error) {
    context.log('webhook_not_opened', {
      partnerid: partnerId,
      webhookid: endpointId,
      ...describeCause(error),
    })
    return []
  }
}
