import type { Instant } from '../calendar/calendar.ts'
import type { NamedKey } from '../vault/seal.ts'
import { seal, unseal } from '../vault/seal.ts'

/** One signing secret; during a rotation the older one ends at `until`. */
export type SigningSecret = { readonly secret: string; readonly until: Instant | null }

/** A pair of Basic credentials. */
export type Credentials = { readonly username: string; readonly password: string }

/** What of an endpoint is stored sealed. */
export type EndpointSecrets = {
  readonly password: string
  /** Of the credentials that are to replace the present ones. */
  readonly nextPassword: string | null
  readonly signing: readonly SigningSecret[]
}

/** How long the older secret still signs after a rotation, and the older credentials still help after a change. */
export const ROTATION_MS = 24 * 3_600_000

type Owner = { readonly partnerId: string; readonly endpointId: string; readonly key: NamedKey }

const binding = ({ partnerId, endpointId }: Owner) => ({
  purpose: `webhook_endpoints.secrets ${endpointId}`,
  partnerId,
})

/** Seals the secrets of one endpoint with its partner's key. */
export const sealSecrets = (owner: Owner, secrets: EndpointSecrets): Buffer =>
  seal(owner.key.key, JSON.stringify(secrets), binding(owner))

/** Opens what `sealSecrets` made; throws for the secrets of another endpoint. */
export const openSecrets = (owner: Owner, sealed: Buffer): EndpointSecrets =>
  JSON.parse(unseal(owner.key.key, sealed, binding(owner)).toString('utf8')) as EndpointSecrets
