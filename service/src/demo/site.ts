import { existsSync } from 'node:fs'
import type { DemoCredentials } from './demo-partner.ts'
import { type Receiver, startReceiver } from './receiver.ts'

/** The demo partner's site from `examples/gig-platform`, which also receives the webhooks. */
export type Site = Receiver & {
  /** The page to open first; `undefined` when only the receiver runs. */
  readonly site: string | undefined
}

type Platform = {
  startPlatform(settings: {
    service: string
    calls: string
    partnerId: string
    clientId: string
    clientSecret: string
    apiKey: string
    webhook: DemoCredentials['webhook']
  }): Promise<Site>
}

// In a checkout the example itself is run, so that a change to it shows at the next start; an installed package
// contains a bundle of it.
const candidates = ['../../../examples/gig-platform/platform.mjs', '../gig-platform/platform.mjs'].map(
  path => new URL(path, import.meta.url),
)

/**
 * Starts the demo partner's site, or only the receiver when neither the example nor its bundle exists. Browsers find the
 * service at `service`; the site's own server calls it at `calls`, because this machine may not reach a public address.
 */
export async function startSite(
  { service, calls }: { service: string; calls: string },
  demo: DemoCredentials,
): Promise<Site> {
  const example = candidates.find(candidate => existsSync(candidate))
  if (!example) return { ...(await startReceiver(demo.webhook)), site: undefined }
  const { startPlatform } = (await import(example.href)) as Platform
  return startPlatform({
    service,
    calls,
    partnerId: demo.partnerid,
    clientId: demo.clientid,
    clientSecret: demo.clientsecret,
    apiKey: demo.apikey,
    webhook: demo.webhook,
  })
}
