import { existsSync } from 'node:fs'
import type { DemoCredentials } from './demo-partner.ts'

/** The demo partner's site from `examples/gig-platform`, which also receives the webhooks. */
export type Site = {
  /** The page to open first. */
  readonly site: string
  /** The address to which the service sends events. */
  readonly url: string
  /** The address where a person or a page reads the deliveries that arrived. */
  readonly inbox: string
  readonly port: number
  close(): Promise<void>
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
const inCheckout = new URL('../../../examples/gig-platform/platform.mjs', import.meta.url)
const inPackage = new URL('../gig-platform/platform.mjs', import.meta.url)

/**
 * Starts the demo partner's site. Browsers find the service at `service`; the site's own server calls it at `calls`,
 * because this machine may not reach a public address.
 */
export async function startSite(
  { service, calls }: { service: string; calls: string },
  demo: DemoCredentials,
): Promise<Site> {
  const { href } = existsSync(inCheckout) ? inCheckout : inPackage
  const { startPlatform } = (await import(href)) as Platform
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
