import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import type { NamedKey } from '../../vault/seal.ts'
import { seal, unseal } from '../../vault/seal.ts'
import type { ClientCertificate } from '../egress/connect.ts'
import type { Credentials } from './authorization.ts'
import type { NamedEndpoint } from './endpoint.ts'

/** One signing secret; during a rotation the older one is valid until `until`. */
export type SigningSecret = { readonly secret: string; readonly until: Instant | null }

/** The sealed part of an endpoint. */
export type EndpointSecrets = {
  readonly current: Credentials
  /** The credentials that will replace the present ones. */
  readonly next: Credentials | null
  readonly signing: readonly SigningSecret[]
  /** The headers of the partner's own. */
  readonly headers: Readonly<Record<string, string>>
  readonly client: ClientCertificate | null
}

/** How long the older secret still signs after a rotation, and the older credentials are still used after a change. */
export const ROTATION_MS = DAY_MS

type Owner = NamedEndpoint & { readonly key: NamedKey }

function binding({ partnerId, endpointId }: Owner) {
  return {
    purpose: `webhook_endpoints.secrets ${endpointId}`,
    partnerId,
  }
}

/** Seals the secrets of one endpoint with its partner's key. */
export function sealSecrets(owner: Owner, secrets: EndpointSecrets): Buffer {
  return seal(owner.key.key, JSON.stringify(secrets), binding(owner))
}

/** Opens what `sealSecrets` made; throws for the secrets of another endpoint. */
export function openSecrets(owner: Owner, sealed: Buffer): EndpointSecrets {
  return JSON.parse(unseal(owner.key.key, sealed, binding(owner)).toString('utf8')) as EndpointSecrets
}
